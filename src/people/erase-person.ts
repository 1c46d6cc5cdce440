import { parse } from 'node:path';
import { discardFiles, type FileServices, removeMarkedFiles } from '#files/stored-files.ts';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { minimumId } from '#kit/pagination.ts';
import type { Job } from '#kit/queue.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import {
  deleteInvitations,
  type ErasureOutcome,
  eraseIdentity,
  eraseSubmissions,
} from '#submissions/erase/erase.ts';
import { containsMatch } from '#submissions/erase/strip-answers.ts';
import { deleteSpam } from '#submissions/spam.ts';
import { addTaskItems, createTask, findFirstTaskItem, runTaskStep } from '#tasks/run-tasks.ts';
import { deleteEventsOfSubmissions } from '#webhooks/upkeep.ts';
import { clearStoredResponses } from '#workspaces/idempotency.ts';
import { findPersonRecords, type MatchKind, mostPersonRecords } from './person-records.ts';
import { type PersonSearch, parsePersonSearch } from './person-search.ts';
import {
  addCounts,
  type ErasedCounts,
  type ErasureInput,
  type ErasureItemKind,
  type ErasureResult,
  type ErasureScope,
  hashErasureList,
  hashOfReceipt,
} from './receipt.ts';

const listSpamFiles = statement('workspace_id held_ids:uuids', 'id')`
  select id from files where workspace_id = $workspace_id and held_id = any ($held_ids)`;

/** Deletes emails, whether sent or not. An email that is being sent at this moment may still arrive. */
const deleteMails = statement('workspace_id ids', 'id')`
  delete from mails where workspace_id = $workspace_id and id = any ($ids) returning id`;

/**
 * Finds a batch of import lines that have not become submissions or invitations yet and may contain the term.
 */
const findWaitingLines = statement(
  'workspace_id json_pattern after_id:uuid after_line:integer limit',
  'import_id:uuid line entry:text',
)`
  select i.task_id as import_id, i.position as line, (i.item -> 'entry')::text as entry from task_items i
  join tasks t on t.workspace_id = i.workspace_id and t.id = i.task_id and t.kind in ('submissions.import', 'invitations.send')
  where i.workspace_id = $workspace_id and (i.task_id, i.position) > ($after_id, $after_line) and (i.item -> 'entry')::text ~* $json_pattern
  order by import_id, line limit $limit`;

/** Deletes lines of imports. `import_ids` and `lines` correspond by position. */
const deleteWaitingLines = statement('workspace_id import_ids:uuids lines:integers', 'line')`
  delete from task_items i using unnest($import_ids, $lines) as given (import_id, line)
  where i.workspace_id = $workspace_id and i.task_id = given.import_id and i.position = given.line
  returning i.position as line`;

/** Deletes import problems whose message contains the term. */
const clearImportProblems = statement('workspace_id json_pattern word_pattern:text', '')`
  update tasks
     set problems = (select coalesce(jsonb_agg(problem order by place), '[]')
                       from jsonb_array_elements(problems) with ordinality as listed (problem, place)
                      where problem ->> 'message' !~* $word_pattern)
  where workspace_id = $workspace_id and problems::text ~* $json_pattern`;

/** Finds a batch of unclaimed uploads whose names may contain the term. */
const findLooseFiles = statement('workspace_id pattern:text after limit', 'id filename')`
  select id, filename from files
  where workspace_id = $workspace_id and id > $after and submission_id is null and held_id is null and filename ~* $pattern
  order by id limit $limit`;

/**
 * Deletes receipts of erasures after each workspace's retention period for audit entries, together with the
 * entries that name them.
 */
export const deleteOldErasures = statement('now limit', 'id')`
  /* sweep: across workspaces */
  delete from tasks where (workspace_id, id) in (
    select t.workspace_id, t.id from workspaces w cross join lateral (
      select workspace_id, id from tasks
       where workspace_id = w.id and kind = 'people.erase'
         and finished_at < $now - make_interval(secs => w.audit_days * 86400)
       order by id limit $limit) t
    limit $limit)
  returning id`;

/** Reads a batch of unsent emails, whose contents are sealed. */
const readSealedMails = statement('workspace_id after limit', 'id content')`
  select id, content from mails
  where workspace_id = $workspace_id and id > $after and content is not null order by id limit $limit`;

export const eraseJobKind = 'people.erase';

/** The number of records per step: small enough that no other transaction waits long for its locks. */
const stepItems = 100;
/** The number of rows per statement, because there may be many rows to check. */
const windowRows = 200;

export type EraseServices = FileServices & { vault: Vault; wakeQueue: () => void };

export type EraseRequest = {
  q: string;
  match: MatchKind;
  what: ErasureScope;
  /** Ids of records that belong to another person. */
  except: readonly string[];
  /** The number of records that the caller saw and confirmed. */
  expected?: number | undefined;
  by: Actor;
};

/**
 * Starts erasing the records of a person that exist now. A job erases exactly these, step by step. If there
 * are none, the receipt says so.
 * @returns the id of the erasure.
 * @throws ApiError conflict if the number of records differs from the expected one or exceeds the limit.
 */
export async function startErasing(
  { database, vault, wakeQueue }: Omit<EraseServices, 'storage'>,
  workspaceId: string,
  { q, match, what, except, expected, by }: EraseRequest,
): Promise<string> {
  const found = await findPersonRecords(database, workspaceId, parsePersonSearch(q), match);
  if (found.isPartial)
    throw new ApiError(
      'conflict',
      `More than ${mostPersonRecords} records were found. Enter a more specific term.`,
    );
  const records = found.records.filter(({ id }) => !except.includes(id));
  if (expected !== undefined && expected !== records.length)
    throw new ApiError(
      'conflict',
      `You confirmed ${expected} records, but now there are ${records.length}. Nothing was erased. Check the records and confirm again.`,
    );
  const id = newId();
  const task = {
    workspaceId,
    id,
    kind: 'people.erase',
    by,
    secret: vault.seal('erasures', q),
    input: { what } satisfies ErasureInput,
    result: { gone: {}, list_hash: hashErasureList(records) } satisfies ErasureResult,
    items: batchesOf(records),
    total: records.length,
  } as const;
  await transaction(database, (client) =>
    createTask(client, task, { kind: eraseJobKind, lane: `${eraseJobKind} ${workspaceId}` }),
  );
  wakeQueue();
  return id;
}

/** Records of one kind and form that one step erases. */
type Batch = { kind: ErasureItemKind; form_id: string | null; ids: string[] };

const batchesOf = (
  items: readonly { kind: ErasureItemKind; form_id: string | null; id: string }[],
): Batch[] =>
  [...Map.groupBy(items, ({ kind, form_id }) => `${kind} ${form_id}`).entries()]
    .toSorted(([one], [other]) => (one < other ? 1 : -1))
    .flatMap(([, alike]) => {
      const { kind, form_id } = alike[0]!;
      const ids = alike.map(({ id }) => id).toSorted();
      const batches: Batch[] = [];
      for (let at = 0; at < ids.length; at += stepItems)
        batches.push({ kind, form_id, ids: ids.slice(at, at + stepItems) });
      return batches;
    });

/** Runs one step of an erasure in one transaction, until its list is empty. */
export async function eraseStep(context: EraseServices, job: Job): Promise<void> {
  const { workspaceId, id } = job;
  const key = { workspace_id: workspaceId, id };
  const [first] = await findFirstTaskItem(context.database, key);
  const waiting = first?.item as Batch | undefined;
  // Files are deleted before the transaction; after a crash, deleting them again is harmless.
  if (waiting?.kind === 'file') await removeMarkedFiles(context, workspaceId, waiting.ids);
  await runTaskStep<Batch>(context, job, 1, async (client, { task, items: [batch], at }) => {
    const { what } = task.input as ErasureInput;
    const result = task.result as ErasureResult;
    const search = parsePersonSearch(context.vault.unseal('erasures', task.secret!));
    if (!batch) {
      const gone = addCounts(result.gone, await eraseUnlisted(context, client, workspaceId, search));
      const receipt = {
        id,
        what,
        created_at: task.created_at,
        finished_at: at,
        gone,
        list_hash: result.list_hash,
      };
      return { result: { ...result, gone, hash: hashOfReceipt(receipt) } };
    }
    const { kind, form_id, ids } = batch;
    const place = { workspaceId, formId: form_id ?? minimumId };
    const step = await works[kind](client, place, ids, { what, search });
    const files = step.fileIds.map((file) => ({ kind: 'file', form_id: null, id: file }) as const);
    await addTaskItems(client, { ...key, items: JSON.stringify(batchesOf(files)) });
    return {
      done: kind === 'file' ? 0 : ids.length,
      result: { ...result, gone: addCounts(result.gone, step.gone) },
      isWaking: step.deliveries > 0,
    };
  });
}

type Step = Omit<ErasureOutcome, 'gone'> & { gone: ErasedCounts };
type Work = (
  db: Queryable,
  place: { workspaceId: string; formId: string },
  ids: string[],
  options: { what: ErasureScope; search: PersonSearch },
) => Promise<Step>;

const stepOf = (gone: ErasedCounts, fileIds: string[] = []): Step => ({ gone, fileIds, deliveries: 0 });

const works: Readonly<Record<ErasureItemKind, Work>> = {
  submission: (db, place, ids, { what, search }) =>
    what === 'identity' ? eraseIdentity(db, place, ids, search.isPartOf) : eraseSubmissions(db, place, ids),
  async spam(db, { workspaceId, formId }, ids) {
    const files = await listSpamFiles(db, { workspace_id: workspaceId, held_ids: ids });
    const gone = await deleteSpam(db, { workspace_id: workspaceId, form_id: formId, ids });
    return stepOf(
      { spam: gone.length, files: files.length },
      files.map(({ id }) => id),
    );
  },
  async invitation(db, { workspaceId }, ids) {
    return stepOf(onlyRow(await deleteInvitations(db, { workspace_id: workspaceId, ids }))!);
  },
  async mail(db, { workspaceId }, ids) {
    const gone = await deleteMails(db, { workspace_id: workspaceId, ids });
    return stepOf({ mails: gone.length });
  },
  async event(db, { workspaceId }, ids) {
    return stepOf(
      onlyRow(await deleteEventsOfSubmissions(db, { workspace_id: workspaceId, submission_ids: ids }))!,
    );
  },
  file: async () => stepOf({}),
};

/**
 * Erases data that is not in the list of records, as the last step: lines of imports, unclaimed uploads and
 * contents of sealed emails.
 */
async function eraseUnlisted(
  context: EraseServices,
  client: Queryable,
  workspaceId: string,
  search: PersonSearch,
): Promise<ErasedCounts> {
  const workspace = { workspace_id: workspaceId };
  const filter = { ...workspace, json_pattern: search.json_pattern };
  // PostgreSQL also finds the term within longer words, which belong to other people.
  const waiting = await collectMatching<{ import_id: string; line: number; entry: string }>(
    (last) =>
      findWaitingLines(client, {
        ...filter,
        after_id: last?.import_id ?? minimumId,
        after_line: last?.line ?? 0,
        limit: windowRows,
      }),
    (line) => containsPerson(line.entry, search),
  );
  const lines = await deleteWaitingLines(client, {
    ...workspace,
    import_ids: waiting.map(({ import_id }) => import_id),
    lines: waiting.map(({ line }) => line),
  });
  await clearImportProblems(client, { ...filter, word_pattern: search.word_pattern });
  const { pattern } = search;
  const loose = await collectMatching<{ id: string; filename: string }>(
    (last) =>
      findLooseFiles(client, { ...workspace, pattern, after: last?.id ?? minimumId, limit: windowRows }),
    ({ filename }) => search.isMatch(filename) || search.isMatch(parse(filename).name),
  );
  await discardFiles(
    context,
    workspaceId,
    loose.map((file) => file.id),
  );
  const mails = await collectMatching<{ id: string; content: Buffer }>(
    (last) => readSealedMails(client, { ...workspace, after: last?.id ?? minimumId, limit: windowRows }),
    ({ content }) => containsPerson(unsealMail(context.vault, content), search),
  );
  await deleteMails(client, { ...workspace, ids: mails.map((mail) => mail.id) });
  // Deletes all stored responses to requests with an idempotency key, because any may contain the person's
  // data. They are stored for only a day anyway.
  const requests = await clearStoredResponses(client, workspace);
  return {
    import_lines: lines.length,
    files: loose.length,
    mails: mails.length,
    kept_requests: requests.length,
  };
}

const containsPerson = (json: string, { isMatch }: PersonSearch): boolean =>
  containsMatch(JSON.parse(json), isMatch);

/** Reads rows batch by batch and returns those that match. */
async function collectMatching<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
  isMeant: (row: Row) => boolean,
): Promise<Row[]> {
  const found: Row[] = [];
  let last: Row | undefined;
  for (;;) {
    const rows = await read(last);
    found.push(...rows.filter(isMeant));
    if (rows.length < windowRows) return found;
    last = rows.at(-1);
  }
}

/**
 * Returns JSON null if the content was sealed with another key: it can't be read, and the email is never
 * sent.
 */
function unsealMail(vault: Vault, content: Buffer): string {
  try {
    return vault.unseal('mails', content);
  } catch {
    return 'null';
  }
}
