/*
 * A filter over answers is data, not SQL: a statement takes any number of conditions as one JSON parameter (see
 * conditions.ts) and joins them to the rows that it looks at, so that its text, its plan and its name stay the same
 * (docs/decisions/0001). Answers are not indexed: every look reads the JSON of the submissions that the other filters
 * leave. Measured at 100,000 submissions: docs/decisions/0017.
 */

/** The conditions as rows. For statements with the parameter `conditions`; materialized, as it is read per row. */
export const conditionRows = `
  conditions as materialized (
    select source, name, op, lower(text) as text, list, path from json_to_recordset($conditions)
      as c (source text, name text, op text, text text, list text[], path jsonpath))`;

const value = `case c.source when 'answer' then p.answers ->> c.name
                             when 'reference' then p.reference ->> c.name else p.version::text end`;

/**
 * Whether the submission `p` meets all conditions: there is none that it fails. A value that is missing, or of another
 * type than the condition (its element had another one when it was answered), meets only `empty` and `filled`. Each
 * branch reads the answer once: that is what it costs.
 */
export const matchesConditions = `not exists (
  select from conditions c where coalesce(not (case c.op
    when 'contains' then strpos(lower(${value}), c.text) > 0
    when 'equals' then lower(${value}) = c.text
    when 'empty' then ${value} is null
    when 'filled' then ${value} is not null
    when 'path' then (p.answers -> c.name)::jsonb @@ c.path
    when 'any' then (p.answers -> c.name)::jsonb ?| c.list
    when 'all' then (p.answers -> c.name)::jsonb ?& c.list
    else false end), true))`;
