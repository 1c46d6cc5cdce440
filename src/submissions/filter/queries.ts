import {
  bigint,
  boolean,
  integer,
  jsonPath,
  nullable,
  statement,
  text,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';
import type { SubmissionStatus } from '../queries.ts';

/** Times of creation are the ids that were made then: ids sort by time, and their index answers. */
export const spanColumns = {
  status: nullable(word<SubmissionStatus>()),
  from_id: uuid,
  to_id: uuid,
} as const;

/**
 * What a statement on filtered submissions is given. A condition on answers is one JSON path, so that the text, the plan
 * and the name of a statement stay the same whatever is asked (docs/decisions/0001). Answers are not indexed: each look
 * reads the JSON of the submissions that all else leaves (docs/decisions/0036).
 */
export const filterColumns = {
  ...spanColumns,
  completed_from: nullable(timestamp),
  completed_to: nullable(timestamp),
  tag: nullable(text),
  version: nullable(integer),
  condition: nullable(jsonPath),
  /** Whether the condition asks for reference values: to put them beside the answers costs as much again. */
  asks_reference: boolean,
} as const;

/** What of a filter is looked up in the submission `p` itself. */
export const isMet = `($status is null or p.status = $status)
  and ($completed_from is null or p.completed_at >= $completed_from)
  and ($completed_to is null or p.completed_at < $completed_to)
  and ($tag is null or p.tags @> array[$tag]) and ($version is null or p.version = $version)
  and ($condition is null or case when $asks_reference
    then jsonb_build_object('answers', p.answers, 'reference', p.reference) else p.answers::jsonb end @@ $condition)`;

const inSpan = `p.trashed_at is null and p.id >= $from_id and p.id < $to_id`;

/** Which index answers: that of a form's ids, of those of one status, of those with tags; the last two look further. */
export type FilterKind = 'any' | 'one' | 'filtered' | 'tagged';

/** A statement for each of them. `met` is for the submissions `p` of a form. */
export const byFilter = <Declared>(
  name: string,
  declare: (name: string, columns: typeof spanColumns | typeof filterColumns, met: string) => Declared,
): Record<FilterKind, Declared> => ({
  any: declare(name, spanColumns, `${inSpan} and $status is null`),
  one: declare(`${name}_by_status`, spanColumns, `${inSpan} and p.status = $status`),
  filtered: declare(`${name}_filtered`, filterColumns, `${inSpan} and ${isMet}`),
  tagged: declare(`${name}_tagged`, filterColumns, `${inSpan} and p.tags <> '{}' and ${isMet}`),
});

/** How many submissions of a form lie in a span, as far as they are counted. */
export const countSpan = statement(
  'filter.count_span',
  { workspace_id: uuid, form_id: uuid, from_id: uuid, to_id: uuid, most: integer },
  { count: bigint },
  `select count(*) as count from (
     select from submissions p
     where p.workspace_id = $workspace_id and p.form_id = $form_id and ${inSpan} limit $most) counted`,
);
