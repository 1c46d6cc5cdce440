import type { Form } from '#ast/tree.ts';
import type { Answers } from '#ast/answers.ts';
import {
  bigint,
  orNothing,
  boolean,
  integer,
  json,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';

/**
 * Whoever is looked for is looked for in everything: in windows of so many rows, each a statement, so that none takes long.
 * `reached` is the last row of the window, also where nothing is found in it; no row: there is nothing behind `after`.
 */
const looking = {
  workspace_id: uuid,
  after: uuid,
  limit: integer,
  pattern: text,
  json_pattern: text,
} as const;

const { pattern: _text, ...lookingInJson } = looking;
const { json_pattern: _json, ...lookingInText } = looking;

const foundColumns = { id: uuid, form_id: uuid, form_name: text, created_at: timestamp } as const;

/** @param looked selects the rows of a window, by ascending ids. @param found what is looked for in them. */
const windowOf = (looked: string, found: string): string =>
  `with looked as materialized (${looked} order by id limit $limit),
   found as (${found})
   select reached.id as reached, found.*
   from (select id from looked order by id desc limit 1) reached left join found on true`;

/** Submissions, wherever they lie: by answers, reference values, tags, notes, and what stood there before an edit. */
export const lookInSubmissions = statement(
  'people.look_in_submissions',
  looking,
  {
    reached: uuid,
    ...orNothing({
      ...foundColumns,
      status: word<SubmissionStatus>(),
      is_trashed: boolean,
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      tags: texts,
      fields: json<Record<string, { label: string }>>(),
      notes: texts,
      changes: texts,
    }),
  },
  windowOf(
    `select workspace_id, id, form_id, version, created_at, status, trashed_at, answers, reference, tags
     from submissions where workspace_id = $workspace_id and id > $after`,
    `select l.id, l.form_id, v.name as form_name, l.created_at, l.status, l.trashed_at is not null as is_trashed,
            l.answers, l.reference, l.tags, v.fields,
            array(select n.text from submission_notes n
                  where n.workspace_id = l.workspace_id and n.submission_id = l.id) as notes,
            array(select c.changes::text from submission_changes c
                  where c.workspace_id = l.workspace_id and c.submission_id = l.id) as changes
     from looked l
     join form_versions v on v.workspace_id = l.workspace_id and v.form_id = l.form_id and v.version = l.version
     where l.answers::text ~* $json_pattern or l.reference::text ~* $json_pattern
        or array_to_string(l.tags, chr(10)) ~* $pattern
        or exists (select from submission_notes n
                   where n.workspace_id = l.workspace_id and n.submission_id = l.id and n.text ~* $pattern)
        or exists (select from submission_changes c
                   where c.workspace_id = l.workspace_id and c.submission_id = l.id and c.changes::text ~* $json_pattern)`,
  ),
);

/** Answers in spam boxes. */
export const lookInHeld = statement(
  'people.look_in_held',
  lookingInJson,
  {
    reached: uuid,
    ...orNothing({
      ...foundColumns,
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      fields: json<Record<string, { label: string }>>(),
    }),
  },
  windowOf(
    `select workspace_id, id, form_id, version, created_at, answers, reference
     from held_submissions where workspace_id = $workspace_id and id > $after`,
    `select l.id, l.form_id, v.name as form_name, l.created_at, l.answers, l.reference, v.fields
     from looked l
     join form_versions v on v.workspace_id = l.workspace_id and v.form_id = l.form_id and v.version = l.version
     where l.answers::text ~* $json_pattern or l.reference::text ~* $json_pattern`,
  ),
);

/** Invitations, by address, name, reference values and what they fill in. */
export const lookInInvitations = statement(
  'people.look_in_invitations',
  looking,
  {
    reached: uuid,
    ...orNothing({ ...foundColumns, email: text, name: text, reference: text, prefill: text }),
  },
  windowOf(
    `select workspace_id, id, form_id, created_at, email, name, reference::text as reference, prefill::text as prefill
     from invitations where workspace_id = $workspace_id and id > $after`,
    `select l.id, l.form_id, f.name as form_name, l.created_at, l.email, l.name, l.reference, l.prefill
     from looked l join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
     where l.email ~* $pattern or l.name ~* $pattern or l.reference ~* $json_pattern or l.prefill ~* $json_pattern`,
  ),
);

/** Mails, by whom they are for and their subject; what is between a person and the service is theirs alone. */
export const lookInMails = statement(
  'people.look_in_mails',
  lookingInText,
  {
    reached: uuid,
    ...orNothing({
      id: uuid,
      form_id: nullable(uuid),
      form_name: nullable(text),
      created_at: timestamp,
      recipient: text,
      subject: text,
    }),
  },
  windowOf(
    `select workspace_id, id, form_id, created_at, recipient, subject from mails
     where workspace_id = $workspace_id and id > $after and not is_private`,
    `select l.id, l.form_id, f.name as form_name, l.created_at, l.recipient, l.subject
     from looked l left join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
     where l.recipient ~* $pattern or l.subject ~* $pattern`,
  ),
);

/** What webhooks and the feed were told of submissions that are gone for good. `id` is that of the submission. */
export const lookInEvents = statement(
  'people.look_in_events',
  lookingInJson,
  {
    reached: uuid,
    ...orNothing({ ...foundColumns, snapshot: text }),
  },
  windowOf(
    `select workspace_id, id, form_id, submission_id, occurred_at, snapshot::text as snapshot from events
     where workspace_id = $workspace_id and id > $after and not is_test`,
    `select l.submission_id as id, l.form_id, f.name as form_name, l.occurred_at as created_at, l.snapshot
     from looked l join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
     where l.snapshot ~* $json_pattern
       and not exists (
         select from submissions s
         where s.workspace_id = l.workspace_id and s.id = l.submission_id)`,
  ),
);

// What is given to a person ---------------------------------------------------------------------------------

/** A submission with all that is kept of it, for the archive. */
export const findSubmissionToPack = statement(
  'people.find_submission_to_pack',
  { workspace_id: uuid, id: uuid },
  {
    facts: json<object>(),
    structure: json<Form>(),
    answers: json<Answers>(),
    language: nullable(text),
  },
  `select
     json_build_object(
       'id', s.id, 'form_id', s.form_id, 'form_name', v.name, 'status', s.status, 'created_at', s.created_at,
       'updated_at', s.updated_at, 'completed_at', s.completed_at, 'trashed_at', s.trashed_at, 'language', s.language,
       'answers', s.answers, 'fields', v.fields, 'reference', s.reference, 'tags', s.tags,
       'notes', (select coalesce(json_agg(json_build_object('text', n.text, 'created_at', n.created_at) order by n.id), '[]')
                 from submission_notes n where n.workspace_id = s.workspace_id and n.submission_id = s.id),
       'history', (select coalesce(json_agg(json_build_object('kind', c.kind, 'changed_at', c.changed_at,
                     'through', c.through, 'changes', c.changes) order by c.id), '[]')
                   from submission_changes c where c.workspace_id = s.workspace_id and c.submission_id = s.id),
       'deliveries', (select coalesce(json_agg(json_build_object('event', d.kind, 'to', w.url, 'status', d.status,
                        'created_at', d.created_at, 'attempts', d.attempts) order by d.id), '[]')
                      from events e
                      join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id
                      join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
                      where e.workspace_id = s.workspace_id and e.submission_id = s.id),
       'mails', (select coalesce(json_agg(json_build_object('kind', m.kind, 'recipient', m.recipient,
                   'subject', m.subject, 'state', m.state, 'created_at', m.created_at) order by m.id), '[]')
                 from mails m
                 where m.workspace_id = s.workspace_id and m.submission_ids <> '{}' and m.submission_ids @> array[s.id])
     ) as facts,
     v.structure, s.answers, s.language
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   where s.workspace_id = $workspace_id and s.id = $id`,
);

/** Answers of a spam box, for the archive. */
export const findHeldToPack = statement(
  'people.find_held_to_pack',
  { workspace_id: uuid, id: uuid },
  { facts: json<object>(), structure: json<Form>(), answers: json<Answers>(), language: nullable(text) },
  `select
     json_build_object('id', h.id, 'form_id', h.form_id, 'form_name', v.name, 'reason', h.reason, 'created_at', h.created_at,
       'answers', h.answers, 'fields', v.fields, 'reference', h.reference) as facts,
     v.structure, h.answers, h.language
   from held_submissions h
   join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
   where h.workspace_id = $workspace_id and h.id = $id`,
);

/** An invitation, for the archive. */
export const findInvitationToPack = statement(
  'people.find_invitation_to_pack',
  { workspace_id: uuid, id: uuid },
  { facts: json<object>() },
  `select json_build_object('id', i.id, 'form_id', i.form_id, 'form_name', f.name, 'email', i.email, 'name', i.name,
     'reference', i.reference, 'prefill', i.prefill, 'created_at', i.created_at, 'sent_at', i.sent_at,
     'opened_at', i.opened_at, 'started_at', i.started_at, 'revoked_at', i.revoked_at, 'reminders', i.reminders) as facts
   from invitations i join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id
   where i.workspace_id = $workspace_id and i.id = $id`,
);

/** A mail, for the archive: of what left, what it said is not kept. */
export const findMailToPack = statement(
  'people.find_mail_to_pack',
  { workspace_id: uuid, id: uuid },
  { facts: json<object>() },
  `select json_build_object('id', id, 'form_id', form_id, 'kind', kind, 'recipient', recipient, 'subject', subject,
     'state', state, 'created_at', created_at, 'settled_at', settled_at) as facts
   from mails where workspace_id = $workspace_id and id = $id`,
);

/** The events of a submission that is gone, for the archive. */
export const findEventsToPack = statement(
  'people.find_events_to_pack',
  { workspace_id: uuid, id: uuid },
  { facts: json<object>() },
  `select json_build_object('submission_id', $id, 'events', json_agg(json_build_object('event', kind,
     'occurred_at', occurred_at, 'told', snapshot) order by id)) as facts
   from events where workspace_id = $workspace_id and submission_id = $id having count(*) > 0`,
);

/** The files of a submission, or of answers in a spam box. */
export const listFilesToPack = statement(
  'people.list_files_to_pack',
  { workspace_id: uuid, id: uuid },
  { id: uuid, filename: text, size: bigint },
  `select id, filename, size from files
   where workspace_id = $workspace_id and (submission_id = $id or held_id = $id) order by id`,
);
