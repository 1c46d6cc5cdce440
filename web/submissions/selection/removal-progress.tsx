import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { toastDone } from '../../design/toast.tsx';
import { type FormPlace, refreshSubmissions, removalQuery } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';

/** A bulk removal under way: how far it is, until it is done. */
export function RemovalProgress({
  form,
  id,
  onDone,
}: {
  form: FormPlace;
  id: string;
  onDone: (id: string) => void;
}): ReactElement | null {
  const { data } = useQuery(removalQuery(form, id));
  const isDone = data?.finished_at != null;
  const removed = data?.removed ?? 0;
  const toTrash = data?.to_trash ?? true;
  useEffect(() => {
    if (!isDone) return;
    const what = `${saySubmissions(removed)} ${removed === 1 ? 'was' : 'were'}`;
    toastDone(toTrash ? `${what} moved to the trash.` : `${what} deleted for good.`);
    void refreshSubmissions(form);
    onDone(id);
  }, [isDone, removed, toTrash, form, id, onDone]);
  if (!data || isDone) return null;
  const words = `${removed.toLocaleString()} of ${data.total.toLocaleString()} deleted`;
  return (
    <ProgressBar
      className="removal"
      value={removed}
      maxValue={data.total}
      valueLabel={words}
      aria-label="Deleting submissions"
    >
      {({ percentage }) => (
        <>
          <span className="removal-track">
            <span className="removal-fill" style={{ inlineSize: `${percentage ?? 0}%` }} />
          </span>
          <span className="small">{words} …</span>
        </>
      )}
    </ProgressBar>
  );
}
