import { columns, nullable, statement, word } from '#kit/statement.ts';
import { filterColumns, isMet } from '#submissions/filter/queries.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import { sortedFrom } from '#submissions/sort/queries.ts';
import { checking, checkParameters, isPassed } from '../checks.ts';
import {
  asking,
  askingWords,
  questionParameters,
  walk,
  wordParameters,
  wordsInSubject,
} from '../question.ts';

/** The submissions of a form that were made in some milliseconds. */
export const findIdsBetween = statement(
  'find_ids_between',
  'workspace_id form_id from_id to_id',
  'id',
  `select id from submissions
   where workspace_id = $workspace_id and form_id = $form_id and id >= $from_id and id < $to_id
     and trashed_at is null`,
);

/*
 * A view is a search in one form with the console's filters on top: the same question, the same order, and every match,
 * since a view is also deleted and exported. Times are given as the ids that were made then.
 */
const viewParameters = columns('is_any:boolean', questionParameters, checkParameters, filterColumns);

const matches = `
  f as materialized (
    select d.submission_id as id, segments.code from question cross join segments
    join search_documents d on d.workspace_id = $workspace_id
      and d.terms @@ replace(question.anywhere, chr(1), segments.code)::tsquery)`;

const viewed = `${asking},
  ${checking},
  ${matches},
  viewed as (
    select f.id, ${wordsInSubject} as rank from f
    where f.id >= $from_id and f.id < $to_id
      and ($is_any or exists (
        select from submissions p where p.workspace_id = $workspace_id and p.id = f.id and ${isMet} and ${isPassed})))`;

/** Of words alone, with no filter. */
const viewedOfWords = `${askingWords},
  ${matches},
  viewed as (select f.id, ${wordsInSubject} as rank from f)`;

/** How many submissions have the words of a question, as far as they are counted: so many are looked at one by one. */
export const countLooks = statement(
  'count_looks',
  ['most', questionParameters],
  'count',
  `with ${asking}
   select count(*) as count from (${walk('anywhere', { limit: '$most', inOrder: false })}) found`,
);

/** One page of a searched view with the exact total in each row; at least one row. */
const pageOf = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  viewed: string,
) =>
  statement(
    name,
    ['limit offset', parameters],
    [
      'total id? version? answers:text? reference:text? created_at? updated_at? completed_at?',
      'tags?',
      { status: nullable(word<SubmissionStatus>()) },
    ],
    `with ${viewed},
   page as (select id, rank from viewed order by rank desc, id desc limit $limit offset $offset)
   select count.total, s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
          s.created_at, s.updated_at, s.completed_at, s.tags
   from (select count(*) as total from viewed) count
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   order by page.rank desc, page.id desc`,
  );
export const searchView = pageOf('search_view', viewParameters, viewed);
export const searchViewOfWords = pageOf('search_view_of_words', wordParameters, viewedOfWords);

/** The submissions above and below one in a searched view; none when it is not in it. */
export const searchNeighbours = statement(
  'search_neighbours',
  ['id', viewParameters],
  'previous_id? next_id?',
  `with ${viewed},
   here as (select id, rank from viewed where id = $id)
   select (select v.id from viewed v, here where (v.rank, v.id) > (here.rank, here.id) order by v.rank, v.id limit 1) as previous_id,
          (select v.id from viewed v, here where (v.rank, v.id) < (here.rank, here.id) order by v.rank desc, v.id desc limit 1) as next_id`,
);

/** A searched view in the order of columns, and not by relevance. */
export const sortedSearch = sortedFrom('search_view_sorted', viewParameters, {
  before: `${viewed},`,
  from: (keys) =>
    `viewed join submissions p on p.workspace_id = $workspace_id and p.id = viewed.id and p.trashed_at is null ${keys}`,
});

/** Every id of a searched view in its order, up to one more than is allowed. */
export const searchViewIds = statement(
  'search_view_ids',
  ['limit', viewParameters],
  'ids',
  `with ${viewed}
   select coalesce(array_agg(id order by rank desc, id desc), '{}') as ids
   from (select id, rank from viewed order by rank desc, id desc limit $limit) page`,
);
