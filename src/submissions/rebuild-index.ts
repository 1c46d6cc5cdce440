import type { Answers } from '#ast/answers/check-answers.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { newId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { greaterId, lesserId, maximumId, minimumId, nextGreaterId } from '#kit/pagination.ts';
import type { Job } from '#kit/queue.ts';
import { integers, json, jsonb, onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { searchRules } from '#rules/search-rules.ts';
import { createTask, runTaskStep } from '#tasks/run-tasks.ts';
import { buildSearchData } from './columns.ts';
import { documentColumns, searchTermsSql } from './submission-record.ts';

/*
 * When the rules of the index change, a task for each workspace rebuilds its search documents, oldest segment first.
 * Searches find documents of both rules (docs/decisions/0112-words-of-the-index.md). Submissions that are newer than
 * the task are indexed by the new rules.
 */

/** The job that rebuilds the search documents of a workspace. */
export const rebuildIndexJob = 'search.rebuild';
const kind = 'submissions.reindex';

/** Selects the workspaces, or the one, with older rules and without a task. */
const listOutdatedWorkspaces = statement('rules:smallint kind:text workspace_id?', 'workspace_id')`
  select distinct g.workspace_id from search_segments g
  where g.rules < $rules and ($workspace_id is null or g.workspace_id = $workspace_id) and not exists (
    select from tasks t
    where t.workspace_id = g.workspace_id and t.kind = $kind and t.finished_at is null and t.cancelled_at is null)`;

/** Locks a workspace, so that two processes do not create its task. */
const lockWorkspace = statement('workspace_id', 'id')`
  select id from workspaces where id = $workspace_id for no key update`;

/** Selects the oldest segment with older rules, and where the next segment begins. */
const findOutdatedSegment = statement('workspace_id rules:smallint', 'first_id next_id?')`
  select g.first_id, (
    select n.first_id from search_segments n where n.workspace_id = $workspace_id and n.first_id > g.first_id
    order by n.first_id limit 1) as next_id
  from search_segments g where g.workspace_id = $workspace_id and g.rules < $rules
  order by g.first_id limit 1`;

const countDocuments = statement('workspace_id from_id to_id', 'count')`
  select count(*) as count from search_documents
  where workspace_id = $workspace_id and submission_id >= $from_id and submission_id < $to_id`;

const markRebuilt = statement('workspace_id first_id rules:smallint', '')`
  update search_segments set rules = $rules where workspace_id = $workspace_id and first_id = $first_id`;

/** Locks the next submissions, so that edits and bulk changes wait. */
const lockNextSubmissions = statement('workspace_id from_id to_id limit', [
  'id form_id version language?',
  { answers: json<Answers>(), reference: json<Record<string, string>>() },
])`
  select id, form_id, version, language, answers, reference from submissions
  where workspace_id = $workspace_id and id >= $from_id and id < $to_id and trashed_at is null
  order by id limit $limit for no key update`;

/** Selects the versions that were answered, with the settings of their forms. */
const listAnsweredVersions = statement(
  ['workspace_id form_ids', { versions: integers }],
  ['form_id version', { structure: effectiveFormColumn, settings: jsonb<Settings>() }],
)`
  select v.form_id, v.version, v.structure, f.settings
  from unnest($form_ids, $versions) as answered (form_id, version)
  join form_versions v on v.workspace_id = $workspace_id and v.form_id = answered.form_id and v.version = answered.version
  join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id`;

const rebuildDocument = statement(['workspace_id form_id id', documentColumns], '')`
  with submission as (select status, tags from submissions where workspace_id = $workspace_id and id = $id)
  update search_documents set terms = ${searchTermsSql} from submission
  where workspace_id = $workspace_id and submission_id = $id`;

/** Creates a task for each workspace whose index has older rules. Called every minute. */
export async function startIndexRebuilds(context: {
  database: Database;
  wakeQueue: () => void;
}): Promise<void> {
  const outdated = { rules: searchRules, kind };
  const workspaces = await listOutdatedWorkspaces(context.database, { ...outdated, workspace_id: null });
  for (const { workspace_id } of workspaces) {
    await transaction(context.database, async (client) => {
      await lockWorkspace(client, { workspace_id });
      const [isStill] = await listOutdatedWorkspaces(client, { ...outdated, workspace_id });
      const segment = isStill && (await findSegment(client, workspace_id));
      if (!segment) return;
      const id = newId();
      const span = { workspace_id, from_id: segment.first_id, to_id: id };
      const total = onlyRow(await countDocuments(client, span))!.count;
      const by = { kind: 'operator', id: '' } as const;
      await createTask(
        client,
        { workspaceId: workspace_id, id, kind, by, total },
        { kind: rebuildIndexJob, lane: `${rebuildIndexJob} ${workspace_id}` },
      );
    });
  }
  if (workspaces.length > 0) context.wakeQueue();
}

/** The number of submissions per transaction: an edit of one of them waits for it, about 100 ms. */
const batchSize = 200;

/** Runs the job `search.rebuild`: rebuilds the next documents. */
export const rebuildIndexBatch = (
  context: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> =>
  runTaskStep(context, job, 0, async (client, { task }) => {
    const { workspaceId } = job;
    const segment = await findSegment(client, workspaceId);
    if (!segment) return { isLast: true };
    const rows = await lockNextSubmissions(client, {
      workspace_id: workspaceId,
      from_id: greaterId(segment.first_id, (task.result as { next?: string }).next ?? minimumId),
      to_id: lesserId(segment.next_id ?? maximumId, task.id),
      limit: batchSize,
    });
    await rebuildDocuments(client, workspaceId, rows);
    const last = rows.at(-1);
    if (rows.length < batchSize)
      await markRebuilt(client, {
        workspace_id: workspaceId,
        first_id: segment.first_id,
        rules: searchRules,
      });
    const result = last ? { next: nextGreaterId(last.id) } : task.result;
    return { done: rows.length, isLast: false, result };
  });

const findSegment = async (db: Queryable, workspace_id: string) =>
  onlyRow(await findOutdatedSegment(db, { workspace_id, rules: searchRules }));

async function rebuildDocuments(
  db: Queryable,
  workspaceId: string,
  rows: Awaited<ReturnType<typeof lockNextSubmissions>>,
): Promise<void> {
  const keyOf = (row: { form_id: string; version: number }): string => `${row.form_id}:${row.version}`;
  const answered = [...new Map(rows.map((row) => [keyOf(row), row])).values()];
  const versions = new Map(
    (
      await listAnsweredVersions(db, {
        workspace_id: workspaceId,
        form_ids: answered.map(({ form_id }) => form_id),
        versions: answered.map(({ version }) => version),
      })
    ).map((row) => [keyOf(row), row]),
  );
  for (const row of rows) {
    const { structure, settings } = versions.get(keyOf(row))!;
    await rebuildDocument(db, {
      workspace_id: workspaceId,
      form_id: row.form_id,
      id: row.id,
      ...buildSearchData(structure, settings, row),
    });
  }
}
