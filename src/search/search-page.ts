import type { Database } from '#kit/database.ts';
import type { PageRequest } from '#kit/pagination.ts';
import { nullableColumns, statement } from '#kit/statement.ts';
import { answeredVersionSql, foundColumns, submissionSelection } from '#submissions/submission-rows.ts';
import {
  passesSearchChecksSql,
  searchCheckLimits,
  searchCheckParameters,
  searchChecksSql,
} from './compile-search.ts';
import {
  countWordsInSubjectSql,
  fullSearchSql,
  searchParameters,
  searchWindow,
  selectMatchesSql,
  subjectWindow,
  wordParameters,
  wordSearchSql,
} from './search-sql.ts';
import type { FoundPage, FoundSubmission, View, ViewSearch } from './view.ts';

const wordsAlone = { question: wordSearchSql, hasSpan: false };

const anything = { question: fullSearchSql, hasSpan: true };

/**
 * Selects one page of matches by relevance, each row with the total up to searchWindow. The order is exact:
 * first submissions with all words in the subject, then with some, then with none; each group newest first.
 * With three or more words, the newest subjectWindow submissions with some words are sorted by the number of
 * words. Later groups are read only until the page is full.
 */
const pageOf = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  { question, hasSpan }: { question: string; hasSpan: boolean },
) =>
  statement(
    name,
    ['limit offset', parameters],
    ['total', foundColumns],
    `with ${question},
   matches as materialized (${selectMatchesSql('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}),
   total as materialized (select count(*) as total from matches),
   -- If there are fewer matches than the window, all are known, and each subject is checked. The query of a segment is
   -- parsed once instead of once per match, which saves 1 ms of 11 for three words.
   subject_of as materialized (
     select code, replace(any_subject, chr(1), code)::tsquery as any_subject
     from question cross join (select distinct code from matches) reached_segments),
   known as materialized (
     select f.id, case when d.terms @@ replace(question.all_subject, chr(1), f.code)::tsquery then question.words
                       else ${countWordsInSubjectSql} end as words
     from matches f
     join subject_of asked on asked.code = f.code
     join search_documents d on d.ctid = f.place and d.workspace_id = $workspace_id and d.terms @@ asked.any_subject
     cross join question
     where (select total from total) < ${searchWindow}),
   -- If there may be more, each rank is searched separately, up to the end of the page.
   in_all as materialized (${selectMatchesSql('all_subject', {
     limit: `(select case when total < ${searchWindow} then 0 else $offset + $limit end from total)`,
     inOrder: true,
     hasSpan,
   })}),
   in_some as materialized (
     select f.id, case when question.words > 2 and f.number <= ${subjectWindow} then ${countWordsInSubjectSql} else 1 end as words
     from (select nearest.id, nearest.code, row_number() over (order by nearest.id desc) as number from (${selectMatchesSql(
       'some_subject',
       {
         limit: `(
         select case when question.words = 1 or total < ${searchWindow} or (select count(*) from in_all) >= $offset + $limit then 0
                     when question.words = 2 then $offset + $limit
                     else greatest(${subjectWindow}, $offset + $limit) end from question cross join total)`,
         inOrder: true,
         hasSpan,
       },
     )}) nearest) f cross join question),
   ahead as materialized (
     select id, words from known
     union all select in_all.id, question.words from in_all cross join question
     union all select id, words from in_some),
   behind as (
     select id from matches
     where (select total from total) < ${searchWindow} and not exists (select from ahead where ahead.id = matches.id)
     union all
     (select newest.id from (${selectMatchesSql('no_subject', {
       limit: `(
         select case when total < ${searchWindow} then 0
                     else greatest(0, $offset + $limit - (select count(*) from ahead)) end from total)`,
       inOrder: true,
       hasSpan,
     })}) newest)),
   page as (
     select id, words from (select id, words from ahead union all select id, 0 from behind) ranked
     order by words desc, id desc limit $limit offset $offset)
   select total.total, ${submissionSelection}
   from page
   cross join total
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   cross join ${answeredVersionSql}
   order by page.words desc, page.id desc`,
  );

/** For queries that contain only words. */
export const searchByWords = pageOf('search_submissions', wordParameters, wordsAlone);

/** For every query that the index can decide. */
export const searchByIndex = pageOf('search_question', searchParameters, anything);

/**
 * Selects one page of the index matches that pass the checks, by relevance. Returns at least one row, with
 * the total and whether more matches were left out. Matches with words in the subject are checked first, then
 * the others. Of each group, the newest $look_window are checked, up to $look_bytes of answers.
 */
const searchChecked = statement(
  'search_checked',
  ['look_window:integer look_bytes:integer limit offset', searchParameters, searchCheckParameters],
  ['total is_cut:boolean', nullableColumns(foundColumns)],
  `with ${fullSearchSql},
   ${searchChecksSql},
   ahead as materialized (${selectMatchesSql('in_subject', { limit: '$look_window', inOrder: true })}),
   behind as materialized (${selectMatchesSql('no_subject', { limit: '$look_window', inOrder: true })}),
   found as (select id, code, true as is_ahead from ahead union all select id, code, false from behind),
   near as materialized (
     select f.id, f.code, f.is_ahead, p.form_id, p.answers, p.reference,
            sum(pg_column_size(p.answers)) over newest - pg_column_size(p.answers) < $look_bytes as is_looked_at
     from found f join submissions p on p.workspace_id = $workspace_id and p.id = f.id
     where p.trashed_at is null
     window newest as (partition by f.is_ahead order by f.id desc)),
   passed as materialized (
     select p.id, case when p.is_ahead then ${countWordsInSubjectSql.replaceAll('f.', 'p.')} else 0 end as words
     from near p where p.is_looked_at and ${passesSearchChecksSql}),
   page as (select id, words from passed order by words desc, id desc limit $limit offset $offset)
   select (select least(count(*), ${searchWindow}) from passed) as total,
          (select count(*) from ahead) = $look_window or (select count(*) from behind) = $look_window
            or exists (select from near where not is_looked_at) as is_cut, ${submissionSelection}
   from (select) always
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   left join ${answeredVersionSql} on true
   order by page.words desc, page.id desc`,
);

/** Counts the matches up to searchWindow, for a page without a row that has the total. */
const countPage = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  { question, hasSpan }: { question: string; hasSpan: boolean },
) =>
  statement(
    name,
    parameters,
    'total',
    `with ${question}
   select count(*) as total from (${selectMatchesSql('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}) matches`,
  );

export const countMatches = countPage('count_matches', wordParameters, wordsAlone);

const countQuestion = countPage('count_question', searchParameters, anything);

/**
 * Finds a page of submissions that match a query, and their number up to searchWindow. The index alone
 * answers queries that contain only words. For other queries, the submissions that contain the words are
 * checked one by one. `isPartial`: there were too many to check.
 */
export async function findSearchPage(
  database: Database,
  { workspace_id, form_ids, filter, question }: View & { question: ViewSearch },
  { offset, ...cut }: PageRequest,
): Promise<FoundPage<FoundSubmission>> {
  const { from_id, to_id } = filter;
  const parameters = { ...question, workspace_id, form_ids, from_id, to_id };
  const limit = Math.min(cut.limit, searchWindow - offset);
  if (question.isChecked) {
    const { submissions, bytesOfAddresses, bytesOfWords } = searchCheckLimits;
    const isOfAddresses = question.check_kinds.every((kind) => kind.endsWith('address'));
    const rows = await searchChecked(database, {
      ...parameters,
      look_window: submissions,
      look_bytes: isOfAddresses ? bytesOfAddresses : bytesOfWords,
      limit: Math.max(0, limit),
      offset,
    });
    const [{ total, is_cut: isPartial }] = rows as [(typeof rows)[number]];
    return { rows: rows.filter(isFound), total, isPartial };
  }
  const [search, count] = question.isPlain ? [searchByWords, countMatches] : [searchByIndex, countQuestion];
  const rows = limit > 0 ? await search(database, { ...parameters, limit, offset }) : [];
  // A page past the end has no row, and so no total.
  const total = rows[0]?.total ?? (offset > 0 ? (await count(database, parameters))[0]!.total : 0);
  return { rows, total, isPartial: false };
}

const isFound = <Row extends { id: string | null }>(row: Row): row is Row & FoundSubmission =>
  row.id !== null;
