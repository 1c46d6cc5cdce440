import { newId, now, timeOfId } from '#kit/clock.ts';
import { attempt, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { enqueueJob, type Job } from '#kit/queue.ts';
import { takeStep } from '#kit/queue/take-step.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { type ChangeContext, giveStatus } from '../changes/edit.ts';
import type { FormKey, StoredSubmission } from '../changes/event.ts';
import { lockSubmissions } from '../changes/queries.ts';
import { removeRows } from '../changes/remove.ts';
import { type ChangedBy, changedBy } from '../history/changed-by.ts';
import type { Difference } from '../history/differences.ts';
import type { SubmissionStatus } from '../queries.ts';
import type { SubmitContext } from '../submit.ts';
import { mostTags } from '../tags/tags.ts';
import { takeTurn } from '../taken/take.ts';
import { lockTrashedForRemoval } from '../trash/queries.ts';
import { restoreWithin, trashMany } from '../trash/trash.ts';
import {
  advanceBulk,
  type BulkKind,
  findBulk,
  findBulkWork,
  insertBulk,
  insertUndo,
  lockUndone,
  tagSubmissions,
  takeBulkItems,
} from './queries.ts';
import { bulkKinds } from './shapes.ts';

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
  { workspaceId, formId }: FormKey,
  { kind, ids, by, tags = { added: [], removed: [] }, status }: BulkRequest,
) {
  const id = newId();
  const bulk = await begin(context, { workspaceId, formId }, (client) =>
    insertBulk(client, {
      workspace_id: workspaceId,
      id,
      form_id: formId,
      kind,
      tags_added: tags.added,
      tags_removed: tags.removed,
      status: status ?? null,
      ...changedBy(by),
      submission_ids: [...new Set(ids)],
      created_at: timeOfId(id),
    }),
  );
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
  { workspaceId, formId }: FormKey,
  { undoes, by }: { undoes: string; by: Actor },
) {
  const id = newId();
  const key = { workspace_id: workspaceId, form_id: formId };
  const undo = await begin(context, { workspaceId, formId }, (client) =>
    insertUndo(client, { ...key, id, undoes, ...changedBy(by), created_at: timeOfId(id) }),
  );
  if (undo) return undo;
  const found = only(await findBulk(context.database, { ...key, id: undoes, kinds: [...bulkKinds] }));
  if (!found) throw new ApiError('not_found');
  if (!undoable.includes(found.kind)) throw new ApiError('conflict', 'This cannot be undone.');
  const why = found.finished_at === null ? 'It is still under way.' : 'It was undone already.';
  throw new ApiError('conflict', why);
}

const undoable: readonly BulkKind[] = ['trash', 'tag', 'status'];

/** Writes down a bulk change, with the job that does it; undefined where there is none to be done. */
async function begin(
  context: ChangeContext,
  { workspaceId, formId }: FormKey,
  insert: (client: Queryable) => ReturnType<typeof insertBulk>,
) {
  const bulk = await transaction(context.database, async (client) => {
    const inserted = only(await insert(client));
    if (!inserted) return undefined;
    await enqueueJob(client, {
      workspace_id: workspaceId,
      id: newId(),
      kind: bulkJob,
      // One workspace's bulk changes take turns, and keep no other workspace waiting.
      lane: `${bulkJob} ${workspaceId}`,
      payload: {
        bulk_id: inserted.id,
        form_id: formId,
        at_once: batchSizes[inserted.kind],
      } satisfies Payload,
      delay: 0,
    });
    return inserted;
  });
  if (bulk) context.wakeQueue();
  return bulk;
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

/** Without `at_once`: of a version before. */
type Payload = { bulk_id: string; form_id: string; at_once?: number };

/** The job: one batch, with its events where it is for good, again and again, until the list is empty. */
export async function bulkBatch(context: SubmitContext, job: Job): Promise<void> {
  const { bulk_id: id, form_id: formId, at_once: limit = 100 } = job.payload as Payload;
  const { workspaceId } = job;
  const waiting = { take: takeBulkItems, id, limit };
  const deliveries = await takeStep(context.database, job, waiting, async (client, items, isLast) => {
    const work = only(await findBulkWork(client, { workspace_id: workspaceId, id }));
    const ids = items.map((item) => item.submission_id);
    const { done, made } = work
      ? await works[work.kind](client, { workspaceId, formId }, ids, { ...work, vault: context.vault })
      : { done: 0, made: 0 };
    await advanceBulk(client, { workspace_id: workspaceId, id, done, finished_at: isLast ? now() : null });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}

const byOf = ({ id, changed_by, api_key_id, through }: Asked): ChangedBy => ({
  changed_by,
  api_key_id,
  through,
  bulk_id: id,
});

type Asked = Awaited<ReturnType<typeof findBulkWork>>[number] & { vault: Vault };
/** Does it with some: how many there were, and how many deliveries that makes. */
type Work = (
  db: Queryable,
  key: FormKey,
  ids: string[],
  asked: Asked,
) => Promise<{ done: number; made: number }>;

type Lock = (
  db: Queryable,
  rows: { workspace_id: string; form_id: string; ids: string[] },
) => Promise<StoredSubmission[]>;

const removeThose =
  (lock: Lock): Work =>
  async (db, key, ids) => {
    const rows = await lock(db, { workspace_id: key.workspaceId, form_id: key.formId, ids });
    return { done: rows.length, made: await removeRows(db, key, rows) };
  };

const works: Readonly<Record<BulkKind, Work>> = {
  trash: async (db, key, ids, asked) => ({
    done: await trashMany(db, key, { ids, by: byOf(asked) }),
    made: 0,
  }),
  empty: removeThose(lockTrashedForRemoval),
  remove: removeThose(lockSubmissions),
  tag: (db, key, ids, asked) =>
    tagThose(db, key, { ids, added: asked.tags_added, removed: asked.tags_removed, by: byOf(asked) }),
  status: (db, key, ids, asked) =>
    giveStatuses(
      db,
      key,
      ids.map((id) => ({ id, status: asked.status! })),
      asked,
    ),
  async undo(db, key, ids, asked) {
    // A submit takes its turn before rows are locked.
    await takeTurn(db, key);
    const undone = await lockUndone(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      ids,
      bulk_id: asked.undoes!,
    });
    return undoings[asked.undone as keyof typeof undoings](db, key, undone, asked);
  },
};

async function tagThose(
  db: Queryable,
  key: FormKey,
  { by, ...tagging }: { ids: string[]; added: string[]; removed: string[]; by: ChangedBy },
): ReturnType<Work> {
  const tagged = await tagSubmissions(db, {
    workspace_id: key.workspaceId,
    form_id: key.formId,
    change_ids: tagging.ids.map(() => newId()),
    ...tagging,
    most: mostTags,
    ...by,
    now: now(),
  });
  return { done: tagged.length, made: 0 };
}

/** One after the other: what lacks an answer, or finds its place taken, stays as it is. */
async function giveStatuses(
  db: Queryable,
  key: FormKey,
  given: readonly { id: string; status: SubmissionStatus }[],
  asked: Asked,
): ReturnType<Work> {
  const limited = await takeTurn(db, key);
  const sum = { done: 0, made: 0 };
  for (const { id, status } of given) {
    const changing = { ...key, id, by: byOf(asked), limited };
    const made = await attempt(db, () => giveStatus(db, asked.vault, changing, status)).catch(unlessRefused);
    if (made === undefined) continue;
    sum.done += 1;
    sum.made += made;
  }
  return sum;
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

/** What is done with what a change of each kind did. */
const undoings: Readonly<
  Record<
    'trash' | 'tag' | 'status',
    (
      db: Queryable,
      key: FormKey,
      undone: Awaited<ReturnType<typeof lockUndone>>,
      asked: Asked,
    ) => ReturnType<Work>
  >
> = {
  async trash(db, key, undone, asked) {
    const ids = undone.map(({ submission_id: id }) => id);
    const one = (work: () => Promise<void>) => attempt(db, work).catch(unlessRefused);
    return { done: await restoreWithin(db, key, { ids, by: byOf(asked) }, one), made: 0 };
  },
  async tag(db, key, undone, asked) {
    // Most of them got and lost the same.
    const alike = Map.groupBy(undone, ({ changes }) => JSON.stringify(tagsUndone(changes)));
    let done = 0;
    for (const [tags, some] of alike) {
      const { added, removed } = JSON.parse(tags) as ReturnType<typeof tagsUndone>;
      const ids = some.map(({ submission_id: id }) => id);
      done += (await tagThose(db, key, { ids, added, removed, by: byOf(asked) })).done;
    }
    return { done, made: 0 };
  },
  status: (db, key, undone, asked) =>
    giveStatuses(
      db,
      key,
      undone.map(({ submission_id: id, changes }) => ({
        id,
        status: changes.find(({ part }) => part === 'status')!.from as SubmissionStatus,
      })),
      asked,
    ),
};

/** The tags that come back, and those that go, for a submission to be as it was. */
function tagsUndone(changes: readonly Difference[]): { added: string[]; removed: string[] } {
  const { from = [], to = [] } = (changes.find(({ part }) => part === 'tags') ?? {}) as {
    from?: string[];
    to?: string[];
  };
  return { added: from.filter((tag) => !to.includes(tag)), removed: to.filter((tag) => !from.includes(tag)) };
}
