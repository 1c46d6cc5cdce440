import { QueryObserver, useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { sayCount, wordFor } from '#ast/basics/say-count.ts';
import { refreshChanged } from '../../api/changes.ts';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { TaskProgress } from '../../design/task-progress.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { type Bulk, bulkQuery, bulksQuery, saySubmissions } from '../queries.ts';

/** The words for each kind: while it runs, at its end, and why some submissions stay as they are. */
const bulkWords = {
  trash: { running: 'Deleting submissions', ended: 'moved to the trash' },
  empty: { running: 'Deleting submissions', ended: 'deleted for good' },
  remove: { running: 'Deleting submissions', ended: 'deleted for good' },
  tag: {
    running: 'Tagging submissions',

    ended: 'tagged',
    rest: 'each has 20 tags at most',
  },
  status: {
    running: 'Changing the status',

    ended: 'given the status',
    rest: 'an answer is missing, or its place is taken',
  },
  undo: {
    running: 'Undoing',

    ended: 'put back as before',
    rest: 'somebody did otherwise since',
  },
} as const satisfies Readonly<Record<Bulk['kind'], Words>>;

type Words = Readonly<Record<'running' | 'ended', string> & { rest?: string }>;

function sayEnd({ kind, done, total }: Bulk): string {
  const { ended, rest }: Words = bulkWords[kind];
  const said = `${saySubmissions(done)} ${wordFor(done, 'was', 'were')} ${ended}.`;
  const left = total - done;
  if (left === 0 || rest === undefined) return said;
  return `${said} ${sayCount(left, 'stays as it is', 'stay as they are')}: ${rest}.`;
}

/** What can be undone, as the service says (src/submissions/bulk). */
const undoable: readonly Bulk['kind'][] = ['trash', 'tag', 'status'];

const followed = new Set<string>();

/** A change of many that was just begun: it is among those that are under way, and followed. */
export function beginBulk(form: LocatedForm, bulk: Bulk): void {
  queryClient.setQueryData(bulksQuery(form).queryKey, (known) => ({
    ...known,
    data: [bulk, ...(known?.data ?? [])],
  }));
  followBulk(form, bulk);
}

/**
 * Waits for the end of a change of many, whichever screen is looked at meanwhile, and says how it ended, once, with the way
 * back for whoever may write.
 */
function followBulk(form: LocatedForm, { id, kind }: Pick<Bulk, 'id' | 'kind'>): void {
  if (followed.has(id)) return;
  followed.add(id);
  const canUndo = undoable.includes(kind) && mayEdit(form.role);
  const undo = async (): Promise<void> => {
    const params = { id: form.id, change: id };
    beginBulk(form, await call(form.workspace_id, 'undoBulkChange', { params }));
  };
  const leave = new QueryObserver(queryClient, bulkQuery(form, id)).subscribe(({ data, error }) => {
    // Whoever is signed out, or out of reach of the form, hears no more of it.
    if (error instanceof ApiProblem && [401, 403, 404].includes(error.status)) leave();
    else if (data?.failed_reason) {
      leave();
      toastProblem(new Error(data.failed_reason));
      void refreshChanged('changeSubmission');
    } else if (data?.finished_at) {
      leave();
      toastDone(sayEnd(data), canUndo ? { label: 'Undo', run: undo } : undefined);
      void refreshChanged('changeSubmission');
    }
  });
}

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
  return <TaskProgress label={bulkWords[kind].running} task={data} />;
}
