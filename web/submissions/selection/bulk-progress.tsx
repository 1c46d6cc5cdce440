import { QueryObserver, useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { undoableKinds } from '#rules/columns.ts';
import { refetchChangedQueries } from '../../api/changes.ts';
import { ApiProblem } from '../../api/client.ts';
import { callOperation } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { TaskProgress } from '../../design/task-progress.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { type LocatedForm, mayEdit } from '../../shell/session.ts';
import {
  type BulkChangeReply,
  bulkChangeQuery,
  bulkChangesQuery,
  formatSubmissionCount,
} from '../queries.ts';

/** The texts for each kind: while it runs, when it ends, and why some submissions were not changed. */
const bulkWords = {
  trash: { running: 'Deleting submissions', ended: 'moved to the trash' },
  empty: { running: 'Deleting submissions', ended: 'permanently deleted' },
  remove: { running: 'Deleting submissions', ended: 'permanently deleted' },
  tag: {
    running: 'Tagging submissions',
    ended: 'tagged',
    rest: 'a submission can have at most 20 tags',
  },
  status: {
    running: 'Changing the status',
    ended: 'updated',
    rest: 'a required answer is missing, or a quota is full',
  },
  stage: { running: 'Moving submissions', ended: 'moved' },
  assign: { running: 'Assigning submissions', ended: 'updated', rest: 'the person is no longer a member' },
  undo: {
    running: 'Undoing',
    ended: 'restored',
    rest: 'they have changed since',
  },
} as const satisfies Readonly<Record<BulkChangeReply['kind'], Words>>;

type Words = Readonly<Record<'running' | 'ended', string> & { rest?: string }>;

function describeBulkEnd({ kind, done, total }: BulkChangeReply): string {
  const { ended, rest }: Words = bulkWords[kind];
  const summary = `${formatSubmissionCount(done)} ${pluralize(done, 'was', 'were')} ${ended}.`;
  const left = total - done;
  if (left === 0 || rest === undefined) return summary;
  return `${summary} ${formatCount(left, 'was not changed', 'were not changed')}: ${rest}.`;
}

const followed = new Set<string>();

/** Adds a new bulk change to the running ones and follows its progress. */
export function addBulkChange(form: LocatedForm, bulk: BulkChangeReply): void {
  queryClient.setQueryData(bulkChangesQuery(form).queryKey, (known) => ({
    ...known,
    data: [bulk, ...(known?.data ?? [])],
  }));
  followBulk(form, bulk);
}

/**
 * Waits for a bulk change to end, whichever screen is open. Reports the result once, with Undo for members
 * who may edit.
 */
function followBulk(form: LocatedForm, { id, kind }: Pick<BulkChangeReply, 'id' | 'kind'>): void {
  if (followed.has(id)) return;
  followed.add(id);
  const canUndo = undoableKinds.some((undoable) => undoable === kind) && mayEdit(form.role);
  const undo = async (): Promise<void> => {
    const params = { id: form.id, change: id };
    addBulkChange(form, await callOperation(form.workspace_id, 'undoBulkChange', { params }));
  };
  const leave = new QueryObserver(queryClient, bulkChangeQuery(form, id)).subscribe(({ data, error }) => {
    // Stops if the person is signed out or has lost access to the form.
    if (error instanceof ApiProblem && [401, 403, 404].includes(error.status)) leave();
    else if (data?.failed_reason) {
      leave();
      toastProblem(new Error(data.failed_reason));
      void refetchChangedQueries('changeSubmission');
    } else if (data?.finished_at) {
      leave();
      toastDone(describeBulkEnd(data), canUndo ? { label: 'Undo', run: undo } : undefined);
      void refetchChangedQueries('changeSubmission');
    }
  });
}

/** Shows the running bulk changes of a form, including those found after a reload. */
export function BulksProgress({ form }: { form: LocatedForm }): ReactElement {
  const { data = [] } = useQuery(bulkChangesQuery(form));
  return (
    <>
      {data.map((bulk) => (
        <BulkProgress key={bulk.id} form={form} bulk={bulk} />
      ))}
    </>
  );
}

/** Shows the progress until the change is done. */
function BulkProgress({
  form,
  bulk: { id, kind },
}: {
  form: LocatedForm;
  bulk: Pick<BulkChangeReply, 'id' | 'kind'>;
}): ReactElement | null {
  const { data } = useQuery(bulkChangeQuery(form, id));
  useEffect(() => followBulk(form, { id, kind }), [form, id, kind]);
  if (!data || data.finished_at) return null;
  return <TaskProgress label={bulkWords[kind].running} task={data} />;
}
