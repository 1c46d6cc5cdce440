import { type Static, Type } from 'typebox';
import { reachForm } from '#forms/form-rows.ts';
import { newId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { wired } from '#kit/http.ts';
import { type Actor, idParameter, operation } from '#kit/operation.ts';
import type { Job } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import { failedReason } from '#kit/validation.ts';
import { readTask, readTasks, type TaskRow, unfinished } from '#tasks/read-tasks.ts';
import { type NewTask, runTaskStep, startTask } from '#tasks/run-tasks.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import type { FormKey } from '../change-event.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import type { SubmitContext } from '../submit-request.ts';
import { type BulkInput, type BulkKind, works } from './bulk-works.ts';
import type { ChangeContext } from './edit.ts';

/** All that is done with many. */
export const bulkKinds = [
  'trash',
  'empty',
  'remove',
  'tag',
  'status',
  'undo',
] as const satisfies readonly BulkKind[];
const timestamp = Type.String({ format: 'date-time' });

/** A change of many submissions, and how far it is. */
export const BulkChange = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum([...bulkKinds], {
    description:
      'Into the trash, out of it for good, for good wherever they lie, tagged, given a status, or what another change did undone.',
  }),
  total: Type.Integer(),
  done: Type.Integer({
    description:
      'At the end it may be less than `total`: what is gone by then, or cannot become so, is skipped.',
  }),
  created_at: timestamp,
  finished_at: Type.Union([timestamp, Type.Null()]),
  failed_reason: failedReason,
});
export type BulkChange = Static<typeof BulkChange>;

const prefix = 'submissions.';

/** Which tasks are bulk changes of these kinds of a form. */
export const tasksOf = ({ workspaceId, formId }: FormKey, kinds: readonly BulkKind[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  kinds: kinds.map((kind) => `${prefix}${kind}` as const),
});

/** A task as the bulk change that it is. */
export const presentBulk = ({ id, kind, total, done, created_at, finished_at, failed_reason }: TaskRow) => ({
  id,
  kind: kind.slice(prefix.length) as BulkKind,
  total,
  done,
  created_at,
  finished_at,
  failed_reason,
});

const uuid = Type.String({ format: 'uuid' });

const kindsOf = {
  deletions: ['trash', 'empty', 'remove'],
  taggings: ['tag'],
  changes: bulkKinds,
} as const satisfies Readonly<Record<string, readonly BulkKind[]>>;

/** How far deletions are, taggings, or changes of any kind: those that are under way, and each by its id. */
export function progressEndpoints(database: Database) {
  const list = (word: keyof typeof kindsOf) =>
    operation({
      summary: word === 'changes' ? 'List changes of many' : `List ${word}`,
      description: `The ${word} of a form's submissions that are under way, newest first.`,
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'Those that are not finished.',
        schema: Type.Object({ data: Type.Array(BulkChange) }),
      },
      async run({ params, ...scope }) {
        const form = await reachForm(database, scope, params.id);
        const tasks = await readTasks(database, { ...tasksOf(form, kindsOf[word]), states: unfinished });
        return { body: { data: tasks.map((task) => wired(presentBulk(task))) } };
      },
    });

  const find = async (
    { workspaceId, formIds }: { workspaceId: string; formIds: readonly string[] | null },
    formId: string,
    { id, of }: { id: string; of: keyof typeof kindsOf },
  ) => {
    requireReach(formIds, formId);
    const tasks = tasksOf({ workspaceId, formId }, kindsOf[of]);
    return { body: wired(presentBulk(await readTask(database, { ...tasks, id }))) };
  };
  const reply = { status: 200, description: 'How far it is.', schema: BulkChange } as const;

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
      summary: 'Get change of many',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, change: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.change, of: 'changes' }),
    }),
  };
}

/** The submissions that a bulk change touched, in the order of their ids. */
const listChanged = statement(
  'bulk.list_changed',
  'workspace_id bulk_id',
  'submission_id',
  `select distinct submission_id from submission_changes
    where workspace_id = $workspace_id and bulk_id = $bulk_id order by submission_id`,
);

/** The job that does one bulk change. */
export const bulkJob = 'submissions.bulk';

/** At most so many at a time: their ids are held in memory once (about 20 MB). */
export const bulkLimit = 200_000;

/** Submissions changed in one transaction: short enough that nobody waits for its locks, also where each takes some statements. */
const batchSizes = {
  trash: 500,
  empty: 500,
  remove: 500,
  tag: 500,
  status: 50,
  undo: 100,
} as const satisfies Readonly<Record<BulkKind, number>>;

/** What is done with which submissions, and for whom. */
export type BulkRequest = {
  kind: Exclude<BulkKind, 'undo'>;
  ids: readonly string[];
  by: Actor;
  /** Where the kind is `tag`. */
  tags?: { added: string[]; removed: string[] };
  /** Where the kind is `status`. */
  status?: SubmissionStatus;
};

/**
 * Asks for a change of exactly these submissions. A job does it in batches behind.
 * @returns the bulk change, whose `done` grows up to at most `total`: what is gone already is skipped.
 * @throws ApiError not_found for a form that is gone.
 */
export async function startBulk(
  context: ChangeContext,
  form: FormKey,
  { kind, ids, by, tags, status }: BulkRequest,
) {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].toSorted();
  const input = { ...tags, ...(status && { status }) } satisfies BulkInput;
  const bulk = await begin(context, form, { kind, ids: sorted, by, input });
  if (!bulk) throw new ApiError('not_found');
  return bulk;
}

/**
 * Asks for what a change of many did to be undone, as far as nobody did otherwise since: what lies in the trash by it comes
 * back, and each gets the tags that it lost and loses those that it got, and its status. A job does it behind.
 * @throws ApiError not_found; conflict for what cannot be undone, is not finished, or was undone.
 */
export async function undoBulk(
  context: ChangeContext,
  form: FormKey,
  { undoes, by }: { undoes: string; by: Actor },
) {
  const undone = presentBulk(await readTask(context.database, { ...tasksOf(form, bulkKinds), id: undoes }));
  if (!isUndoable(undone.kind)) throw new ApiError('conflict', 'This cannot be undone.');
  if (undone.finished_at === null)
    throw new ApiError('conflict', undone.failed_reason ?? 'It is still under way.');
  const changed = await listChanged(context.database, { workspace_id: form.workspaceId, bulk_id: undone.id });
  const ids = changed.map(({ submission_id }) => submission_id);
  const input = { undone: undone.kind } satisfies BulkInput;
  const bulk = await begin(context, form, { kind: 'undo', ids, by, input, subjectId: undone.id });
  if (!bulk) throw new ApiError('conflict', 'It was undone already.');
  return bulk;
}

const isUndoable = (kind: BulkKind): kind is NonNullable<BulkInput['undone']> =>
  kind === 'trash' || kind === 'tag' || kind === 'status';

/** Stores a bulk change with its job; undefined if the form is gone or the change was undone already. */
async function begin(
  context: ChangeContext,
  { workspaceId, formId }: FormKey,
  { kind, ids, ...task }: { kind: BulkKind; ids: string[] } & Pick<NewTask, 'by' | 'input' | 'subjectId'>,
) {
  const id = newId();
  const size = batchSizes[kind];
  const items: Batch[] = [];
  for (let at = 0; at < ids.length; at += size) items.push({ ids: ids.slice(at, at + size) });
  const isStored = await transaction(context.database, (client) =>
    startTask(
      client,
      { workspaceId, id, kind: `submissions.${kind}`, formId, items, total: ids.length, ...task },
      // One workspace's bulk changes take turns, and keep no other workspace waiting.
      { kind: bulkJob, lane: `${bulkJob} ${workspaceId}` },
    ),
  );
  if (!isStored) return undefined;
  context.wakeQueue();
  const [bulk] = await readTasks(context.database, { ...tasksOf({ workspaceId, formId }, bulkKinds), id });
  return bulk && presentBulk(bulk);
}

/**
 * Holds how many there are against how many somebody meant.
 * @throws ApiError conflict.
 */
export function requireExpected(found: number, expected: number | undefined): void {
  if (expected === undefined || found === expected) return;
  const words = found === bulkLimit ? `${bulkLimit} go at a time` : `now there are ${found}`;
  throw new ApiError('conflict', `You confirmed ${expected}, but ${words}. Nothing was changed.`);
}

/** Submissions that one step changes. */
type Batch = { ids: string[] };

/** The job: one batch, with its events where it is for good, again and again, until the list is empty. */
export const bulkBatch = (context: SubmitContext, job: Job): Promise<void> =>
  runTaskStep<Batch>(context, job, 1, async (client, { task, items: [batch] }) => {
    if (!batch) return {};
    const { workspaceId } = job;
    const kind = task.kind.slice('submissions.'.length) as BulkKind;
    const asked = { ...task, input: task.input as BulkInput, vault: context.vault };
    const { done, made } = await works[kind](
      client,
      { workspaceId, formId: task.form_id! },
      batch.ids,
      asked,
    );
    return { done, isWaking: made > 0 };
  });
