import { workspaceLimits } from '../limits.ts';
import type { FormStatus } from '#forms/queries.ts';
import {
  type Column,
  integer,
  jsonb,
  nullable,
  statement,
  text,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';
import type { Retention } from '#workspaces/retention/rules.ts';

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
const linesAtOnce = workspaceLimits.recordLines;

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
