import type { Form } from '#ast/tree.ts';
import type { Settings } from '#ast/settings.ts';
import type { FormStatus } from '#forms/queries.ts';
import {
  bigint,
  boolean,
  type Column,
  integer,
  json,
  jsonb,
  jsonText,
  nullable,
  statement,
  text,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import { searchTerms, segmentDocuments } from '#submissions/queries.ts';
import type { Retention } from '#workspaces/retention/rules.ts';
import type { Counts } from './shapes.ts';

// What is packed --------------------------------------------------------------------------------------------

export const selectFormsToPack = statement(
  'workspace_package.select_forms',
  { workspace_id: uuid },
  {
    id: uuid,
    status: word<FormStatus>(),
    updated_at: timestamp,
    published_at: nullable(timestamp),
    retention: jsonb<Retention>(),
  },
  `select id, status, updated_at, published_at, retention from forms
   where workspace_id = $workspace_id and deleted_at is null order by id`,
);

/** So many bytes of lines are read at once, or one line. */
const readAtOnce = 2 * 1024 * 1024;
/** And so many lines. */
const linesAtOnce = 500;

/**
 * Some records of a form behind a key, in its order, as the text of their JSON.
 * @param source of the lines: a select of `key` and `line`, which is cut behind so many; `$after` is the key.
 */
const toPack = (name: string, after: Column<string>, source: string) =>
  statement(
    `workspace_package.select_${name}`,
    { workspace_id: uuid, form_id: uuid, after, last_version: integer },
    { key: text, line: text },
    `select key::text as key, line from (
       select key, line, sum(octet_length(line)) over (order by key) as so_far, row_number() over (order by key) as number
       from (${source} limit ${linesAtOnce}) packed
       where $last_version > 0) counted
     where so_far <= ${readAtOnce} or number = 1
     order by key`,
  );

const ofForm = (row: string): string => `${row}.workspace_id = $workspace_id and ${row}.form_id = $form_id`;
const ofSubmission = (row: string): string =>
  `${row}.workspace_id = s.workspace_id and ${row}.submission_id = s.id`;
const listed = (columns: string, from: string, order: string): string =>
  `(select coalesce(json_agg(json_build_object(${columns}) order by ${order}), '[]') from ${from})`;
const fields = (row: string, ...names: readonly string[]): string =>
  names.map((name) => `'${name}', ${row}.${name}`).join(', ');
const filesOf = (column: 'submission_id' | 'held_id'): string =>
  `'files', ${listed(fields('f', 'id', 'element', 'filename', 'content_type', 'size', 'created_at'), `files f where f.workspace_id = s.workspace_id and f.${column} = s.id`, 'f.id')}`;
/** A version that came after the form was read has its answers read as those of the last that is packed. */
const answeredFields = `${fields('s', 'id', 'answers', 'reference', 'language', 'created_at')}, 'version', least(s.version, $last_version),
  'invitation_id', (select i.id from invitations i where i.workspace_id = s.workspace_id and i.id = s.key)`;

const day: Column<string> = { pg: 'date' };

/** By the kind of record; `$last_version` is the newest version that is packed. */
export const selectToPack = {
  batches: toPack(
    'batches',
    uuid,
    `select b.id as key, json_build_object(${fields('b', 'id', 'subject', 'message', 'reminder_subject', 'reminder_message', 'remind_after_days', 'is_mailed', 'expires_at', 'created', 'skipped', 'created_at')})::text as line
     from invitation_batches b where ${ofForm('b')} and b.id > $after order by b.id`,
  ),
  invitations: toPack(
    'invitations',
    uuid,
    `select i.id as key, json_build_object(${fields('i', 'id', 'batch_id', 'email', 'name', 'reference', 'prefill', 'expires_at', 'created_at', 'sent_at', 'opened_at', 'started_at', 'bounced_at', 'revoked_at', 'mail_error', 'reminders', 'reminded_at')})::text as line
     from invitations i where ${ofForm('i')} and i.id > $after order by i.id`,
  ),
  submissions: toPack(
    'submissions',
    uuid,
    `select s.id as key, json_build_object(${answeredFields}, ${fields('s', 'status', 'tags', 'updated_at', 'completed_at', 'trashed_at')},
       'notes', ${listed(fields('n', 'id', 'text', 'created_at', 'updated_at'), `submission_notes n where ${ofSubmission('n')}`, 'n.id')},
       'changes', ${listed(fields('c', 'id', 'kind', 'through', 'changed_at', 'changes'), `submission_changes c where ${ofSubmission('c')}`, 'c.id')},
       ${filesOf('submission_id')})::text as line
     from submissions s where ${ofForm('s')} and s.id > $after order by s.id`,
  ),
  held: toPack(
    'held',
    uuid,
    `select s.id as key, json_build_object(${answeredFields}, ${fields('s', 'reason', 'origin')}, ${filesOf('held_id')})::text as line
     from held_submissions s where ${ofForm('s')} and s.id > $after order by s.id`,
  ),
  views: toPack(
    'views',
    uuid,
    `select v.id as key, json_build_object(${fields('v', 'id', 'name', 'query', 'columns', 'created_at', 'updated_at')})::text as line
     from saved_views v where ${ofForm('v')} and v.id > $after order by v.id`,
  ),
  visits: toPack(
    'visits',
    day,
    `select v.day as key, string_agg(json_build_object(${fields('v', 'day', 'kind', 'name', 'count')})::text, chr(10) order by v.kind, v.name) as line
     from visit_counts v where ${ofForm('v')} and v.day > $after group by v.day order by v.day`,
  ),
} as const;

export const selectUnsubscribed = statement(
  'workspace_package.select_unsubscribed',
  { workspace_id: uuid },
  { address_key: text, created_at: timestamp },
  `select address_key, created_at from unsubscribed_addresses where workspace_id = $workspace_id order by address_key`,
);

// What is brought -------------------------------------------------------------------------------------------

/** A form that was just made is as it was, and nobody finds it until all of its workspace is there. */
export const hideForm = statement(
  'workspace_package.hide_form',
  {
    workspace_id: uuid,
    id: uuid,
    status: word<FormStatus>(),
    updated_at: timestamp,
    published_at: nullable(timestamp),
    retention: jsonb<Retention>(),
    hidden_at: timestamp,
  },
  {},
  `update forms set status = $status, updated_at = $updated_at, published_at = $published_at, retention = $retention, deleted_at = $hidden_at
   where workspace_id = $workspace_id and id = $id`,
);

/** A version as answers to it are read, hidden or not. */
export const findPinnedVersion = statement(
  'workspace_package.find_pinned_version',
  { workspace_id: uuid, form_id: uuid, version: integer },
  { structure: json<Form>(), settings: jsonb<Settings>() },
  `select v.structure, f.settings from form_versions v join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id
   where v.workspace_id = $workspace_id and v.form_id = $form_id and v.version = $version`,
);

const intoForm = { workspace_id: uuid, form_id: uuid, rows: jsonText } as const;

/** What a record is in a statement, by its name: PostgreSQL's types. */
type Types = Readonly<Record<string, string>>;
const recordset = (parameter: string, types: Types, row = 'r'): string =>
  `json_to_recordset($${parameter}) as ${row} (${Object.entries(types)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})`;
const named = (types: Types): string => Object.keys(types).join(', ');

/** Writes records of a form that are rows of one table. */
const toWrite = (name: string, table: string, types: Types) =>
  statement(
    `workspace_package.insert_${name}`,
    intoForm,
    {},
    `insert into ${table} (workspace_id, form_id, ${named(types)})
     select $workspace_id, $form_id, ${named(types)} from ${recordset('rows', types)}`,
  );

const answeredTypes = {
  id: 'uuid',
  version: 'integer',
  answers: 'json',
  reference: 'json',
  language: 'text',
  key: 'uuid',
  created_at: 'timestamptz',
} as const;
const submissionTypes = {
  ...answeredTypes,
  status: 'text',
  has_files: 'boolean',
  tags: 'text[]',
  updated_at: 'timestamptz',
  completed_at: 'timestamptz',
  trashed_at: 'timestamptz',
} as const;
const wordTypes = {
  id: 'uuid',
  status: 'text',
  tags: 'text[]',
  language: 'text',
  subject: 'text',
  body: 'text',
};
const noteTypes = {
  submission_id: 'uuid',
  id: 'uuid',
  text: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
};
const changeTypes = {
  submission_id: 'uuid',
  id: 'uuid',
  kind: 'text',
  through: 'text',
  changed_at: 'timestamptz',
  changes: 'json',
};
const fileTypes = {
  id: 'uuid',
  element: 'text',
  filename: 'text',
  content_type: 'text',
  submission_id: 'uuid',
  held_id: 'uuid',
  created_at: 'timestamptz',
};

export const insertBatches = toWrite('batches', 'invitation_batches', {
  id: 'uuid',
  subject: 'text',
  message: 'text',
  reminder_subject: 'text',
  reminder_message: 'text',
  remind_after_days: 'integer[]',
  is_mailed: 'boolean',
  expires_at: 'timestamptz',
  total: 'integer',
  created: 'integer',
  skipped: 'integer',
  created_at: 'timestamptz',
});
export const insertBroughtInvitations = toWrite('invitations', 'invitations', {
  id: 'uuid',
  batch_id: 'uuid',
  hash: 'bytea',
  email: 'text',
  address_key: 'text',
  name: 'text',
  reference: 'jsonb',
  prefill: 'jsonb',
  expires_at: 'timestamptz',
  created_at: 'timestamptz',
  sent_at: 'timestamptz',
  opened_at: 'timestamptz',
  started_at: 'timestamptz',
  bounced_at: 'timestamptz',
  revoked_at: 'timestamptz',
  mail_error: 'text',
  reminders: 'integer',
  reminded_at: 'timestamptz',
});
export const insertBroughtHeld = toWrite('held', 'held_submissions', {
  ...answeredTypes,
  reason: 'text',
  origin: 'text',
  address: 'bytea',
});
export const insertBroughtViews = toWrite('views', 'saved_views', {
  id: 'uuid',
  name: 'text',
  query: 'jsonb',
  columns: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
});
export const insertVisits = toWrite('visits', 'visit_counts', {
  day: 'date',
  kind: 'text',
  name: 'text',
  count: 'bigint',
});

/** Files whose bytes come behind: of submissions, or of the spam box. */
export const insertBroughtFiles = statement(
  'workspace_package.insert_files',
  intoForm,
  {},
  `insert into files (workspace_id, form_id, size, claimed_at, ${named(fileTypes)})
   select $workspace_id, $form_id, 0, now(), ${named(fileTypes)} from ${recordset('rows', fileTypes)}`,
);

/** Whether a file is one of a form's, and waits for its bytes. */
export const findBroughtFile = statement(
  'workspace_package.find_file',
  { workspace_id: uuid, form_id: uuid, id: uuid },
  { content_type: text },
  `select content_type from files where workspace_id = $workspace_id and form_id = $form_id and id = $id`,
);

/**
 * Submissions with their notes and histories, counted and found by their words where they are not in the trash. A segment of
 * the search index is opened where the newest is full and nothing lies behind.
 */
export const insertBroughtSubmissions = statement(
  'workspace_package.insert_submissions',
  { ...intoForm, notes: jsonText, changes: jsonText, words: jsonText, first_id: uuid },
  {},
  `with segment as (
     insert into search_segments (workspace_id, first_id)
     select $workspace_id, $first_id
     where not exists (select from search_documents d where d.workspace_id = $workspace_id and d.submission_id >= $first_id)
       and ${segmentDocuments} <= (
         select count(*) from (
           select from search_documents d
           where d.workspace_id = $workspace_id and d.submission_id >= (
             select g.first_id from search_segments g where g.workspace_id = $workspace_id order by g.first_id desc limit 1)
           limit ${segmentDocuments}) full_segment)
     on conflict do nothing),
   made as (
     insert into submissions (workspace_id, form_id, ${named(submissionTypes)})
     select $workspace_id, $form_id, ${named(submissionTypes)} from ${recordset('rows', submissionTypes)}
     returning workspace_id, form_id, id, status, trashed_at),
   noted as (
     insert into submission_notes (workspace_id, ${named(noteTypes)})
     select $workspace_id, ${named(noteTypes)} from ${recordset('notes', noteTypes)}),
   changed as (
     insert into submission_changes (workspace_id, ${named(changeTypes)})
     select $workspace_id, ${named(changeTypes)} from ${recordset('changes', changeTypes)}),
   words as materialized (
     select submission.id, ${searchTerms.replaceAll(/\$(id|language|subject|body)\b/g, 'submission.$1')} as terms
     from ${recordset('words', wordTypes, 'submission')}),
   found as (
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select $workspace_id, id, $form_id, terms from words)
   insert into submission_counts as c (workspace_id, form_id, status, slot, count)
   select workspace_id, form_id, status, 0, count(*) from made where trashed_at is null group by workspace_id, form_id, status
   on conflict (workspace_id, form_id, status, slot) do update set count = c.count + excluded.count`,
);

export const insertUnsubscribed = statement(
  'workspace_package.insert_unsubscribed',
  { workspace_id: uuid, rows: jsonText },
  {},
  `insert into unsubscribed_addresses (workspace_id, address_key, created_at)
   select $workspace_id, address_key, created_at from ${recordset('rows', { address_key: 'text', created_at: 'timestamptz' })}
   on conflict do nothing`,
);

/** From here on the forms of an import are there. */
export const showForms = statement(
  'workspace_package.show_forms',
  { workspace_id: uuid, ids: uuids },
  {},
  `update forms set deleted_at = null where workspace_id = $workspace_id and id = any ($ids)`,
);

// The imports -----------------------------------------------------------------------------------------------

/** Of an import, from the first part of its file to its end. */
export type ImportState = 'receiving' | 'running' | 'done' | 'failed';

/** Nothing where another is under way. */
export const insertWorkspaceImport = statement(
  'workspace_package.insert_import',
  { workspace_id: uuid, id: uuid, keeps_ids: boolean, requested_by: nullable(text), created_at: timestamp },
  { id: uuid },
  `insert into workspace_imports (workspace_id, id, state, keeps_ids, requested_by, created_at)
   values ($workspace_id, $id, 'receiving', $keeps_ids, $requested_by, $created_at)
   on conflict (workspace_id) where state in ('receiving', 'running') do nothing
   returning id`,
);

const importColumns = {
  id: uuid,
  state: word<ImportState>(),
  keeps_ids: boolean,
  entries: integer,
  made: jsonb<Partial<Counts>>(),
  left_out: jsonb<{ what: string; why: string }[]>(),
  form_ids: uuids,
  problem: nullable(text),
  requested_by: nullable(text),
  created_at: timestamp,
  finished_at: nullable(timestamp),
  parts: bigint,
  bytes: bigint,
} as const;
const importSelection = `select i.id, i.state, i.keeps_ids, i.entries, i.made, i.left_out, i.form_ids, i.problem, u.name as requested_by, i.created_at,
     i.finished_at, p.parts, p.bytes
   from workspace_imports i left join users u on u.id = i.requested_by
   cross join lateral (
     select count(*) as parts, coalesce(sum(bytes), 0)::bigint as bytes from workspace_import_parts p
     where p.workspace_id = i.workspace_id and p.import_id = i.id) p`;

export const findWorkspaceImport = statement(
  'workspace_package.find_import',
  { workspace_id: uuid, id: uuid },
  importColumns,
  `${importSelection} where i.workspace_id = $workspace_id and i.id = $id`,
);

/** The latest, newest first. */
export const listWorkspaceImports = statement(
  'workspace_package.list_imports',
  { workspace_id: uuid, limit: integer },
  importColumns,
  `${importSelection} where i.workspace_id = $workspace_id order by i.id desc limit $limit`,
);

/** Notes a part before its bytes are stored, so that none is left that nobody knows of. Nothing where no parts are taken any more. */
export const insertPart = statement(
  'workspace_package.insert_part',
  { workspace_id: uuid, import_id: uuid, number: integer, bytes: integer },
  { number: integer },
  `insert into workspace_import_parts (workspace_id, import_id, number, bytes)
   select workspace_id, id, $number, $bytes from workspace_imports
   where workspace_id = $workspace_id and id = $import_id and state = 'receiving'
   on conflict (workspace_id, import_id, number) do update set bytes = excluded.bytes
   returning number`,
);

export const listParts = statement(
  'workspace_package.list_parts',
  { workspace_id: uuid, import_id: uuid },
  { number: integer },
  `select number from workspace_import_parts where workspace_id = $workspace_id and import_id = $import_id order by number`,
);

/** Parts whose import is over, or was not begun within a day, or is gone with its workspace. */
export const takeIdleParts = statement(
  'workspace_package.take_idle_parts',
  { before: timestamp },
  { workspace_id: uuid, import_id: uuid, number: integer },
  `/* sweep: across workspaces */
   select p.workspace_id, p.import_id, p.number from workspace_import_parts p
   where not exists (
     select from workspace_imports i
     where i.workspace_id = p.workspace_id and i.id = p.import_id
       and (i.state = 'running' or i.state = 'receiving' and i.created_at > $before))
   limit 500`,
);

export const deletePart = statement(
  'workspace_package.delete_part',
  { workspace_id: uuid, import_id: uuid, number: integer },
  {},
  `delete from workspace_import_parts where workspace_id = $workspace_id and import_id = $import_id and number = $number`,
);

/** Nobody sent all of these files within a day. */
export const giveUpIdleImports = statement(
  'workspace_package.give_up_imports',
  { before: timestamp, problem: text, now: timestamp },
  {},
  `/* sweep: across workspaces */
   update workspace_imports set state = 'failed', problem = $problem, finished_at = $now
   where state = 'receiving' and created_at <= $before`,
);

/** The import into a workspace of which parts are awaited is over. */
export const giveUpReceiving = statement(
  'workspace_package.give_up_receiving',
  { workspace_id: uuid, problem: text, now: timestamp },
  {},
  `update workspace_imports set state = 'failed', problem = $problem, finished_at = $now
   where workspace_id = $workspace_id and state = 'receiving'`,
);

/** No row: it takes no parts, as it runs or is over. */
export const startReceived = statement(
  'workspace_package.start_import',
  { workspace_id: uuid, id: uuid },
  { id: uuid },
  `update workspace_imports set state = 'running' where workspace_id = $workspace_id and id = $id and state = 'receiving' returning id`,
);

/** One entry is taken in, for the first time; no row: another was here. */
export const advanceWorkspaceImport = statement(
  'workspace_package.advance_import',
  {
    workspace_id: uuid,
    id: uuid,
    entries: integer,
    made: jsonb<Counts>(),
    left_out: jsonText,
    form_id: nullable(uuid),
  },
  { id: uuid },
  `update workspace_imports
   set entries = $entries, made = $made, left_out = $left_out,
       form_ids = case when $form_id is null then form_ids else form_ids || $form_id end
   where workspace_id = $workspace_id and id = $id and state = 'running' and entries < $entries
   returning id`,
);

export const endWorkspaceImport = statement(
  'workspace_package.end_import',
  {
    workspace_id: uuid,
    id: uuid,
    state: word<ImportState>(),
    problem: nullable(text),
    finished_at: timestamp,
  },
  { form_ids: uuids },
  `update workspace_imports set state = $state, problem = $problem, finished_at = $finished_at
   where workspace_id = $workspace_id and id = $id and state = 'running' returning form_ids`,
);
