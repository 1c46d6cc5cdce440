import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { call } from '../../api/operations.ts';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { type Bulk, bulkQuery, type FormPlace, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';

/** What is said of each kind: while it runs, so far, and at its end. */
const words = {
  trash: ['Deleting submissions', 'deleted', 'moved to the trash'],
  empty: ['Deleting submissions', 'deleted', 'deleted for good'],
  remove: ['Deleting submissions', 'deleted', 'deleted for good'],
  tag: ['Tagging submissions', 'tagged', 'tagged'],
} as const satisfies Readonly<Record<Bulk['kind'], readonly [running: string, soFar: string, ended: string]>>;

async function bringBack(form: FormPlace, ids: readonly string[]): Promise<void> {
  try {
    await call(form.workspace_id, 'restoreSubmissions', { params: { id: form.id }, body: { ids: [...ids] } });
    await refreshSubmissions(form);
  } catch (error) {
    toastProblem(error);
  }
}

/** A change of many submissions under way: how far it is, until it is done. */
export function BulkProgress({
  form,
  bulk,
  trashed,
  onDone,
}: {
  form: FormPlace;
  bulk: Pick<Bulk, 'id' | 'kind'>;
  /** What it lays into the trash, where that is known: then it can be undone. */
  trashed?: readonly string[] | undefined;
  onDone: (id: string) => void;
}): ReactElement | null {
  const { id, kind } = bulk;
  const { data } = useQuery(bulkQuery(form, { id, kind }));
  const [running, soFar, ended] = words[kind];
  const isDone = data?.finished_at != null;
  const done = data?.done ?? 0;
  useEffect(() => {
    if (!isDone) return;
    toastDone(
      `${saySubmissions(done)} ${done === 1 ? 'was' : 'were'} ${ended}.`,
      // What somebody else had deleted before stays where it is: then nothing can be brought back at once.
      trashed?.length === done ? { label: 'Undo', run: () => void bringBack(form, trashed) } : undefined,
    );
    void refreshSubmissions(form);
    onDone(id);
  }, [isDone, done, ended, form, id, trashed, onDone]);
  if (!data || isDone) return null;
  const label = `${done.toLocaleString()} of ${data.total.toLocaleString()} ${soFar}`;
  return (
    <ProgressBar
      className="removal"
      value={done}
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
