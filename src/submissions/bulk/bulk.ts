import { newId, now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { enqueueJob, type Job } from '#kit/queue.ts';
import { takeStep } from '#kit/queue/take-step.ts';
import { nullable, only, type Queryable, requireRow, statement, uuid, word } from '#kit/statement.ts';
import type { ChangeContext } from '../changes/edit.ts';
import type { FormKey } from '../changes/event.ts';
import { changedBy } from '../history/changed-by.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import type { SubmitContext } from '../submit.ts';
import { bulkKinds } from './shapes.ts';
import { type BulkKind, findBulkWork, works } from './works.ts';
import { takeFirst } from '#kit/queue/park-job.ts';
import { bulkColumns, bulkSelection, findBulk } from './progress.ts';
import { changedByColumns } from '../history/endpoints.ts';

/** A bulk change and the list of what it changes; nothing for a form that is gone. */
const insertBulk = statement(
  'bulk.insert_bulk',
  [
    'workspace_id id form_id tags_added tags_removed submission_ids created_at',
    { kind: word<BulkKind>(), status: nullable(word<SubmissionStatus>()) },
    changedByColumns,
  ],
  bulkColumns,
  `with bulk as (
     insert into bulk_changes (workspace_id, id, form_id, kind, tags_added, tags_removed, status, requested_by, api_key_id, through, total, created_at)
     select workspace_id, $id, id, $kind, $tags_added, $tags_removed, $status, $changed_by, $api_key_id, $through, cardinality($submission_ids), $created_at
     from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     returning *),
   items as (
     insert into bulk_items (workspace_id, bulk_id, submission_id)
     select workspace_id, id, unnest($submission_ids) from bulk)
   ${bulkSelection('bulk')}`,
);

/**
 * A bulk change that undoes a finished one, and the list of what that one changed; nothing where it is not finished, cannot
 * be undone, or was.
 */
const insertUndo = statement(
  'bulk.insert_undo',
  ['workspace_id form_id id undoes created_at', changedByColumns],
  bulkColumns,
  `with undone as (
     select b.workspace_id, b.form_id, b.id from bulk_changes b
     join forms f on f.workspace_id = b.workspace_id and f.id = b.form_id
     where b.workspace_id = $workspace_id and b.form_id = $form_id and b.id = $undoes
       and b.finished_at is not null and b.kind in ('trash', 'tag', 'status') and f.deleted_at is null),
   changed as (
     select distinct c.submission_id from submission_changes c
     where c.workspace_id = $workspace_id and c.bulk_id = (select id from undone)),
   bulk as (
     insert into bulk_changes (workspace_id, id, form_id, kind, undoes, requested_by, api_key_id, through, total, created_at)
     select workspace_id, $id, form_id, 'undo', id, $changed_by, $api_key_id, $through, (select count(*) from changed), $created_at
     from undone
     on conflict (workspace_id, undoes) where undoes is not null do nothing
     returning *),
   items as (
     insert into bulk_items (workspace_id, bulk_id, submission_id)
     select bulk.workspace_id, bulk.id, changed.submission_id from bulk cross join changed)
   ${bulkSelection('bulk')}`,
);

/** Crosses the next submissions off the list of a bulk change. */
const takeBulkItems = takeFirst(
  'bulk.take_bulk_items',
  { table: 'bulk_items', of: 'bulk_id', by: 'submission_id' },
  { submission_id: uuid },
);

/** How far a bulk change has come. */
const advanceBulk = statement(
  'bulk.advance_bulk',
  'workspace_id id done finished_at?',
  '',
  `update bulk_changes set done = done + $done, finished_at = $finished_at
   where workspace_id = $workspace_id and id = $id`,
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
  const found = requireRow(await findBulk(context.database, { ...key, id: undoes, kinds: [...bulkKinds] }));
  if (!undoable.includes(found.kind)) throw new ApiError('conflict', 'This cannot be undone.');
  const why =
    found.failed_reason ?? (found.finished_at === null ? 'It is still under way.' : 'It was undone already.');
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

type Payload = { bulk_id: string; form_id: string; at_once: number };

/** The job: one batch, with its events where it is for good, again and again, until the list is empty. */
export async function bulkBatch(context: SubmitContext, job: Job): Promise<void> {
  const { bulk_id: id, form_id: formId, at_once: limit } = job.payload as Payload;
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
