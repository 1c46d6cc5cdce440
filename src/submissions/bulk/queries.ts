import { failedReason, takeFirst } from '#kit/queue/queries.ts';
import { columns, json, nullable, statement, uuid, word } from '#kit/statement.ts';
import type { Difference } from '../history/differences.ts';
import { changedByColumns } from '../history/queries.ts';
import { searchMarks, type SubmissionStatus } from '../queries.ts';

/**
 * What is done with many: `trash`, out of it for good (`empty`: what lies in it; `remove`: wherever it lies), `tag`, a
 * `status`, or what another did is undone.
 */
export type BulkKind = 'trash' | 'empty' | 'remove' | 'tag' | 'status' | 'undo';

const bulkColumns = columns('id total:integer done created_at finished_at? failed_reason?', {
  kind: word<BulkKind>(),
});
const bulkSelection = (table: 'bulk' | 'bulk_changes'): string =>
  `select id, kind, total, done, created_at, finished_at, ${failedReason(table, 'bulk_id')} as failed_reason from ${table}`;

/** A bulk change and the list of what it changes; nothing for a form that is gone. */
export const insertBulk = statement(
  'bulk.insert_bulk',
  [
    'workspace_id id form_id tags_added tags_removed submission_ids created_at',
    { kind: word<BulkKind>(), status: nullable(word<SubmissionStatus>()) },
    changedByColumns,
  ],
  bulkColumns,
  `with bulk as (
     insert into bulk_changes (workspace_id, id, form_id, kind, tags_added, tags_removed, status, requested_by, api_key_id, through, total, created_at)
     select workspace_id, $id, id, $kind, $tags_added, $tags_removed, $status, $changed_by, $api_key_id, $through, cardinality($submission_ids), $created_at
     from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     returning *),
   items as (
     insert into bulk_items (workspace_id, bulk_id, submission_id)
     select workspace_id, id, unnest($submission_ids) from bulk)
   ${bulkSelection('bulk')}`,
);

/**
 * A bulk change that undoes a finished one, and the list of what that one changed; nothing where it is not finished, cannot
 * be undone, or was.
 */
export const insertUndo = statement(
  'bulk.insert_undo',
  ['workspace_id form_id id undoes created_at', changedByColumns],
  bulkColumns,
  `with undone as (
     select b.workspace_id, b.form_id, b.id from bulk_changes b
     join forms f on f.workspace_id = b.workspace_id and f.id = b.form_id
     where b.workspace_id = $workspace_id and b.form_id = $form_id and b.id = $undoes
       and b.finished_at is not null and b.kind in ('trash', 'tag', 'status') and f.deleted_at is null),
   changed as (
     select distinct c.submission_id from submission_changes c
     where c.workspace_id = $workspace_id and c.bulk_id = (select id from undone)),
   bulk as (
     insert into bulk_changes (workspace_id, id, form_id, kind, undoes, requested_by, api_key_id, through, total, created_at)
     select workspace_id, $id, form_id, 'undo', id, $changed_by, $api_key_id, $through, (select count(*) from changed), $created_at
     from undone
     on conflict (workspace_id, undoes) where undoes is not null do nothing
     returning *),
   items as (
     insert into bulk_items (workspace_id, bulk_id, submission_id)
     select bulk.workspace_id, bulk.id, changed.submission_id from bulk cross join changed)
   ${bulkSelection('bulk')}`,
);

/** As `differencesOf` is written down; within a text the quotes are escaped. */
const changesPart = (row: string, part: 'status' | 'tags'): string =>
  `strpos(${row}.changes::text, '"part":"${part}"') > 0`;

/**
 * What a change of many did to these: of tags what it changed, and in `later` what was changed of them since; of the trash
 * and of status those that nobody laid into it, or gave one, since.
 * Locked in the order of ids, so that two at once cannot deadlock.
 */
export const lockUndone = statement(
  'bulk.lock_undone',
  'workspace_id form_id ids bulk_id',
  ['submission_id', { changes: json<Difference[]>(), later: json<Difference[][]>() }],
  `select c.submission_id, c.changes,
          coalesce((
            select json_agg(later.changes) from submission_changes later
            where later.workspace_id = c.workspace_id and later.submission_id = c.submission_id and later.id > c.id
              and ${changesPart('c', 'tags')} and ${changesPart('later', 'tags')}), '[]') as later
   from submissions s
   join submission_changes c on c.workspace_id = s.workspace_id and c.submission_id = s.id and c.bulk_id = $bulk_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
     and not exists (
       select from submission_changes later
       where later.workspace_id = c.workspace_id and later.submission_id = c.submission_id
         and later.id > c.id and (c.kind = 'trashed' and later.kind = 'trashed'
           or ${changesPart('c', 'status')} and ${changesPart('later', 'status')}))
   order by s.id for update of s`,
);

/** What a bulk change does, and for whom. */
export const findBulkWork = statement(
  'bulk.find_bulk_work',
  'workspace_id id',
  [
    'id tags_added tags_removed undoes?',
    {
      kind: word<BulkKind>(),
      status: nullable(word<SubmissionStatus>()),
      undone: nullable(word<BulkKind>()),
    },
    changedByColumns,
  ],
  `select b.id, b.kind, b.tags_added, b.tags_removed, b.status, b.undoes, undone.kind as undone,
          b.requested_by as changed_by, b.api_key_id, b.through
   from bulk_changes b
   left join bulk_changes undone on undone.workspace_id = b.workspace_id and undone.id = b.undoes
   where b.workspace_id = $workspace_id and b.id = $id`,
);

/** Crosses the next submissions off the list of a bulk change. */
export const takeBulkItems = takeFirst(
  'bulk.take_bulk_items',
  { table: 'bulk_items', of: 'bulk_id', by: 'submission_id' },
  { submission_id: uuid },
);

/** How far a bulk change has come. */
export const advanceBulk = statement(
  'bulk.advance_bulk',
  'workspace_id id done finished_at?',
  '',
  `update bulk_changes set done = done + $done, finished_at = $finished_at
   where workspace_id = $workspace_id and id = $id`,
);

export const findBulk = statement(
  'bulk.find_bulk',
  'workspace_id form_id id kinds',
  bulkColumns,
  `${bulkSelection('bulk_changes')}
   where workspace_id = $workspace_id and form_id = $form_id and id = $id and kind = any ($kinds)`,
);

/** The bulk changes of a form that are under way, newest first. */
export const findUnfinishedBulks = statement(
  'bulk.find_unfinished_bulks',
  'workspace_id form_id kinds',
  bulkColumns,
  `${bulkSelection('bulk_changes')}
   where workspace_id = $workspace_id and form_id = $form_id and finished_at is null and kind = any ($kinds)
   order by id desc`,
);

const marksOf = (tags: 'before' | 'after'): string =>
  `array(select segment.code || '${searchMarks.tag}' || tag from unnest(${tags}) as tag)`;

/**
 * Adds tags to submissions of a form and takes others away, whatever their case, with the history of each that becomes
 * another. In the order of ids, so that two at once cannot deadlock.
 * @returns those that are tagged as they should be now; one that would have too many tags stays as it was.
 */
export const tagSubmissions = statement(
  'bulk.tag_submissions',
  ['workspace_id form_id ids change_ids added:texts removed:texts most bulk_id? now', changedByColumns],
  'id',
  `with listed as (
     select * from unnest($ids, $change_ids) as listed (id, change_id)),
   held as (
     select id, tags, updated_at from submissions
     where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and trashed_at is null
     order by id for update),
   wanted as (
     select held.*, listed.change_id,
       array(select tag from unnest(held.tags) with ordinality as kept (tag, place)
             where lower(tag) not in (select lower(r) from unnest($removed) as r) order by place)
       || array(select tag from unnest($added) with ordinality as fresh (tag, place)
                where lower(tag) not in (select lower(t) from unnest(held.tags) as t) order by place) as becomes
     from held join listed on listed.id = held.id),
   tagged as (
     update submissions s
     set tags = wanted.becomes, updated_at = greatest($now, wanted.updated_at + interval '1 ms')
     from wanted
     where s.workspace_id = $workspace_id and s.id = wanted.id
       and wanted.becomes <> wanted.tags and cardinality(wanted.becomes) <= $most
     returning s.id, wanted.change_id, wanted.tags as before, s.tags as after),
   documents as (
     update search_documents d
     set terms = ts_delete(d.terms, ${marksOf('before')}) || array_to_tsvector(${marksOf('after')})
     from tagged cross join lateral (
       select g.code from search_segments g where g.workspace_id = $workspace_id and g.first_id <= tagged.id
       order by g.first_id desc limit 1) segment
     where d.workspace_id = $workspace_id and d.submission_id = tagged.id),
   noted as materialized (
     select id, change_id, json_build_array(json_strip_nulls(json_build_object(
              'part', 'tags', 'name', '', 'from', nullif(before, '{}'), 'to', nullif(after, '{}')))) as changes
     from tagged),
   changes as (
     insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
     select $workspace_id, id, change_id, 'edited', $changed_by, $api_key_id, $through, $bulk_id, $now, changes
     from noted)
   select id from wanted where cardinality(becomes) <= $most`,
);
