import { QueryObserver } from '@tanstack/react-query';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { type Bulk, bulkQuery, bulksQuery, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';
import { sayCount, wordFor } from '#ast/say-count.ts';

/** What is said of each kind: while it runs, so far, and at its end; and why some stay, where that is no matter of course. */
export const bulkWords = {
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
  queryClient.setQueryData(bulksQuery(form).queryKey, (known = []) => [bulk, ...known]);
  followBulk(form, bulk);
}

/**
 * Waits for the end of a change of many, whichever screen is looked at meanwhile, and says how it ended, once, with the way
 * back for whoever may write.
 */
export function followBulk(form: LocatedForm, { id, kind }: Pick<Bulk, 'id' | 'kind'>): void {
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
      void refreshSubmissions(form);
    } else if (data?.finished_at) {
      leave();
      toastDone(sayEnd(data), canUndo ? { label: 'Undo', run: undo } : undefined);
      void refreshSubmissions(form);
    }
  });
}
