import type { Settings } from '#ast/settings.ts';
import { columns, json, jsonb, nullable, statement, word } from '#kit/statement.ts';
import { insertedLine, lineParameters } from '#workspaces/audit/queries.ts';
import { sentStructure } from './structure-columns.ts';

/** Specification, "Form status". */
export type FormStatus = 'draft' | 'published' | 'archived';
export const formStatuses = ['draft', 'published', 'archived'] as const satisfies FormStatus[];

/** The columns of every answer about a form. */
export const formColumns = columns('id workspace_id name description created_at updated_at published_at?', {
  status: word<FormStatus>(),
});

/**
 * A form, its first version, the way to it from its id alone, the languages its answers will be searched in, and its line
 * in the audit log: all of it or nothing, in one round trip.
 */
export const insertForm = statement(
  'insert_form',
  [
    'workspace_id id name description password_hash? languages structure:jsonText created_at',
    'created_by?',
    { status: word<FormStatus>(), settings: jsonb<Settings>(), fields: json<object>() },
    lineParameters,
  ],
  formColumns,
  `with form as (
     insert into forms (workspace_id, id, name, description, status, settings, password_hash, version, created_at, updated_at, published_at)
     values ($workspace_id, $id, $name, $description, $status, $settings, $password_hash, 1, $created_at, $created_at,
             case when $status = 'published' then $created_at end)
     returning *),
   version as (
     insert into form_versions (workspace_id, form_id, version, name, structure, settings, fields, created_at, created_by)
     select workspace_id, id, version, name, $structure, settings, $fields, created_at, $created_by from form),
   lookup as (
     insert into form_lookup (form_id, workspace_id) select id, workspace_id from form),
   language as (
     insert into search_languages (workspace_id, language) select $workspace_id, unnest($languages) on conflict do nothing),
   segment as (
     insert into search_segments (workspace_id, first_id)
     select $workspace_id, '00000000-0000-0000-0000-000000000000'
     where not exists (select from search_segments where workspace_id = $workspace_id) on conflict do nothing),
   line as (
     ${insertedLine('form')})
   select id, workspace_id, name, description, status, created_at, updated_at, published_at from form`,
);

/**
 * A live change: the next version becomes the form. Statement snapshots make two updates at once take turns, so a
 * structure is never mixed. published_at is the time of the first publication since the form was a draft.
 */
export const updateForm = statement(
  'update_form',
  [
    'workspace_id id name description changes_password:boolean password_hash? languages',
    'structure:jsonText created_by? unchanged? now',
    { status: nullable(word<FormStatus>()), settings: nullable(jsonb<Settings>()), fields: json<object>() },
  ],
  'id',
  `with form as (
     update forms set
       name = $name, description = $description, version = version + 1,
       status = coalesce($status, status), settings = coalesce($settings, settings),
       password_hash = case when $changes_password then $password_hash else password_hash end,
       updated_at = greatest($now, updated_at + interval '1 ms'),
       published_at = case when coalesce($status, status) = 'published' and (status <> 'published' or published_at is null)
                           then $now else published_at end
     where workspace_id = $workspace_id and id = $id and deleted_at is null
       and ($unchanged is null or updated_at = any ($unchanged))
     returning *),
   version as (
     insert into form_versions (workspace_id, form_id, version, name, structure, settings, fields, created_at, created_by)
     select workspace_id, id, version, name, $structure, settings, $fields, $now, $created_by from form),
   language as (
     insert into search_languages (workspace_id, language)
     select workspace_id, unnest($languages) from form on conflict do nothing)
   select id from form`,
);

/** How many submissions the form `f` has. */
export const submissionCount = `(
  select coalesce(sum(count), 0)::bigint from submission_counts c
  where c.workspace_id = f.workspace_id and c.form_id = f.id)`;

export const findForm = statement(
  'find_form',
  'workspace_id id',
  ['submission_count', { settings: jsonb<Settings>(), structure: sentStructure }, formColumns],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          f.settings, v.structure, ${submissionCount} as submission_count
   from forms f join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`,
);

/** Of a form that is there. */
export const findFormSettings = statement(
  'find_form_settings',
  'workspace_id id',
  { settings: jsonb<Settings>() },
  'select settings from forms where workspace_id = $workspace_id and id = $id and deleted_at is null',
);

/** One page, newest first; of these forms only where some are named. */
export const listForms = statement(
  'list_forms',
  ['workspace_id form_ids? below_id limit offset', { status: nullable(word<FormStatus>()) }],
  ['submission_count', formColumns],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          ${submissionCount} as submission_count
   from forms f
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($status is null or f.status = $status)
     and ($form_ids is null or f.id = any ($form_ids)) and f.id < $below_id
   order by f.id desc limit $limit offset $offset`,
);

export const countForms = statement(
  'count_forms',
  ['workspace_id form_ids?', { status: nullable(word<FormStatus>()) }],
  'total',
  `select count(*) as total from forms
   where workspace_id = $workspace_id and deleted_at is null and ($status is null or status = $status)
     and ($form_ids is null or id = any ($form_ids))`,
);

/** From here on the form answers 404 everywhere; what it held is removed behind (src/submissions/remove-form.ts). */
export const markFormDeleted = statement(
  'mark_form_deleted',
  'workspace_id id unchanged? now',
  'id',
  `update forms set deleted_at = $now
   where workspace_id = $workspace_id and id = $id and deleted_at is null
     and ($unchanged is null or updated_at = any ($unchanged)) returning id`,
);

/** The last step of a removal: the form's row, and with it its versions, webhooks, events and counts. */
export const deleteFormRow = statement(
  'delete_form_row',
  'workspace_id id',
  'id',
  `delete from forms where workspace_id = $workspace_id and id = $id and deleted_at is not null returning id`,
);

/** A feed that nobody reads for so long is off, and records nothing. */
export const feedLasts = "interval '30 days'";
/** Of `feeds`: whether it is on. */
export const isFeedRead = `feeds.read_at > now() - ${feedLasts}`;

/** What a visitor's request needs to know of a form, by its id alone; the structure is read once per version. */
export const findLiveForm = statement(
  'find_live_form',
  'id',
  [
    'workspace_id name version published_at? password_hash? has_listeners:boolean',
    { status: word<FormStatus>(), settings: jsonb<Settings>() },
  ],
  `select f.workspace_id, f.name, f.status, f.settings, f.version, f.published_at, f.password_hash,
          exists (select from webhooks w where w.workspace_id = f.workspace_id and w.form_id = f.id)
            or exists (select from feeds where feeds.workspace_id = f.workspace_id and ${isFeedRead}) as has_listeners
   from form_lookup l join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
   where l.form_id = $id and f.deleted_at is null`,
);

export const findFormVersion = statement(
  'find_form_version',
  'workspace_id form_id version',
  { structure: sentStructure, fields: json<object>() },
  `select structure, fields from form_versions
   where workspace_id = $workspace_id and form_id = $form_id and version = $version`,
);

/** A form, kept from changing until the transaction ends. What is read of it in later statements is as it is then. */
export const lockForm = statement(
  'lock_form',
  'workspace_id id',
  ['version updated_at', { status: word<FormStatus>() }],
  `select status, version, updated_at from forms
   where workspace_id = $workspace_id and id = $id and deleted_at is null for update`,
);

/** Status alone, without a version: what visitors would see did not change. published_at as in update_form. */
export const setFormStatus = statement(
  'set_form_status',
  ['workspace_id id now', { status: word<FormStatus>() }],
  'id',
  `update forms set
     status = $status, updated_at = greatest($now, updated_at + interval '1 ms'),
     published_at = case when $status = 'published' and (status <> 'published' or published_at is null)
                         then $now else published_at end
   where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`,
);

/** The password that settings.access may ask for; null for none. It is part of no version. */
export const setFormPassword = statement(
  'set_form_password',
  'workspace_id id password_hash? now',
  'id',
  `update forms set password_hash = $password_hash, updated_at = greatest($now, updated_at + interval '1 ms')
   where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`,
);

/** One page of a form's versions, newest first. */
export const listVersions = statement(
  'list_versions',
  'workspace_id form_id below_version:integer limit offset',
  'version name created_at created_by? is_live',
  `select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   left join users u on u.id = v.created_by
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
     and v.version < $below_version
   order by v.version desc limit $limit offset $offset`,
);

/** Versions are never removed alone, so the live one's number is how many there are; no row for an absent form. */
export const countVersions = statement(
  'count_versions',
  'workspace_id form_id',
  'total:integer',
  `select version as total from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null`,
);

export const findVersion = statement(
  'find_version',
  'workspace_id form_id version',
  [
    'version name created_at created_by? is_live',
    { structure: sentStructure, settings: nullable(jsonb<Settings>()) },
  ],
  `select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live, v.structure, v.settings
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   left join users u on u.id = v.created_by
   where f.workspace_id = $workspace_id and f.id = $form_id and v.version = $version and f.deleted_at is null`,
);
