import { columns, nullableColumns, statement } from '#kit/statement.ts';
import { passesSearchChecksSql, searchCheckParameters, searchChecksSql } from './compile-search.ts';
import { filterColumns, filterConditionSql } from './filter/where-of-forms.ts';
import { rowColumns, rowSelection } from './list-pages.ts';
import {
  countWordsInSubjectSql,
  fullSearchSql,
  searchParameters,
  selectMatchesSql,
  wordParameters,
  wordSearchSql,
} from './search-sql.ts';
import { declareSortedRows } from './sorted-rows.ts';

/*
 * The table of a form when it is searched: the query and order of the search, and the filters of the table.
 * It includes every match, because the table is also exported and deleted as a whole. Times are converted to
 * ids.
 */
const viewParameters = columns('is_any:boolean', searchParameters, searchCheckParameters, filterColumns);

/** All matches. `offset 0` is explained at selectMatchesSql. */
const matches = `
  f as materialized (
    select here.id, segments.code, here.is_exact from question cross join segments
    cross join lateral (select replace(question.exact, chr(1), segments.code)::tsquery as exact offset 0) exactly
    cross join lateral (
      select d.submission_id as id, d.workspace_id, d.terms @@ exactly.exact as is_exact from search_documents d
      where d.terms @@ replace(question.anywhere, chr(1), segments.code)::tsquery
      offset 0) here
    where here.workspace_id = $workspace_id)`;

/** The words in the subject decide, then the spelling. */
const rank = `${countWordsInSubjectSql} * 2 + f.is_exact::integer`;

const viewed = `${fullSearchSql},
  ${searchChecksSql},
  ${matches},
  viewed as (
    select f.id, ${rank} as rank from f
    where f.id >= $from_id and f.id < $to_id
      and ($is_any or exists (
        select from submissions p where p.workspace_id = $workspace_id and p.id = f.id and ${filterConditionSql} and ${passesSearchChecksSql})))`;

/** The matches of queries that contain only words, without a filter. */
const viewedOfWords = `${wordSearchSql},
  ${matches},
  viewed as (select f.id, ${rank} as rank from f)`;

/** Counts the submissions that contain the words of a query, up to `most`: these are checked one by one. */
export const countCandidates = statement(['most', searchParameters], 'count')`
  with ${fullSearchSql}
  select count(*) as count from (${selectMatchesSql('anywhere', { limit: '$most', inOrder: false })}) found`;

/** Selects one page, with the exact total in each row; returns at least one row. */
const pageOf = <Parameters extends typeof wordParameters>(parameters: Parameters, viewed: string) =>
  statement(['limit offset', parameters], ['total', nullableColumns(rowColumns)])`
    with ${viewed},
   page as (select id, rank from viewed order by rank desc, id desc limit $limit offset $offset)
   select count.total, ${rowSelection}
   from (select count(*) as total from viewed) count
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   order by page.rank desc, page.id desc`;

/** The statements for the table by relevance. */
export const relevanceStatements = {
  page: pageOf(viewParameters, viewed),
  pageOfWords: pageOf(wordParameters, viewedOfWords),
  /** Selects the submissions above and below a given one; none if it is not a match. */
  neighbours: statement(['id', viewParameters], 'previous_id? next_id?')`
    with ${viewed},
    here as (select id, rank from viewed where id = $id)
    select (select v.id from viewed v, here where (v.rank, v.id) > (here.rank, here.id) order by v.rank, v.id limit 1) as previous_id,
           (select v.id from viewed v, here where (v.rank, v.id) < (here.rank, here.id) order by v.rank desc, v.id desc limit 1) as next_id`,
  /** Selects every id by relevance, up to `limit`. */
  ids: statement(['limit', viewParameters], 'ids')`
    with ${viewed}
    select coalesce(array_agg(id order by rank desc, id desc), '{}') as ids
    from (select id, rank from viewed order by rank desc, id desc limit $limit) page`,
};

/** The statements for the matches sorted by columns instead of relevance. */
export const sortedSearchStatements = declareSortedRows(viewParameters, {
  before: `${viewed},`,
  from: (keys) =>
    `viewed join submissions p on p.workspace_id = $workspace_id and p.id = viewed.id and p.trashed_at is null ${keys}`,
});
