import { boolean, columns, integers, nullable, statement, word } from '#kit/statement.ts';
import type { SubmissionStatus } from '../queries.ts';

/** Times of creation are the ids that were made then: ids sort by time, and their index answers. */
export const spanColumns = columns('from_id to_id', { status: nullable(word<SubmissionStatus>()) });

/**
 * What a statement on filtered submissions is given. A condition on answers is one JSON path, so that the text, the plan
 * and the name of a statement stay the same whatever is asked (docs/decisions/0001). Answers are not indexed: each look
 * reads the JSON of the submissions that all else leaves (docs/decisions/0036).
 */
const lookedUpColumns = columns(
  'completed_from:timestamp? completed_to:timestamp? received_from:timestamp?',
  'received_to:timestamp? tag?',
  {
    /** Whether the condition asks for reference values: to put them beside the answers costs as much again. */
    asks_reference: boolean,
  },
  spanColumns,
);
export const filterColumns = columns('version? condition:jsonPath?', lookedUpColumns);

/** The same where a condition is another one in each form. */
export const conditionsColumns = columns(
  'form_ids conditions:jsonPaths',
  {
    /** For each of them the number of its path among `conditions`, from 1; 0: none, all of its submissions meet it. */
    condition_of: integers,
  },
  lookedUpColumns,
);

/** When a submission was completed; of an incomplete one, when it was saved last. The index `submissions_received` has it. */
export const receivedAt = 'coalesce(p.completed_at, p.updated_at)';

/** What of a filter is looked up in the submission `p` itself. */
const lookedUp = (condition: string): string => `($status is null or p.status = $status)
  and ($completed_from is null or p.completed_at >= $completed_from)
  and ($completed_to is null or p.completed_at < $completed_to)
  and ($received_from is null or ${receivedAt} >= $received_from)
  and ($received_to is null or ${receivedAt} < $received_to)
  and ($tag is null or p.tags @> array[$tag])
  and (${condition} is null or case when $asks_reference
    then jsonb_build_object('answers', p.answers, 'reference', p.reference) else p.answers::jsonb end @@ ${condition})`;
export const isMet = `($version is null or p.version = $version) and ${lookedUp('$condition')}`;

/** Submissions `p` that lie in no trash and in the span. */
export const inSpan = `p.trashed_at is null and p.id >= $from_id and p.id < $to_id`;

/** Which index answers: that of a form's ids, of those of one status, of those with tags; the last two look further. */
export type FilterKind = 'any' | 'one' | 'filtered' | 'tagged';

/**
 * The same statements for a list by `receivedAt`, whose index answers all of them. The planner must not take the index of
 * ids for their span, of which it knows nothing and expects little: `is true` keeps it from that.
 */
export const byFilterReceived = <Declared>(
  name: string,
  declare: (name: string, columns: typeof spanColumns | typeof filterColumns, met: string) => Declared,
): Record<FilterKind, Declared> => {
  const isIn = 'p.trashed_at is null and (p.id >= $from_id and p.id < $to_id) is true';
  const filtered = declare(
    `${name}_filtered`,
    filterColumns,
    `${isIn} and ${receivedAt} >= coalesce($received_from, '-infinity')
     and ${receivedAt} < coalesce($received_to, 'infinity') and ${isMet}`,
  );
  return {
    any: declare(name, spanColumns, `${isIn} and $status is null`),
    one: declare(`${name}_by_status`, spanColumns, `${isIn} and p.status = $status`),
    filtered,
    tagged: filtered,
  };
};

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

/** The submissions `p` that meet the condition of their form, which `f.condition` numbers. */
export const metByForm = `${inSpan} and ${lookedUp('($conditions)[f.condition]')}`;

/** How many submissions of forms lie in a span, as far as they are counted. */
export const countSpan = statement(
  'filter.count_span',
  'workspace_id form_ids from_id to_id most',
  'count',
  `select count(*) as count from (
     select from submissions p
     where p.workspace_id = $workspace_id and p.form_id = any ($form_ids) and ${inSpan} limit $most) counted`,
);

/** Forms within reach, their days, and how many versions each has. */
export const listAskedForms = statement(
  'filter.list_asked_forms',
  'workspace_id form_ids?',
  'id time_zone? versions:bigint',
  `select f.id, f.settings ->> 'time_zone' as time_zone, (
     select count(*) from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) as versions
   from forms f
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))`,
);

/**
 * Of what type the named elements are in each form that has them: as it is live, then as they were, newest first. Only
 * the fields that have the name in them are taken apart.
 */
export const findNamedTypes = statement(
  'filter.find_named_types',
  'workspace_id form_ids elements',
  'form_id element types:texts',
  `select v.form_id, named.id as element,
     array_agg(v.fields -> named.id ->> 'type' order by v.version = f.version desc, v.version desc) as types
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   join unnest($elements) as named (id) on strpos(v.fields::text, '"' || named.id || '"') > 0
   where f.workspace_id = $workspace_id and f.id = any ($form_ids) and v.fields -> named.id ->> 'type' is not null
   group by v.form_id, named.id`,
);
