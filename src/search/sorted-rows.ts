import { type Columns, nullableColumns, statement, uuid } from '#kit/statement.ts';
import { stageIdSql, stageIdsSql } from '#workspaces/stages.ts';
import { inSpanSql } from './filter/read-where.ts';
import { filterColumns, filterConditionSql, receivedAtSql } from './filter/where-of-forms.ts';
import { rowColumns, rowSelection } from './list-pages.ts';
import { sortParameters } from './read-sort.ts';

/** The number of characters of a text that are compared; cursors contain them. */
const sortedCharacters = 80;

/**
 * Makes texts comparable without case and accents, independent of the database collation. ASCII letters have
 * no accents, and removing accents takes twice as long as everything else.
 */
const comparable = (written: string): string =>
  `case when octet_length(${written}) = length(${written}) then lower(${written})
        else left(regexp_replace(normalize(lower(${written}), NFD), '[\\u0300-\\u036f]+', '', 'g'), ${sortedCharacters}) end collate "C"`;

const epoch = (column: string): string => `extract(epoch from ${column})::double precision`;

/**
 * Selects the sort key of the submission `p` in one column. `r` sorts numbers before texts before missing
 * answers (in descending order, texts come first), then `n` and `t` decide. A question whose type changed has
 * both numbers and texts. `offset 0` is an optimization fence: without it, each use of a value would read the
 * answers again.
 */
const keyOf = (place: 1 | 2): string => `lateral (
  select case when n is null and written is null then 2
              when (n is null) = (($sort_signs)[${place}] < 0) then 0 else 1 end as r,
         n * ($sort_signs)[${place}] as n, ${comparable('written')} as t
  from (
    select case kind when 'created' then ${epoch('p.created_at')}
                     when 'received' then ${epoch(receivedAtSql)}
                     when 'completed' then ${epoch('p.completed_at')}
                     when 'updated' then ${epoch('p.updated_at')}
                     when 'stage' then array_position(${stageIdsSql}, ${stageIdSql('p')})
                     else case type when 'number' then (value #>> '{}')::double precision
                            when 'array' then case when json_typeof(value -> 0) = 'object' and value -> 0 -> 'filename' is null
                                              then json_array_length(value) end end end as n,
           nullif(left(
             case kind when 'status' then p.status
                       when 'assignee' then (select lower(u.name) from users u where u.id = p.assignee_id)
                       when 'tags' then array_to_string(p.tags, ', ')
                       when 'reference' then (select string_agg(name || ': ' || each, ', ')
                                              from json_each_text(p.reference) as given (name, each))
                       else case type when 'string' then coalesce(labels ->> (value #>> '{}'), value #>> '{}')
                              when 'boolean' then value #>> '{}'
                              when 'object' then value ->> 'agreed'
                              when 'array' then (
                                select string_agg(coalesce(labels ->> item, item), ', ' order by at)
                                from (
                                  select at, case json_typeof(each) when 'string' then each #>> '{}' else each ->> 'filename' end as item
                                  from json_array_elements(value) with ordinality as listed (each, at)
                                  where json_typeof(each) in ('string', 'object')) items) end end,
             ${sortedCharacters}), '') as written
    from (
      select kind, labels, value, json_typeof(value) as type
      from (
        select ($sort_kinds)[${place}] as kind, ($sort_labels)[${place}]::jsonb as labels,
               case when ($sort_kinds)[${place}] = 'answer' then p.answers -> ($sort_elements)[${place}] end as value
        offset 0) columns
      offset 0) typed
    offset 0) found)`;

/** Sorts texts in either direction; numbers are already negated for descending order. */
const inOrder = (of: string, place: 1 | 2): string =>
  `${of}.r${place}, ${of}.n${place}, case when ($sort_signs)[${place}] > 0 then ${of}.t${place} end,
   case when ($sort_signs)[${place}] < 0 then ${of}.t${place} end desc`;
/** Ties are sorted newest first. */
const orderOf = (of: string): string => `${inOrder(of, 1)}, ${inOrder(of, 2)}, ${of}.id desc`;

const isBehind = (
  place: 1 | 2,
): string => `(keyed.r${place} > mark.r${place} or keyed.r${place} = mark.r${place} and (
  keyed.n${place} > mark.n${place} or
  case when ($sort_signs)[${place}] > 0 then keyed.t${place} > mark.t${place} else keyed.t${place} < mark.t${place} end))`;
const isSame = (place: 1 | 2): string => `(keyed.r${place} = mark.r${place}
  and keyed.n${place} is not distinct from mark.n${place} and keyed.t${place} is not distinct from mark.t${place})`;

const keysOf = (place: 1 | 2): string =>
  `key${place}.r as r${place}, key${place}.n as n${place}, key${place}.t as t${place}`;
const markOf = (place: 1 | 2, at: number): string =>
  `($after ->> ${at})::integer as r${place}, ($after ->> ${at + 1})::double precision as n${place}, ($after ->> ${at + 2}) collate "C" as t${place}`;

/**
 * Returns the statements for sorted submissions. Each computes the keys of all matches, which also gives the
 * total, so the cost does not depend on the requested part. The number of matches is limited beforehand
 * (limitSortedCount).
 * @param source the SQL before the keys, and the submissions `p` with their joins.
 */
export function declareSortedRows<P extends Columns>(
  columns: P,
  { before, from }: { before: string; from: (keys: string) => string },
) {
  const parameters = { ...columns, ...sortParameters };
  const keyed = `${before} keyed as materialized (
    select p.id, ${keysOf(1)}, ${keysOf(2)} from ${from(`cross join ${keyOf(1)} key1 cross join ${keyOf(2)} key2`)})`;
  return {
    /**
     * Selects a page, with the exact total in each row; returns at least one row. `place` is the position of
     * the row for the page cursor.
     */
    page: statement(
      ['after:jsonText? limit offset', parameters],
      ['total place?', nullableColumns(rowColumns)],
    )`
      with ${keyed},
      mark as (select ${markOf(1, 0)}, ${markOf(2, 3)}, ($after ->> 6)::uuid as id),
      page as (
        select keyed.* from keyed cross join mark
        where $after is null or ${isBehind(1)}
          or ${isSame(1)} and (${isBehind(2)} or ${isSame(2)} and keyed.id < mark.id)
        order by ${orderOf('keyed')}
        limit $limit offset $offset)
      select (select count(*) from keyed) as total, ${rowSelection},
             json_build_array(r1, n1, t1, r2, n2, t2, page.id)::text as place
      from (select) always
      left join page on true
      left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
      order by ${orderOf('page')}`,
    /** Selects the submissions before and after a given submission; none if it is not in the list. */
    neighbours: statement(['id', parameters], 'previous_id? next_id?')`
      with ${keyed},
      placed as (
        select id, lag(id) over ordered as previous_id, lead(id) over ordered as next_id
        from keyed window ordered as (order by ${orderOf('keyed')}))
      select placed.previous_id, placed.next_id from (select) always left join placed on placed.id = $id`,
    /** Selects the first ids, in order. */
    ids: statement(['limit', parameters], 'ids')`
      with ${keyed}
      select coalesce(array_agg(id order by ${orderOf('first_ones')}), '{}') as ids
      from (select * from keyed order by ${orderOf('keyed')} limit $limit) first_ones`,
  };
}

/** The statements for the table sorted by columns, without words. */
export const sortedRowStatements = declareSortedRows(
  { workspace_id: uuid, form_id: uuid, ...filterColumns },
  {
    before: '',
    from: (keys) =>
      `submissions p ${keys} where p.workspace_id = $workspace_id and p.form_id = $form_id and ${inSpanSql} and ${filterConditionSql}`,
  },
);
