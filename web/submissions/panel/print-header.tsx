import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { imageAddress } from '#page/theme/image-address.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { receivedAt } from '../../api/received-at.ts';
import { formatDateTime } from '../../design/time.tsx';
import { type FormLocation, logoQuery } from '../queries.ts';

/** The head of a printed submission: the logo and name of the form, who answered, and when. */
export function PrintHeader({
  form,
  submission,
  title,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
  title: string;
}): ReactElement {
  const { data: logo } = useQuery(logoQuery(form));
  const at = formatDateTime(receivedAt(submission));
  return (
    <header className="print-only print-header">
      {logo && <img src={imageAddress(form.id, logo)} alt="" />}
      <p className="print-form">{submission.form_name}</p>
      {title !== at && <p className="print-title">{title}</p>}
      <p>{submission.completed_at ? `Received ${at}` : `Incomplete, last saved ${at}`}</p>
    </header>
  );
}
