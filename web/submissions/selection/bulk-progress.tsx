import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { call } from '../../api/operations.ts';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { type Bulk, bulkQuery, type FormPlace, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';

/** What is said of each kind: while it runs, so far, and at its end; and why some stay, where that is no matter of course. */
const words = {
  trash: { running: 'Deleting submissions', soFar: 'deleted', ended: 'moved to the trash' },
  empty: { running: 'Deleting submissions', soFar: 'deleted', ended: 'deleted for good' },
  remove: { running: 'Deleting submissions', soFar: 'deleted', ended: 'deleted for good' },
  tag: {
    running: 'Tagging submissions',
    soFar: 'tagged',
    ended: 'tagged',
    rest: 'each has 20 tags at most',
  },
  status: {
    running: 'Changing the status',
    soFar: 'changed',
    ended: 'given the status',
    rest: 'an answer is missing, or its place is taken',
  },
  undo: {
    running: 'Undoing',
    soFar: 'put back',
    ended: 'put back as before',
    rest: 'somebody did otherwise since',
  },
} as const satisfies Readonly<Record<Bulk['kind'], Words>>;

type Words = Readonly<Record<'running' | 'soFar' | 'ended', string> & { rest?: string }>;

function sayEnd({ kind, done, total }: Bulk): string {
  const { ended, rest }: Words = words[kind];
  const said = `${saySubmissions(done)} ${done === 1 ? 'was' : 'were'} ${ended}.`;
  const left = total - done;
  if (left === 0 || rest === undefined) return said;
  return `${said} ${left.toLocaleString()} ${left === 1 ? 'stays as it is' : 'stay as they are'}: ${rest}.`;
}

/** What can be undone, as the service says (src/submissions/bulk). */
const undoable: readonly Bulk['kind'][] = ['trash', 'tag', 'status'];

/** A change of many submissions under way: how far it is, until it is done. */
export function BulkProgress({
  form,
  bulk: { id, kind },
  onDone,
  onStart,
}: {
  form: FormPlace;
  bulk: Pick<Bulk, 'id' | 'kind'>;
  onDone: (id: string) => void;
  /** Called with what undoes it. */
  onStart: (bulk: Bulk) => void;
}): ReactElement | null {
  const { data } = useQuery(bulkQuery(form, id));
  const isDone = data?.finished_at != null;
  const said = data && isDone ? sayEnd(data) : undefined;
  useEffect(() => {
    if (said === undefined) return;
    const undo = async (): Promise<void> => {
      try {
        onStart(await call(form.workspace_id, 'undoBulkChange', { params: { id: form.id, change: id } }));
      } catch (error) {
        toastProblem(error);
      }
    };
    toastDone(said, undoable.includes(kind) ? { label: 'Undo', run: () => void undo() } : undefined);
    void refreshSubmissions(form);
    onDone(id);
  }, [said, form, id, kind, onDone, onStart]);
  if (!data || isDone) return null;
  const { running, soFar } = words[kind];
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
