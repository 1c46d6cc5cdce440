import { failedReason } from '#kit/queue/queries.ts';
import { columns, jsonb, statement, word } from '#kit/statement.ts';
import type { ChangeThrough } from '#submissions/history/queries.ts';
import type { ErasedKind, ErasureItemKind, ErasedCounts } from './receipt.ts';

const erasureColumns = columns(
  'id requested_by? total:integer done list_hash hash:text? created_at finished_at?',
  'failed_reason?',
  { what: word<ErasedKind>(), gone: jsonb<ErasedCounts>() },
);

/** Begins an erasing, with the list of what goes. The arrays belong together. */
export const insertErasure = statement(
  'people.insert_erasure',
  [
    'workspace_id id asked changed_by? api_key_id? list_hash created_at kinds form_ids:texts',
    'ids',
    { what: word<ErasedKind>(), through: word<ChangeThrough>() },
  ],
  '',
  `with erasure as (
     insert into erasures (workspace_id, id, what, asked, requested_by, api_key_id, through, total, list_hash, created_at)
     values ($workspace_id, $id, $what, $asked, $changed_by, $api_key_id, $through, cardinality($ids), $list_hash, $created_at)
     returning workspace_id, id),
   items as (
     insert into erasure_items (workspace_id, erasure_id, kind, form_id, id)
     select erasure.workspace_id, erasure.id, listed.kind, nullif(listed.form_id, '')::uuid, listed.id
     from erasure cross join unnest($kinds, $form_ids, $ids) as listed (kind, form_id, id))
   select`,
);

/** The erasings of a workspace, newest first, with the name of the member or the key that asked. */
export const listErasures = statement(
  'people.list_erasures',
  'workspace_id id? below_id limit offset',
  erasureColumns,
  `select e.id, e.what, coalesce(u.name, k.name) as requested_by, e.total, e.done, e.gone, e.list_hash, e.hash, e.created_at,
          e.finished_at, ${failedReason('e', 'erasure_id')} as failed_reason
   from erasures e
   left join users u on u.id = e.requested_by
   left join api_keys k on k.workspace_id = e.workspace_id and k.id = e.api_key_id
   where e.workspace_id = $workspace_id and ($id is null or e.id = $id) and e.id < $below_id
   order by e.id desc limit $limit offset $offset`,
);

export const countErasures = statement(
  'people.count_erasures',
  'workspace_id',
  'total',
  `select count(*) as total from erasures where workspace_id = $workspace_id`,
);

/** What an erasing does, locked: its steps come one after another. */
export const lockErasure = statement(
  'people.lock_erasure',
  'workspace_id id',
  ['asked? list_hash created_at', { what: word<ErasedKind>(), gone: jsonb<ErasedCounts>() }],
  `select what, asked, gone, list_hash, created_at from erasures
   where workspace_id = $workspace_id and id = $id for update`,
);

/** The next items of an erasing, of one kind and one form. */
export const findItems = statement(
  'people.find_items',
  'workspace_id erasure_id limit',
  ['form_id? id', { kind: word<ErasureItemKind>() }],
  `with first as (
     select kind, form_id from erasure_items
     where workspace_id = $workspace_id and erasure_id = $erasure_id order by kind desc, form_id, id limit 1)
   select i.kind, i.form_id, i.id from erasure_items i
   join first on first.kind = i.kind and first.form_id is not distinct from i.form_id
   where i.workspace_id = $workspace_id and i.erasure_id = $erasure_id
   order by i.id limit $limit`,
);

/** Crosses items off, and puts the files on the list whose bytes have to follow. */
export const turnItems = statement(
  'people.turn_items',
  ['workspace_id erasure_id ids file_ids', { kind: word<ErasureItemKind>() }],
  '',
  `with done as (
     delete from erasure_items
     where workspace_id = $workspace_id and erasure_id = $erasure_id and kind = $kind and id = any ($ids))
   insert into erasure_items (workspace_id, erasure_id, kind, id)
   select $workspace_id, $erasure_id, 'file', unnest($file_ids)
   on conflict do nothing`,
);

/** How far an erasing has come. */
export const advanceErasure = statement(
  'people.advance_erasure',
  'workspace_id id done gone:jsonText',
  '',
  `update erasures set done = done + $done, gone = $gone where workspace_id = $workspace_id and id = $id`,
);

/** Ends an erasing: whom it was about is forgotten, and the receipt stays. */
export const endErasure = statement(
  'people.end_erasure',
  'workspace_id id hash:text finished_at',
  '',
  `update erasures set asked = null, hash = $hash, finished_at = $finished_at
   where workspace_id = $workspace_id and id = $id`,
);

/** The files of answers in spam boxes. */
export const listHeldFiles = statement(
  'people.list_held_files',
  'workspace_id held_ids:uuids',
  'id',
  `select id from files where workspace_id = $workspace_id and held_id = any ($held_ids)`,
);

/** Removes mails, sent or not. One that is under way at this moment may still arrive. */
export const deleteMails = statement(
  'people.delete_mails',
  'workspace_id ids',
  'id',
  `delete from mails where workspace_id = $workspace_id and id = any ($ids) returning id`,
);

/** Some of the lines of imports that are no invitations, or no submissions, yet, and may say it. */
export const findWaitingLines = statement(
  'people.find_waiting_lines',
  'workspace_id json_pattern after_id:uuid after_line:integer limit',
  'import_id:uuid line said:text',
  `select batch_id as import_id, line, draft::text as said from invitation_drafts
   where workspace_id = $workspace_id and (batch_id, line) > ($after_id, $after_line) and draft::text ~* $json_pattern
   union all
   select import_id, line, entry::text as said from submission_import_lines
   where workspace_id = $workspace_id and (import_id, line) > ($after_id, $after_line) and entry::text ~* $json_pattern
   order by import_id, line limit $limit`,
);

/** Removes lines of imports. The arrays belong together. */
export const deleteWaitingLines = statement(
  'people.delete_waiting_lines',
  'workspace_id import_ids:uuids lines:integers',
  'line',
  `with given as (select * from unnest($import_ids, $lines) as given (import_id, line)),
   invited as (
     delete from invitation_drafts d using given
     where d.workspace_id = $workspace_id and d.batch_id = given.import_id and d.line = given.line returning d.line),
   answered as (
     delete from submission_import_lines l using given
     where l.workspace_id = $workspace_id and l.import_id = given.import_id and l.line = given.line returning l.line)
   select line from invited union all select line from answered`,
);

/** Forgets what was said, of lines that an import left out, with these words. */
export const forgetImportProblems = statement(
  'people.forget_import_problems',
  'workspace_id json_pattern word_pattern:text',
  '',
  `update submission_imports
      set problems = (select coalesce(jsonb_agg(problem order by place), '[]')
                        from jsonb_array_elements(problems) with ordinality as said (problem, place)
                       where problem ->> 'message' !~* $word_pattern)
   where workspace_id = $workspace_id and problems::text ~* $json_pattern`,
);

/** Some of the uploads that no submission has claimed and whose names may say it. */
export const findLooseFiles = statement(
  'people.find_loose_files',
  'workspace_id pattern:text after limit',
  'id filename',
  `select id, filename from files
   where workspace_id = $workspace_id and id > $after and submission_id is null and held_id is null and filename ~* $pattern
   order by id limit $limit`,
);

/** Forgets receipts with the lines of the audit log that name them: of each workspace by its own number of days. */
export const deleteOldErasures = statement(
  'people.delete_old_erasures',
  'now limit',
  'id',
  `/* sweep: across workspaces */
   delete from erasures where (workspace_id, id) in (
     select e.workspace_id, e.id from workspaces w cross join lateral (
       select workspace_id, id from erasures
        where workspace_id = w.id and finished_at < $now - make_interval(secs => w.audit_days * 86400)
        order by id limit $limit) e
     limit $limit)
   returning id`,
);

/** Some of what is kept sealed: mails that have not left. */
export const readSealedMails = statement(
  'people.read_sealed_mails',
  'workspace_id after limit',
  'id content',
  `select id, content from mails
   where workspace_id = $workspace_id and id > $after and content is not null order by id limit $limit`,
);
