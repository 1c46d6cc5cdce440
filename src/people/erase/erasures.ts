import { jsonb, statement, word } from '#kit/statement.ts';
import type { ErasedCounts, ErasedKind, ErasureItemKind } from './receipt.ts';
import type { ChangeThrough } from '#submissions/history/changed-by.ts';

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
