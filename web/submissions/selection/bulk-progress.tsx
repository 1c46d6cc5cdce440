import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { Message } from '../../design/message.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { type Bulk, bulkQuery, bulksQuery } from '../queries.ts';
import { bulkWords, followBulk } from './follow-bulk.ts';

/** The changes of many submissions of a form that are under way: those that were begun here, and those that a reload finds. */
export function BulksProgress({ form }: { form: LocatedForm }): ReactElement {
  const { data = [] } = useQuery(bulksQuery(form));
  return (
    <>
      {data.map((bulk) => (
        <BulkProgress key={bulk.id} form={form} bulk={bulk} />
      ))}
    </>
  );
}

/** How far it is, until it is done. */
function BulkProgress({
  form,
  bulk: { id, kind },
}: {
  form: LocatedForm;
  bulk: Pick<Bulk, 'id' | 'kind'>;
}): ReactElement | null {
  const { data } = useQuery(bulkQuery(form, id));
  useEffect(() => followBulk(form, { id, kind }), [form, id, kind]);
  if (!data || data.finished_at) return null;
  if (data.failed_reason !== null)
    return (
      <Message tone="bad" title={`${bulkWords[kind].running} stopped`}>
        {data.failed_reason} {data.done.toLocaleString()} of {data.total.toLocaleString()} are done.
      </Message>
    );
  const { running, soFar } = bulkWords[kind];
  const label = `${data.done.toLocaleString()} of ${data.total.toLocaleString()} ${soFar}`;
  return (
    <ProgressBar
      className="removal"
      value={data.done}
      maxValue={data.total}
      valueLabel={label}
      aria-label={running}
    >
      {({ percentage }) => (
        <>
          <span className="removal-track">
            <span className="removal-fill" style={{ inlineSize: `${percentage ?? 0}%` }} />
          </span>
          <span className="small">{label} …</span>
        </>
      )}
    </ProgressBar>
  );
}
