import { type Static, Type } from 'typebox';
import { requireReachableForm } from '#forms/form-rows.ts';
import { newId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { type Actor, idParameter, operation } from '#kit/operation.ts';
import type { Job } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import { failedReasonSchema, orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { undoableKinds } from '#rules/columns.ts';
import { readTask, readTasks, type TaskRow, unfinishedTaskStates } from '#tasks/read-tasks.ts';
import { createTask, type NewTask, runTaskStep } from '#tasks/run-tasks.ts';
import type { FormKey } from '../change-event.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import type { SubmitServices } from '../submit-request.ts';
import { type Assignment, notifyAssignee } from './assign.ts';
import { authorOf, type BulkInput, type BulkKind, bulkKinds, bulkWorkByKind } from './bulk-work.ts';
import type { ChangeServices } from './edit.ts';

const timestamp = timestampSchema;

/** A bulk change and its progress. */
export const BulkChange = Type.Object({
  id: uuidSchema,
  kind: Type.Enum([...bulkKinds], {
    description:
      '`trash`: moved to the trash; `empty`: deleted from the trash; `remove`: deleted permanently from anywhere; `tag`: tagged; `status`: given a status; `stage`: moved to a stage; `assign`: assigned; `undo`: another change undone.',
  }),
  total: Type.Integer(),
  done: Type.Integer({
    description: 'Can stay below `total`: submissions that are deleted or cannot be changed are skipped.',
  }),
  created_at: timestamp,
  finished_at: orNull(timestamp),
  failed_reason: failedReasonSchema,
});
export type BulkChange = Static<typeof BulkChange>;

const prefix = 'submissions.';

/** Selects the tasks of a form that are bulk changes of these kinds. */
export const bulkTaskFilter = ({ workspaceId, formId }: FormKey, kinds: readonly BulkKind[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  kinds: kinds.map((kind) => `${prefix}${kind}` as const),
});

/** Converts a task to the bulk change that it performs. */
export const presentBulkChange = ({
  id,
  kind,
  total,
  done,
  created_at,
  finished_at,
  failed_reason,
}: TaskRow) => ({
  id,
  kind: kind.slice(prefix.length) as BulkKind,
  total,
  done,
  created_at,
  finished_at,
  failed_reason,
});

const uuid = uuidSchema;

const kindsOf = {
  deletions: ['trash', 'empty', 'remove'],
  taggings: ['tag'],
  changes: bulkKinds,
} as const satisfies Readonly<Record<string, readonly BulkKind[]>>;

/**
 * Operations that report the progress of deletions, tag changes and other bulk changes: they list the
 * unfinished ones, and return each by id.
 */
export function bulkProgressEndpoints(database: Database) {
  const list = (word: keyof typeof kindsOf) =>
    operation({
      summary: word === 'changes' ? 'List bulk changes' : `List ${word}`,
      description: `Returns the unfinished ${word} of a form's submissions, newest first.`,
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The unfinished changes.',
        schema: Type.Object({ data: Type.Array(BulkChange) }),
      },
      async run({ params, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        const tasks = await readTasks(database, {
          ...bulkTaskFilter(form, kindsOf[word]),
          states: unfinishedTaskStates,
        });
        return { body: { data: tasks.map((task) => asWireValue(presentBulkChange(task))) } };
      },
    });

  const find = async (
    { workspaceId }: { workspaceId: string },
    formId: string,
    { id, of }: { id: string; of: keyof typeof kindsOf },
  ) => {
    const tasks = bulkTaskFilter({ workspaceId, formId }, kindsOf[of]);
    return { body: asWireValue(presentBulkChange(await readTask(database, { ...tasks, id }))) };
  };
  const reply = { status: 200, description: 'The change and its progress.', schema: BulkChange } as const;

  return {
    listDeletions: list('deletions'),
    listTaggings: list('taggings'),
    listBulkChanges: list('changes'),

    getDeletion: operation({
      summary: 'Get deletion',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, deletion: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.deletion, of: 'deletions' }),
    }),

    getTagging: operation({
      summary: 'Get tagging',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, tagging: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.tagging, of: 'taggings' }),
    }),

    getBulkChange: operation({
      summary: 'Get bulk change',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, change: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.change, of: 'changes' }),
    }),
  };
}

/** Selects the submissions of a bulk change, sorted by id. */
const listChanged = statement('workspace_id bulk_id', 'submission_id')`
  select distinct submission_id from submission_changes
   where workspace_id = $workspace_id and bulk_id = $bulk_id order by submission_id`;

/** The job that runs a bulk change. */
export const bulkJobKind = 'submissions.bulk';

/** The maximum number of submissions per bulk change: their ids are in memory once (about 20 MB). */
export const bulkLimit = 200_000;

/**
 * The number of submissions per transaction. It keeps locks short, even for kinds that need several
 * statements per submission.
 */
const batchSizes = {
  trash: 500,
  empty: 500,
  remove: 500,
  tag: 500,
  status: 50,
  stage: 500,
  assign: 500,
  undo: 100,
} as const satisfies Readonly<Record<BulkKind, number>>;

/** A requested bulk change: its kind, its submissions, and the person or key that requested it. */
export type BulkRequest = {
  kind: Exclude<BulkKind, 'undo'>;
  ids: readonly string[];
  by: Actor;
  /** For the kind `tag`. */
  tags?: { added: string[]; removed: string[] };
  /** For the kind `status`. */
  status?: SubmissionStatus;
  /** For the kinds `stage` and `assign`. */
  assignment?: Assignment;
};

/**
 * Starts a change of exactly these submissions. A job runs it in batches.
 * @returns the bulk change, whose `done` grows to at most `total`, because deleted submissions are skipped.
 * @throws ApiError not_found for a deleted form.
 */
export async function startBulk(
  context: ChangeServices,
  form: FormKey,
  { kind, ids, by, tags, status, assignment }: BulkRequest,
) {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].toSorted();
  const input = { ...tags, ...(status && { status }), ...assignment } satisfies BulkInput;
  const bulk = await begin(context, form, { kind, ids: sorted, by, input });
  if (!bulk) throw new ApiError('not_found');
  return bulk;
}

/**
 * Undoes a bulk change, except for submissions that changed later. It restores submissions from the trash,
 * reverses tags, and restores the previous status, stage or assignee. A job runs it in batches.
 * @throws ApiError not_found; conflict for a change that cannot be undone, is not finished, or was already
 * undone.
 */
export async function undoBulk(
  context: ChangeServices,
  form: FormKey,
  { undoes, by }: { undoes: string; by: Actor },
) {
  const undone = presentBulkChange(
    await readTask(context.database, { ...bulkTaskFilter(form, bulkKinds), id: undoes }),
  );
  const kind = undoableKinds.find((undoable) => undoable === undone.kind);
  if (!kind) throw new ApiError('conflict', 'This change cannot be undone.');
  if (undone.finished_at === null)
    throw new ApiError(
      'conflict',
      undone.failed_reason ?? 'This change is still running. Wait for it to finish.',
    );
  const changed = await listChanged(context.database, { workspace_id: form.workspaceId, bulk_id: undone.id });
  const ids = changed.map(({ submission_id }) => submission_id);
  const input = { undone: kind } satisfies BulkInput;
  const bulk = await begin(context, form, { kind: 'undo', ids, by, input, subjectId: undone.id });
  if (!bulk) throw new ApiError('conflict', 'This change was already undone.');
  return bulk;
}

/**
 * Stores a bulk change with its job. Returns undefined if the form is deleted or the change was already
 * undone.
 */
async function begin(
  context: ChangeServices,
  { workspaceId, formId }: FormKey,
  { kind, ids, ...task }: { kind: BulkKind; ids: string[] } & Pick<NewTask, 'by' | 'input' | 'subjectId'>,
) {
  const id = newId();
  const size = batchSizes[kind];
  const items: Batch[] = [];
  for (let at = 0; at < ids.length; at += size) items.push({ ids: ids.slice(at, at + size) });
  const isStored = await transaction(context.database, (client) =>
    createTask(
      client,
      { workspaceId, id, kind: `submissions.${kind}`, formId, items, total: ids.length, ...task },
      // Each workspace runs one bulk change at a time, without delaying other workspaces.
      { kind: bulkJobKind, lane: `${bulkJobKind} ${workspaceId}` },
    ),
  );
  if (!isStored) return undefined;
  context.wakeQueue();
  const [bulk] = await readTasks(context.database, {
    ...bulkTaskFilter({ workspaceId, formId }, bulkKinds),
    id,
  });
  return bulk && presentBulkChange(bulk);
}

/**
 * Compares the number of submissions with the number that the caller expects.
 * @throws ApiError conflict.
 */
export function requireExpectedCount(found: number, expected: number | undefined): void {
  if (expected === undefined || found === expected) return;
  const words = found === bulkLimit ? `the limit is ${bulkLimit}` : `found ${found}`;
  throw new ApiError('conflict', `Expected ${expected} submissions, but ${words}. Nothing was changed.`);
}

/** The submissions of one step. */
type Batch = { ids: string[] };

/**
 * Runs one batch per step until the list is empty. Permanent deletions also record their events. At the end,
 * the person to whom submissions were assigned is notified.
 */
export const runBulkBatch = (context: SubmitServices, job: Job): Promise<void> =>
  runTaskStep<Batch>(context, job, 1, async (client, { task, items: [batch] }) => {
    const form = { workspaceId: job.workspaceId, formId: task.form_id! };
    const kind = task.kind.slice('submissions.'.length) as BulkKind;
    const bulkTask = { ...task, input: task.input as BulkInput, vault: context.vault };
    if (!batch) {
      const { assignee_id } = bulkTask.input;
      if (typeof assignee_id === 'string')
        await notifyAssignee(client, form, assignee_id, { by: authorOf(task), bulkId: task.id });
      return {};
    }
    const { done, queued } = await bulkWorkByKind[kind](client, form, batch.ids, bulkTask);
    return { done, isWaking: queued > 0 };
  });
