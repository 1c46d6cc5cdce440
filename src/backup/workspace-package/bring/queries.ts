import type { Form } from '#ast/tree.ts';
import type { Settings } from '#ast/settings.ts';
import type { FormStatus } from '#forms/queries.ts';
import {
  here,
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
     select $workspace_id, id, $form_id, terms from words ${here}),
   counted as (
     insert into submission_counts as c (workspace_id, form_id, status, slot, count)
     select workspace_id, form_id, status, 0, count(*) from made ${here} where trashed_at is null group by workspace_id, form_id, status
     on conflict (workspace_id, form_id, status, slot) do update set count = c.count + excluded.count)
   select`,
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
