import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { json, jsonb, nullable, statement, word } from '#kit/statement.ts';
import type { HoldReason } from './reasons.ts';
import { formTree } from '#forms/structure-columns.ts';

/** Lays answers into the spam box. No row: their key was used, or the form was deleted. */
export const insertHeld = statement(
  'held.insert_held',
  [
    'workspace_id id form_id version answers:jsonText reference:jsonText language? key:uuid?',
    'key_digest? address:bytes origin? created_at',
    { reason: word<HoldReason>() },
  ],
  'id',
  `insert into held_submissions (workspace_id, id, form_id, version, answers, reference, language, key, key_digest, reason, address, origin, created_at)
   select f.workspace_id, $id, f.id, $version, $answers, $reference, $language, $key, $key_digest, $reason, $address, $origin, $created_at
   from forms f where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
   on conflict (workspace_id, key) where key is not null do nothing
   returning id`,
);

/** Gives the spam box files: new ones, and those of the answers that were saved under the same key. */
export const holdFiles = statement(
  'held.hold_files',
  'workspace_id form_id held_id saved_id? ids',
  'id',
  `update files set held_id = $held_id, submission_id = null, claimed_at = now()
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
     and (submission_id is null and claimed_at is null or submission_id = $saved_id)
   returning id`,
);

/** Files that the spam box lets go of go over to the submission that was released. */
export const giveHeldFiles = statement(
  'held.give_held_files',
  'workspace_id held_id submission_id',
  '',
  `update files set held_id = null, submission_id = $submission_id
   where workspace_id = $workspace_id and held_id = $held_id`,
);

/** One of the spam box with the version that it answered, to be released. Locked until the transaction ends. */
export const lockHeld = statement(
  'held.lock_held',
  'workspace_id form_id id',
  [
    'version language? key:uuid? name',
    {
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      structure: formTree,
      fields: json<Record<string, FieldDescription>>(),
      settings: jsonb<Settings>(),
    },
  ],
  `select h.version, h.answers, h.reference, h.language, h.key, v.name, v.structure, v.fields, f.settings
   from held_submissions h
   join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
   join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
   where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id and f.deleted_at is null
   for update of h`,
);

/** For good; without `ids` all of the form. Their files become orphans, which the sweep removes. */
export const deleteHeld = statement(
  'held.delete_held',
  'workspace_id form_id ids?',
  'id',
  `delete from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and ($ids is null or id = any ($ids)) returning id`,
);

/** @returns those removed; a full batch of 500 means that there may be more. */
export const deleteHeldBefore = statement(
  'held.delete_held_before',
  'before',
  'id',
  `/* sweep: across workspaces */
   delete from held_submissions where (workspace_id, id) in (
     select workspace_id, id from held_submissions where created_at < $before order by created_at limit 500)
   returning id`,
);

/** A page of a form's spam box, newest first, with the total in each row; at least one row unless the form is gone. */
export const listHeld = statement(
  'held.list_held',
  'workspace_id form_id below_id limit offset',
  ['total id? created_at?', { reason: nullable(word<HoldReason>()), answers: nullable(json<Answers>()) }],
  `select count.total, h.id, h.reason, h.answers, h.created_at
   from forms f
   cross join lateral (
     select count(*) as total from held_submissions c
     where c.workspace_id = f.workspace_id and c.form_id = f.id) count
   left join lateral (
     select p.id, p.reason, p.answers, p.created_at from held_submissions p
     where p.workspace_id = f.workspace_id and p.form_id = f.id and p.id < $below_id
     order by p.id desc limit $limit offset $offset) h on true
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
   order by h.id desc`,
);

/** Sites that a form's settings do not name and whose pages sent what is held for that, most of them first. */
export const listHeldSites = statement(
  'held.list_held_sites',
  'workspace_id form_id',
  'origin count',
  `select h.origin, count(*) as count from held_submissions h
   where h.workspace_id = $workspace_id and h.form_id = $form_id and h.reason = 'other_site' and h.origin <> 'null'
   group by h.origin order by count desc, h.origin limit 5`,
);

/** What is held because a page of this site sent it, oldest first. */
export const listHeldOfSite = statement(
  'held.list_held_of_site',
  'workspace_id form_id origin',
  'id',
  `select id from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and reason = 'other_site' and origin = $origin
   order by id`,
);

/** One of the spam box with the version that it answered, and how many others came from the same address. */
export const findHeld = statement(
  'held.find_held',
  'workspace_id form_id id',
  [
    'id created_at origin? others:bigint',
    {
      reason: word<HoldReason>(),
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      structure: formTree,
    },
  ],
  `select h.id, h.reason, h.answers, h.reference, h.created_at, v.structure, h.origin,
          (select count(*) from held_submissions o
           where o.workspace_id = h.workspace_id and o.form_id = h.form_id and o.address = h.address and o.id <> h.id) as others
   from held_submissions h
   join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
   join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
   where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id and f.deleted_at is null`,
);
