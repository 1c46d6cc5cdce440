import type { Answers } from '#ast/answers.ts';
import {
  boolean,
  integer,
  json,
  nullable,
  orNothing,
  statement,
  text,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import { formTree } from '#forms/structure-columns.ts';

/** Of a row, the places where it may say it, each with what stands there. */
export type Said = readonly (readonly [place: string, value: unknown])[];

/** What of JSON may say it, by its names. */
const eachOf = (json: string): string =>
  `json_each(${json}) where ${json}::text ~* $json_pattern and value::text ~* $json_pattern`;

const formOf = 'left join forms v on v.workspace_id = l.workspace_id and v.id = l.form_id';
const versionOf = `join form_versions v
         on v.workspace_id = l.workspace_id and v.form_id = l.form_id and v.version = l.version`;

/**
 * Whoever is looked for is looked for in everything: in windows of so many rows, and of so many bytes that these say, each a
 * statement, so that none takes long or much memory. Of a row no more comes back than the places where it may be said.
 * `reached` is the last row of the window, of `looked`, also where nothing is found in it; no row: there is nothing behind `after`.
 * @param from a table `t` with a condition. @param size what a row of it says, in bytes. @param form joins where `l`, a row of the window, has its form `v` from.
 * @param said selects `place` and `value` of `l`. @param told the facts of `l`.
 */
const lookingIn = (
  name: string,
  { from, size, form, said, told }: { from: string; size: string; form: string; said: string; told?: string },
) =>
  statement(
    `people.look_in_${name}`,
    {
      workspace_id: uuid,
      after: uuid,
      limit: integer,
      size: integer,
      ...(said.includes('$pattern') && { pattern: text }),
      ...(said.includes('$json_pattern') && { json_pattern: text }),
    },
    [
      'reached looked:bigint',
      orNothing({
        id: uuid,
        created_at: timestamp,
        status: nullable(word<SubmissionStatus>()),
        is_trashed: boolean,
        form_id: nullable(uuid),
        form_name: nullable(text),
        said: json<Said>(),
      }),
    ],
    `with sized as (
       select x.*, sum(x.size) over (order by x.id) - x.size as before
         from (select t.*, ${size} as size from ${from} and t.workspace_id = $workspace_id and t.id > $after
                order by t.id limit $limit) x),
     looked as materialized (select * from sized where before < $size)
     select reached.id as reached, reached.looked, hit.*
       from (select id, count(*) over () as looked from looked order by id desc limit 1) reached
       left join (
         select ${told ?? 'l.id, l.created_at, null::text as status, false as is_trashed'}, l.form_id, v.name as form_name, s.said
           from looked l ${form}
          cross join lateral (select json_agg(json_build_array(place, value)) as said from (${said}) places) s
          where s.said is not null) hit on true`,
  );

/** Submissions, wherever they lie: by answers, reference values, tags, notes, and what stood there before an edit. */
export const lookInSubmissions = lookingIn('submissions', {
  from: 'submissions t where true',
  size: `octet_length(t.answers::text) + coalesce((
           select sum(octet_length(c.changes::text)) from submission_changes c
            where c.workspace_id = t.workspace_id and c.submission_id = t.id), 0)`,
  form: versionOf,
  told: 'l.id, l.created_at, l.status, l.trashed_at is not null as is_trashed',
  said: `select coalesce(v.fields -> key ->> 'label', key) as place, value from ${eachOf('l.answers')}
         union all
         select 'Reference ' || key, value from ${eachOf('l.reference')}
         union all
         select 'Tags', to_json(tag) from unnest(l.tags) tag where tag ~* $pattern
         union all
         select 'Notes', to_json(n.text) from submission_notes n
          where n.workspace_id = l.workspace_id and n.submission_id = l.id and n.text ~* $pattern
         union all
         select 'History', c.changes from submission_changes c
          where c.workspace_id = l.workspace_id and c.submission_id = l.id and c.changes::text ~* $json_pattern`,
});

/** Answers in spam boxes. */
export const lookInHeld = lookingIn('held', {
  from: 'held_submissions t where true',
  size: 'octet_length(t.answers::text)',
  form: versionOf,
  said: `select coalesce(v.fields -> key ->> 'label', key) as place, value from ${eachOf('l.answers')}
         union all
         select 'Reference ' || key, value from ${eachOf('l.reference')}`,
});

/** Invitations, by address, name, reference values and what they fill in. */
export const lookInInvitations = lookingIn('invitations', {
  from: 'invitations t where true',
  size: 'octet_length(t.prefill::text)',
  form: formOf,
  said: `select 'Address' as place, to_json(l.email) as value where l.email ~* $pattern
         union all
         select 'Name', to_json(l.name) where l.name ~* $pattern
         union all
         select 'Reference', l.reference::json where l.reference::text ~* $json_pattern
         union all
         select 'Filled in beforehand', l.prefill::json where l.prefill::text ~* $json_pattern`,
});

/** Mails, by whom they are for and their subject; what is between a person and the service is theirs alone. */
export const lookInMails = lookingIn('mails', {
  from: 'mails t where not t.is_private',
  size: 'octet_length(t.subject)',
  form: formOf,
  said: `select 'Recipient' as place, to_json(l.recipient) as value where l.recipient ~* $pattern
         union all
         select 'Subject', to_json(l.subject) where l.subject ~* $pattern`,
});

/** What webhooks and the feed were told of submissions that are gone for good. `id` is that of the submission. */
export const lookInEvents = lookingIn('events', {
  from: 'events t where not t.is_test',
  size: 'octet_length(t.snapshot::text)',
  form: formOf,
  told: 'l.submission_id as id, l.occurred_at as created_at, null::text as status, false as is_trashed',
  said: `select 'What was told' as place, l.snapshot -> 'submission' as value
          where l.snapshot::text ~* $json_pattern
            and not exists (
              select from submissions s where s.workspace_id = l.workspace_id and s.id = l.submission_id)`,
});

// What is given to a person ---------------------------------------------------------------------------------

/** A submission with all that is kept of it, for the archive. */
export const findSubmissionToPack = statement(
  'people.find_submission_to_pack',
  'workspace_id id',
  { facts: json<object>(), structure: formTree, answers: json<Answers>() },
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
     v.structure, s.answers
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   where s.workspace_id = $workspace_id and s.id = $id`,
);

/** Answers of a spam box, for the archive. */
export const findHeldToPack = statement(
  'people.find_held_to_pack',
  'workspace_id id',
  { facts: json<object>(), structure: formTree, answers: json<Answers>() },
  `select
     json_build_object('id', h.id, 'form_id', h.form_id, 'form_name', v.name, 'reason', h.reason, 'created_at', h.created_at,
       'answers', h.answers, 'fields', v.fields, 'reference', h.reference) as facts,
     v.structure, h.answers
   from held_submissions h
   join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
   where h.workspace_id = $workspace_id and h.id = $id`,
);

/** An invitation, for the archive. */
export const findInvitationToPack = statement(
  'people.find_invitation_to_pack',
  'workspace_id id',
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
  'workspace_id id',
  { facts: json<object>() },
  `select json_build_object('id', id, 'form_id', form_id, 'kind', kind, 'recipient', recipient, 'subject', subject,
     'state', state, 'created_at', created_at, 'settled_at', settled_at) as facts
   from mails where workspace_id = $workspace_id and id = $id`,
);

/** The events of a submission that is gone, for the archive. */
export const findEventsToPack = statement(
  'people.find_events_to_pack',
  'workspace_id id',
  { facts: json<object>() },
  `select json_build_object('submission_id', $id, 'events', json_agg(json_build_object('event', kind,
     'occurred_at', occurred_at, 'told', snapshot) order by id)) as facts
   from events where workspace_id = $workspace_id and submission_id = $id having count(*) > 0`,
);

/** The files of a submission, or of answers in a spam box. */
export const listFilesToPack = statement(
  'people.list_files_to_pack',
  'workspace_id id',
  'id filename size',
  `select id, filename, size from files
   where workspace_id = $workspace_id and (submission_id = $id or held_id = $id) order by id`,
);
