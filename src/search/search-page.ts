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
 * first submissions with all words in the subject, then with some, then with none. Within each group, those
 * with the words as typed come first, then others, each newest first. With three or more words, the newest
 * subjectWindow submissions with some words are sorted by the number of words.
 *
 * If there are fewer matches than the window, all are known, and each is ranked by its document. If there may
 * be more, each rank is searched separately, up to the end of the page. Spellings are then ranked only if
 * `isSpelled`: a plain word has hardly any other spelling, and a longer statement takes longer to start.
 */
const pageOf = <Parameters extends typeof wordParameters>(
  parameters: Parameters,
  { question, hasSpan, isSpelled }: { question: string; hasSpan: boolean; isSpelled: boolean },
) => {
  const ranks = (['all_subject', 'some_subject', 'no_subject'] as const).flatMap((which) =>
    (isSpelled ? [true, false] : [true]).map((isExact) => ({ which, isExact, name: `${which}_${isExact}` })),
  );
  /** The matches of one rank, up to the end of the page. */
  const matchesOf = ({ which, isExact }: (typeof ranks)[number], at: number): string => {
    const above = ranks.slice(0, at).map((rank) => ` - (select count(*) from ${rank.name})`);
    const need = `$offset + $limit${above.join('')}`;
    const isSome = which === 'some_subject';
    const most = isSome
      ? `case when question.words = 1 or ${need} <= 0 then 0 when question.words = 2 then ${need} else greatest(${subjectWindow}, ${need}) end`
      : `greatest(0, ${need})`;
    const limit = `(select case when total < ${searchWindow} then 0 else ${most} end from question cross join total)`;
    const also = isSpelled ? ` || ' & ${isExact ? '' : '!'}(' || question.exact || ')'` : '';
    const found = selectMatchesSql(which, { limit, inOrder: true, hasSpan, also });
    if (!isSome)
      return `select found.id, ${which === 'no_subject' ? 0 : 'question.words'} as words from (${found}) found cross join question`;
    return `
     select f.id, case when question.words > 2 and f.number <= ${subjectWindow} then ${countWordsInSubjectSql} else 1 end as words
     from (select nearest.id, nearest.code, row_number() over (order by nearest.id desc) as number from (${found}) nearest) f
     cross join question`;
  };
  return statement(['limit offset', parameters], ['total', foundColumns])`
    with ${question},
   matches as materialized (${selectMatchesSql('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}),
   total as materialized (select count(*) as total from matches),
   -- The queries of a segment are parsed once instead of once per match, which saves 1 ms of 11 for three words.
   segment_queries as materialized (
    select code, replace(any_subject, chr(1), code)::tsquery as any_subject, replace(exact, chr(1), code)::tsquery as exact,
           replace(question.all_subject, chr(1), code)::tsquery as all_subject
    from question cross join (select distinct code from matches) reached_segments),
   known as materialized (
    select f.id, d.terms @@ query.exact as is_exact,
           case when not d.terms @@ query.any_subject then 0
                when d.terms @@ query.all_subject then question.words
                else ${countWordsInSubjectSql} end as words
    from matches f
    join segment_queries query on query.code = f.code
    join search_documents d on d.ctid = f.place and d.workspace_id = $workspace_id
    cross join question
    where (select total from total) < ${searchWindow}),
   ${ranks.map((rank, at) => `${rank.name} as materialized (${matchesOf(rank, at)})`).join(',\n   ')},
   page as (
    select id, words, is_exact from (
      select id, words, is_exact from known
      ${ranks.map((rank) => `union all select id, words, ${rank.isExact} from ${rank.name}`).join(' ')}) ranked
    order by words desc, is_exact desc, id desc limit $limit offset $offset)
   select total.total, ${submissionSelection}
   from page
   cross join total
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   cross join ${answeredVersionSql}
   order by page.words desc, page.is_exact desc, page.id desc`;
};

/** For queries that contain only words, by whether they have several spellings. */
export const searchByWords = {
  plain: pageOf(wordParameters, { ...wordsAlone, isSpelled: false }),
  spelled: pageOf(wordParameters, { ...wordsAlone, isSpelled: true }),
};

/** For every query that the index can decide. */
const searchByIndex = {
  plain: pageOf(searchParameters, { ...anything, isSpelled: false }),
  spelled: pageOf(searchParameters, { ...anything, isSpelled: true }),
};

/**
 * Selects one page of the index matches that pass the checks, by relevance. Returns at least one row, with
 * the total and whether more matches were left out. Matches with words in the subject are checked first, then
 * the others. Of each group, the newest $look_window are checked, up to $look_bytes of answers.
 */
const searchChecked = statement(
  ['look_window:integer look_bytes:integer limit offset', searchParameters, searchCheckParameters],
  ['total is_cut:boolean', nullableColumns(foundColumns)],
)`
  with ${fullSearchSql},
  ${searchChecksSql},
  ahead as materialized (${selectMatchesSql('in_subject', { limit: '$look_window', inOrder: true })}),
  behind as materialized (${selectMatchesSql('no_subject', { limit: '$look_window', inOrder: true })}),
  found as (select id, code, place, true as is_ahead from ahead union all select id, code, place, false from behind),
  near as materialized (
    select f.id, f.code, f.place, f.is_ahead, p.form_id, p.answers, p.reference,
           sum(pg_column_size(p.answers)) over newest - pg_column_size(p.answers) < $look_bytes as is_looked_at
    from found f join submissions p on p.workspace_id = $workspace_id and p.id = f.id
    where p.trashed_at is null
    window newest as (partition by f.is_ahead order by f.id desc)),
  passed as materialized (
    select p.id, case when p.is_ahead then ${countWordsInSubjectSql.replaceAll('f.', 'p.')} else 0 end as words,
           (select d.terms @@ replace(question.exact, chr(1), p.code)::tsquery from search_documents d cross join question
            where d.workspace_id = $workspace_id and d.ctid = p.place) as is_exact
    from near p where p.is_looked_at and ${passesSearchChecksSql}),
  page as (select id, words, is_exact from passed order by words desc, is_exact desc, id desc limit $limit offset $offset)
  select (select least(count(*), ${searchWindow}) from passed) as total,
         (select count(*) from ahead) = $look_window or (select count(*) from behind) = $look_window
           or exists (select from near where not is_looked_at) as is_cut, ${submissionSelection}
  from (select) always
  left join page on true
  left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
  left join ${answeredVersionSql} on true
  order by page.words desc, page.is_exact desc, page.id desc`;

/** Counts the matches up to searchWindow, for a page without a row that has the total. */
const countPage = <Parameters extends typeof wordParameters>(
  parameters: Parameters,
  { question, hasSpan }: { question: string; hasSpan: boolean },
) =>
  statement(parameters, 'total')`
    with ${question}
   select count(*) as total from (${selectMatchesSql('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}) matches`;

export const countMatches = countPage(wordParameters, wordsAlone);

const countQuestion = countPage(searchParameters, anything);

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
  const spelling = question.is_spelled ? 'spelled' : 'plain';
  const rows = limit > 0 ? await search[spelling](database, { ...parameters, limit, offset }) : [];
  // A page past the end has no row, and so no total.
  const total = rows[0]?.total ?? (offset > 0 ? (await count(database, parameters))[0]!.total : 0);
  return { rows, total, isPartial: false };
}

const isFound = <Row extends { id: string | null }>(row: Row): row is Row & FoundSubmission =>
  row.id !== null;
