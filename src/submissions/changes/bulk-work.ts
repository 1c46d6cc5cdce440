import type { Answers } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { mostLabels } from '#forms/labels.ts';
import { newId, now } from '#kit/clock.ts';
import { withSavepoint } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { columns, json, nullable, type Queryable, statement, textEnum } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { undoableKinds } from '#rules/columns.ts';
import type { LockedTask } from '#tasks/run-tasks.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { FormKey, StoredSubmission } from '../change-event.ts';
import type { ChangedBy, Difference } from '../differences.ts';
import { changedByColumns } from '../history.ts';
import { lockQuotas } from '../quotas.ts';
import { searchMarks } from '../submission-record.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import { type Assignment, assignInTransaction, lockAssignee } from './assign.ts';
import { setSubmissionStatus } from './edit.ts';
import { lockSubmissions, removeLockedSubmissions } from './remove.ts';
import { restoreSubmissionsInTransaction, trashSubmissionsInTransaction } from './trash.ts';

/** The columns of a submission in the trash that its deletion event needs. */
const snapshotOfTrashed = columns('id completed_at? form_name', {
  status: textEnum<SubmissionStatus>(),
  answers: json<Answers>(),
  reference: json<Record<string, string>>(),
  respondent: nullable(json<Respondent>()),
  fields: json<Record<string, FieldDescription>>(),
});

/**
 * Locks those of the submissions that are still in the trash, in the order of ids. Restored submissions are
 * not deleted.
 */
const lockTrashedForRemoval = statement('workspace_id form_id ids', snapshotOfTrashed)`
  select s.id, s.status, s.completed_at, s.answers, s.reference, s.respondent, v.fields, v.name as form_name
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids) and s.trashed_at is not null
  order by s.id for update of s`;

/**
 * The kinds of bulk changes: `trash`; permanent deletion (`empty`: from the trash; `remove`: from anywhere);
 * `tag`; `status`; `stage`; `assign`; or `undo` of another change.
 */
export const bulkKinds = ['trash', 'empty', 'remove', 'tag', 'status', 'stage', 'assign', 'undo'] as const;
export type BulkKind = (typeof bulkKinds)[number];

/**
 * Searches the JSON of `findDifferences` for a part. Quotes within texts are escaped, so a text cannot match.
 */
const changesPart = (row: string, part: Difference['part']): string =>
  `strpos(${row}.changes::text, '"part":"${part}"') > 0`;

/** The parts with one value, which a later change replaces. */
const singleParts = ['status', 'stage', 'assignee'] as const;

/**
 * Locks the submissions to undo and selects what the bulk change did. For tags, `later` contains later
 * changes of the tags. Otherwise, submissions that were later moved to the trash, or given another status,
 * stage or assignee, are left out. Rows are locked in the order of ids, so that two transactions cannot deadlock.
 */
const lockUndone = statement('workspace_id form_id ids bulk_id', [
  'submission_id',
  { changes: json<Difference[]>(), later: json<Difference[][]>() },
])`
  select c.submission_id, c.changes,
         coalesce((
           select json_agg(later.changes) from submission_changes later
           where later.workspace_id = c.workspace_id and later.submission_id = c.submission_id and later.id > c.id
             and ${changesPart('c', 'tags')} and ${changesPart('later', 'tags')}), '[]') as later
  from submissions s
  join submission_changes c on c.workspace_id = s.workspace_id and c.submission_id = s.id and c.bulk_id = $bulk_id
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
    and not exists (
      select from submission_changes later
      where later.workspace_id = c.workspace_id and later.submission_id = c.submission_id
        and later.id > c.id and (c.kind = 'trashed' and later.kind = 'trashed'
          or ${singleParts.map((part) => `${changesPart('c', part)} and ${changesPart('later', part)}`).join(' or ')}))
  order by s.id for update of s`;

/** The parameters of a bulk change besides its submissions. */
export type BulkInput = {
  /** For `tag`. */
  added?: string[];
  removed?: string[];
  /** For `status`. */
  status?: SubmissionStatus;
  /** For `undo`: the kind of the other change. */
  undone?: (typeof undoableKinds)[number];
} & Assignment;

const marksOf = (tags: 'before' | 'after'): string =>
  `array(select segment.code || '${searchMarks.tag}' || tag from unnest(${tags}) as tag)`;

/**
 * Adds and removes tags of submissions, ignoring case, and records each change in the history. Works in the
 * order of ids, so that two transactions cannot deadlock.
 * @returns the submissions that now have the intended tags; a submission that would have too many tags stays
 * unchanged.
 */
const tagSubmissions = statement(
  ['workspace_id form_id ids change_ids added:texts removed:texts most bulk_id? now', changedByColumns],
  'id',
)`
  with listed as (
    select * from unnest($ids, $change_ids) as listed (id, change_id)),
  locked as (
    select id, tags, updated_at from submissions
    where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and trashed_at is null
    order by id for update),
  wanted as (
    select locked.*, listed.change_id,
      array(select tag from unnest(locked.tags) with ordinality as kept (tag, place)
            where lower(tag) not in (select lower(r) from unnest($removed) as r) order by place)
      || array(select tag from unnest($added) with ordinality as fresh (tag, place)
               where lower(tag) not in (select lower(t) from unnest(locked.tags) as t) order by place) as becomes
    from locked join listed on listed.id = locked.id),
  tagged as (
    update submissions s
    set tags = wanted.becomes, updated_at = greatest($now, wanted.updated_at + interval '1 ms')
    from wanted
    where s.workspace_id = $workspace_id and s.id = wanted.id
      and wanted.becomes <> wanted.tags and cardinality(wanted.becomes) <= $most
    returning s.id, wanted.change_id, wanted.tags as before, s.tags as after),
  documents as (
    update search_documents d
    set terms = ts_delete(d.terms, ${marksOf('before')}) || array_to_tsvector(${marksOf('after')})
    from tagged cross join lateral (
      select g.code from search_segments g where g.workspace_id = $workspace_id and g.first_id <= tagged.id
      order by g.first_id desc limit 1) segment
    where d.workspace_id = $workspace_id and d.submission_id = tagged.id),
  noted as materialized (
    select id, change_id, json_build_array(json_strip_nulls(json_build_object(
             'part', 'tags', 'name', '', 'from', nullif(before, '{}'), 'to', nullif(after, '{}')))) as changes
    from tagged),
  changes as (
    insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
    select $workspace_id, id, change_id, 'edited', $changed_by, $api_key_id, $through, $bulk_id, $now, changes
    from noted)
  select id from wanted where cardinality(becomes) <= $most`;

/** Returns the author of a task's changes, as in the history. */
export const authorOf = (task: Omit<LockedTask, 'input'>): ChangedBy => ({
  changed_by: task.requested_by,
  api_key_id: task.api_key_id,
  through: task.through as ChangedBy['through'],
  bulk_id: task.id,
});

/** The bulk change that a batch belongs to. */
type BulkTask = Omit<LockedTask, 'input'> & { input: BulkInput; vault: Vault };
/** Changes one batch. Returns the number of changed submissions and the number of new deliveries. */
type RunBatch = (
  db: Queryable,
  key: FormKey,
  ids: string[],
  task: BulkTask,
) => Promise<{ done: number; queued: number }>;

type Lock = (
  db: Queryable,
  rows: { workspace_id: string; form_id: string; ids: string[] },
) => Promise<StoredSubmission[]>;

const removeBatch =
  (lock: Lock): RunBatch =>
  async (db, key, ids) => {
    const rows = await lock(db, { workspace_id: key.workspaceId, form_id: key.formId, ids });
    return { done: rows.length, queued: await removeLockedSubmissions(db, key, rows) };
  };

/** Runs a batch of each kind, in the transaction that removes the batch from the list. */
export const bulkWorkByKind: Readonly<Record<BulkKind, RunBatch>> = {
  trash: async (db, key, ids, task) => ({
    done: await trashSubmissionsInTransaction(db, key, { ids, by: authorOf(task) }),
    queued: 0,
  }),
  empty: removeBatch(lockTrashedForRemoval),
  remove: removeBatch(lockSubmissions),
  tag: (db, key, ids, task) =>
    tagBatch(db, key, { ids, added: task.input.added!, removed: task.input.removed!, by: authorOf(task) }),
  status: (db, key, ids, task) =>
    setStatuses(
      db,
      key,
      ids.map((id) => ({ id, status: task.input.status! })),
      task,
    ),
  stage: assignBatch,
  assign: assignBatch,
  async undo(db, key, ids, task) {
    // Locks the form before any rows, in the same order as when submitting.
    await lockQuotas(db, key);
    const undone = await lockUndone(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      ids,
      bulk_id: task.subject_id!,
    });
    return undoings[task.input.undone!](db, key, undone, task);
  },
};

async function assignBatch(...[db, key, ids, task]: Parameters<RunBatch>): ReturnType<RunBatch> {
  return { done: await assignInTransaction(db, key, ids, { ...task.input, by: authorOf(task) }), queued: 0 };
}

/**
 * Undoes a move or an assignment: submissions that had the same value are updated together. If the previous
 * assignee is no longer a member, the submissions are assigned to no one.
 */
const undoAssignment =
  (part: 'stage' | 'assignee') =>
  async (...[db, key, undone, task]: Parameters<Undo>): ReturnType<RunBatch> => {
    const previousValues = Map.groupBy(
      undone,
      ({ changes }) => changes.find((change) => change.part === part)?.from,
    );
    let done = 0;
    for (const [previous, submissions] of previousValues) {
      const ids = submissions.map(({ submission_id: id }) => id);
      const assignment =
        part === 'stage'
          ? { stage_id: previous as string }
          : { assignee_id: await lockAssignee(db, key.workspaceId, previous as string | undefined) };
      done += await assignInTransaction(db, key, ids, { ...assignment, by: authorOf(task) });
    }
    return { done, queued: 0 };
  };

async function tagBatch(
  db: Queryable,
  key: FormKey,
  { by, ...tagging }: { ids: string[]; added: string[]; removed: string[]; by: ChangedBy },
): ReturnType<RunBatch> {
  const tagged = await tagSubmissions(db, {
    workspace_id: key.workspaceId,
    form_id: key.formId,
    change_ids: tagging.ids.map(() => newId()),
    ...tagging,
    most: mostLabels,
    ...by,
    now: now(),
  });
  return { done: tagged.length, queued: 0 };
}

/** Sets each status separately. A submission that lacks an answer or exceeds a quota stays unchanged. */
async function setStatuses(
  db: Queryable,
  key: FormKey,
  given: readonly { id: string; status: SubmissionStatus }[],
  task: BulkTask,
): ReturnType<RunBatch> {
  const limited = await lockQuotas(db, key);
  const sum = { done: 0, queued: 0 };
  for (const { id, status } of given) {
    const changing = { ...key, id, by: authorOf(task), limited };
    const queued = await withSavepoint(db, () => setSubmissionStatus(db, task.vault, changing, status)).catch(
      unlessRefused,
    );
    if (queued === undefined) continue;
    sum.done += 1;
    sum.queued += queued;
  }
  return sum;
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

type Undo = (
  db: Queryable,
  key: FormKey,
  undone: Awaited<ReturnType<typeof lockUndone>>,
  task: BulkTask,
) => ReturnType<RunBatch>;

/** For each kind of change, the function that undoes it. */
const undoings: Readonly<Record<NonNullable<BulkInput['undone']>, Undo>> = {
  async trash(db, key, undone, task) {
    const ids = undone.map(({ submission_id: id }) => id);
    const one = (work: () => Promise<void>) => withSavepoint(db, work).catch(unlessRefused);
    return {
      done: await restoreSubmissionsInTransaction(db, key, { ids, by: authorOf(task) }, one),
      queued: 0,
    };
  },
  async tag(db, key, undone, task) {
    // Most submissions gained and lost the same tags, so each group is updated together.
    const alike = Map.groupBy(undone, (one) => JSON.stringify(tagsUndone(one)));
    let done = 0;
    for (const [tags, group] of alike) {
      const { added, removed } = JSON.parse(tags) as ReturnType<typeof tagsUndone>;
      const ids = group.map(({ submission_id: id }) => id);
      done += (await tagBatch(db, key, { ids, added, removed, by: authorOf(task) })).done;
    }
    return { done, queued: 0 };
  },
  status: (db, key, undone, task) =>
    setStatuses(
      db,
      key,
      undone.map(({ submission_id: id, changes }) => ({
        id,
        status: changes.find(({ part }) => part === 'status')!.from as SubmissionStatus,
      })),
      task,
    ),
  stage: undoAssignment('stage'),
  assign: undoAssignment('assignee'),
};

/** Returns the tags to add and remove to restore the previous tags, except tags that changed later. */
function tagsUndone({
  changes,
  later,
}: {
  changes: readonly Difference[];
  later: readonly (readonly Difference[])[];
}): ReturnType<typeof tagsMoved> {
  const { added, removed } = tagsMoved(changes);
  const touched = new Set(later.map(tagsMoved).flatMap((moved) => [...moved.added, ...moved.removed]));
  const isLeft = (tag: string): boolean => !touched.has(tag);
  return { added: removed.filter(isLeft), removed: added.filter(isLeft) };
}

/** Returns the tags that a change added and removed. */
function tagsMoved(changes: readonly Difference[]): { added: string[]; removed: string[] } {
  const { from = [], to = [] } = (changes.find(({ part }) => part === 'tags') ?? {}) as {
    from?: string[];
    to?: string[];
  };
  return { added: to.filter((tag) => !from.includes(tag)), removed: from.filter((tag) => !to.includes(tag)) };
}
