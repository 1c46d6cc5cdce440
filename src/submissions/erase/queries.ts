import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { DigestMode, Settings } from '#ast/settings.ts';
import { json, jsonb, statement, word } from '#kit/statement.ts';
import { searchTerms, type SubmissionStatus } from '../queries.ts';
import { formTree } from '#forms/structure-columns.ts';

/** Submissions of a form that are about to be erased, wherever they lie, as they answered. In the order of ids, locked. */
export const lockToErase = statement(
  'erase.lock_to_erase',
  'workspace_id form_id ids',
  [
    'id completed_at? tags language? updated_at is_trashed version form_name',
    {
      status: word<SubmissionStatus>(),
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      fields: json<Record<string, FieldDescription>>(),
      structure: formTree,
      settings: jsonb<Settings>(),
    },
  ],
  `select s.id, s.status, s.completed_at, s.answers, s.reference, s.tags, s.language, s.updated_at,
          s.trashed_at is not null as is_trashed, s.version, v.fields, v.name as form_name, v.structure, f.settings
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
   order by s.id for update of s`,
);

/** The files of submissions, and how much else hangs on them and goes with their rows. */
export const countBelongings = statement(
  'erase.count_belongings',
  'workspace_id ids',
  'file_ids notes:bigint changes:bigint links:bigint',
  `select
     array(select id from files where workspace_id = $workspace_id and submission_id = any ($ids) order by id) as file_ids,
     (select count(*) from submission_notes where workspace_id = $workspace_id and submission_id = any ($ids)) as notes,
     (select count(*) from submission_changes where workspace_id = $workspace_id and submission_id = any ($ids)) as changes,
     (select count(*) from submission_links where workspace_id = $workspace_id and submission_id = any ($ids)) as links`,
);

/** The invitations that submissions came by: an invitation's id is the key of its submission. */
export const listInvitationsOf = statement(
  'erase.list_invitations_of',
  'workspace_id submission_ids',
  'id',
  `/* wherever it lies: trashed_at is not asked */
   select i.id from submissions s
   join invitations i on i.workspace_id = s.workspace_id and i.id = s.key
   where s.workspace_id = $workspace_id and s.id = any ($submission_ids)`,
);

/**
 * Removes invitations, the mails about them, and what they said where nobody else was invited with the same words.
 * @returns how many invitations and mails.
 */
export const deleteInvitations = statement(
  'erase.delete_invitations',
  'workspace_id ids',
  'invitations:bigint mails:bigint',
  `with gone as (
     delete from invitations where workspace_id = $workspace_id and id = any ($ids)
     returning form_id, batch_id, address_key, email),
   letters as (
     delete from mails m using gone
     where m.workspace_id = $workspace_id and m.form_id = gone.form_id and m.kind in ('invitation', 'reminder')
       and lower(m.recipient) in (gone.address_key, lower(gone.email))
     returning m.id),
   batches as (
     delete from invitation_batches b
     where b.workspace_id = $workspace_id and b.id in (select batch_id from gone)
       and not exists (
         select from invitations i
         where i.workspace_id = b.workspace_id and i.batch_id = b.id and i.id <> all ($ids))
       and not exists (
         select from invitation_drafts d where d.workspace_id = b.workspace_id and d.batch_id = b.id))
   select (select count(*) from gone) as invitations, (select count(*) from letters) as mails`,
);

/**
 * Puts submissions on the list of their form's next digest again, as the one that told of them is taken back.
 * @returns whether a digest begins with that: then it has to be asked for.
 */
export const listAgain = statement(
  'erase.list_again',
  ['workspace_id form_id submission_ids', { mode: word<DigestMode>() }],
  'is_new',
  `with items as (
     insert into digest_items (workspace_id, form_id, submission_id)
     select workspace_id, form_id, id from submissions
     where workspace_id = $workspace_id and form_id = $form_id and id = any ($submission_ids) and trashed_at is null
     on conflict (workspace_id, form_id, submission_id) do nothing
     returning submission_id),
   digest as (
     insert into digests as d (workspace_id, form_id, mode)
     select $workspace_id, $form_id, $mode from items limit 1
     on conflict (workspace_id, form_id) do update set mode = d.mode
     returning d.xmax = 0 as is_new)
   select is_new from digest`,
);

/** Leaves of a submission the answers that tell of nobody, with what it is found by; its history, notes and links go. */
export const stripSubmission = statement(
  'erase.strip_submission',
  [
    'workspace_id form_id id answers:jsonText has_files kept_files:uuids kept_elements:texts',
    'updated_at language subject body',
  ],
  '',
  `with submission as (
     update submissions
     set answers = $answers, reference = '{}', tags = '{}', has_files = $has_files, updated_at = $updated_at,
         key_digest = case when key_digest is not null then '\\x'::bytea end
     where workspace_id = $workspace_id and id = $id
     returning status, tags),
   notes as (
     delete from submission_notes where workspace_id = $workspace_id and submission_id = $id),
   changes as (
     delete from submission_changes where workspace_id = $workspace_id and submission_id = $id),
   links as (
     delete from submission_links where workspace_id = $workspace_id and submission_id = $id),
   freed as (
     delete from taken_answers
     where workspace_id = $workspace_id and submission_id = $id and element_id <> all ($kept_elements)),
   released as (
     update files set submission_id = null
     where workspace_id = $workspace_id and submission_id = $id and id <> all ($kept_files))
   update search_documents set terms = ${searchTerms} from submission
   where workspace_id = $workspace_id and submission_id = $id`,
);
