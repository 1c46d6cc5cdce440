import { type Comparison, type Condition, comparisonsOf } from '#ast/basics/condition.ts';
import { quote } from '#ast/basics/problems.ts';
import {
  type checkComparisons,
  comparisonProblem,
  referenceComparisonProblem,
} from '#ast/logic/check-condition.ts';
import { todayIn } from '#ast/rules/today.ts';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { boolean, columns, integers, nullable, type RowOf, statement, textEnum } from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/submission-rows.ts';
import { stageIdSql } from '#workspaces/stages.ts';
import {
  countComparisons,
  inSpanSql,
  invalidCondition,
  limitConditionWork,
  parseConditionJson,
  refuseTextOrderComparison,
} from './read-where.ts';
import {
  type ComparedKind,
  checkWhere,
  doesReadWhole,
  isAssignmentComparison,
  matchesUnanswered,
  wherePath,
} from './where-path.ts';

/** Creation times are converted to ids, which sort by time and are indexed. */
export const spanColumns = columns('from_id to_id', { status: nullable(textEnum<SubmissionStatus>()) });

/**
 * Parameters of statements that filter submissions. A condition on answers is one JSON path, so that the
 * text, plan and name of a statement stay the same for every condition (docs/decisions/0001). Answers are not
 * indexed: the condition reads the JSON of submissions that match the other filters (docs/decisions/0036).
 */
const submissionFilterColumns = columns(
  'completed_from:timestamp? completed_to:timestamp? received_from:timestamp?',
  'received_to:timestamp? tag?',
  {
    /** Whether the condition reads more than answers. Building one object of all doubles the cost. */
    reads_whole: boolean,
  },
  spanColumns,
);

export const filterColumns = columns('version? condition:jsonPath?', submissionFilterColumns);

/** Parameters of statements whose condition differs by form. */
export const conditionsColumns = columns(
  'form_ids conditions:jsonPaths',
  {
    /** For each form, the number of its path in `conditions`, from 1; 0 if all of its submissions match. */
    condition_of: integers,
  },
  submissionFilterColumns,
);

/** The completion time, or the last save of an incomplete submission. Indexed by `submissions_received`. */
export const receivedAtSql = 'coalesce(p.completed_at, p.updated_at)';

/** Whether the submission `p` meets a condition. */
export const meetsConditionSql = (condition: string, readsWhole: string): string => `case when ${readsWhole}
    then jsonb_build_object('answers', p.answers, 'reference', p.reference,
      'stage', ${stageIdSql('p')}, 'assignee', p.assignee_id) else p.answers::jsonb end @@ ${condition}`;

/** The filter conditions on the submission `p` itself. */
export const submissionFilterSql = (condition: string): string => `($status is null or p.status = $status)
  and ($completed_from is null or p.completed_at >= $completed_from)
  and ($completed_to is null or p.completed_at < $completed_to)
  and ($received_from is null or ${receivedAtSql} >= $received_from)
  and ($received_to is null or ${receivedAtSql} < $received_to)
  and ($tag is null or p.tags @> array[$tag])
  and (${condition} is null or ${meetsConditionSql(condition, '$reads_whole')})`;

export const filterConditionSql = `($version is null or p.version = $version) and ${submissionFilterSql('$condition')}`;

/**
 * The index that a filter uses. `any`: the ids of a form; `one`: the ids of one status; `tagged`: the ids of
 * tagged submissions. `filtered` and `tagged` also check each submission.
 */
export type FilterKind = 'any' | 'one' | 'filtered' | 'tagged';

/**
 * Declares a statement for each kind of filter. `met` returns the condition on the submissions `p` of a form.
 */
export const declareByFilterKind = <Declared>(
  declare: (columns: typeof spanColumns | typeof filterColumns, met: string) => Declared,
): Record<FilterKind, Declared> => ({
  any: declare(spanColumns, `${inSpanSql} and $status is null`),
  one: declare(spanColumns, `${inSpanSql} and p.status = $status`),
  filtered: declare(filterColumns, `${inSpanSql} and ${filterConditionSql}`),
  tagged: declare(filterColumns, `${inSpanSql} and p.tags <> '{}' and ${filterConditionSql}`),
});

/** For an unknown time span PostgreSQL would choose the index of ids; `is true` prevents that. */
const inSpanUnindexedSql = 'p.trashed_at is null and (p.id >= $from_id and p.id < $to_id) is true';

/** The filter on submissions `p` of a form, found through the index submissions_received. */
export const filteredReceivedSql = `${inSpanUnindexedSql}
  and ${receivedAtSql} >= coalesce($received_from, '-infinity')
  and ${receivedAtSql} < coalesce($received_to, 'infinity') and ${filterConditionSql}`;

/** Declares the statements for a list ordered by `receivedAt`, whose index serves all of them. */
export const declareByFilterReceived = <Declared>(
  declare: (columns: typeof spanColumns | typeof filterColumns, met: string) => Declared,
): Record<FilterKind, Declared> => {
  const filtered = declare(filterColumns, filteredReceivedSql);
  return {
    any: declare(spanColumns, `${inSpanUnindexedSql} and $status is null`),
    one: declare(spanColumns, `${inSpanUnindexedSql} and p.status = $status`),
    filtered,
    tagged: filtered,
  };
};

/** Selects the accessible forms with their time zone and number of versions. */
const listFilteredForms = statement('workspace_id form_ids?', 'id time_zone? versions:bigint')`
  select f.id, f.settings ->> 'time_zone' as time_zone, (
    select count(*) from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) as versions
  from forms f
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))`;

/**
 * Selects the types of the named elements in each form that has them: the live version first, then newest
 * first. Only versions whose fields contain the name are parsed.
 */
const findNamedTypes = statement('workspace_id form_ids elements', 'form_id element types:texts')`
  select v.form_id, named.id as element,
    array_agg(v.fields -> named.id ->> 'type' order by v.version = f.version desc, v.version desc) as types
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
  join unnest($elements) as named (id) on strpos(v.fields::text, '"' || named.id || '"') > 0
  where f.workspace_id = $workspace_id and f.id = any ($form_ids) and v.fields -> named.id ->> 'type' is not null
  group by v.form_id, named.id`;

/** The forms in which a condition can match, with the condition for each. */
export type FormConditions = Pick<
  RowOf<typeof conditionsColumns>,
  'form_ids' | 'condition_of' | 'conditions' | 'reads_whole'
>;

/**
 * The maximum number of versions that are searched for the names in a condition. The search takes some tenths
 * of a second on one core.
 */
const mostVersions = 20_000;

type Reach = { workspaceId: string; formIds: readonly string[] | null };

/**
 * Reads a condition on the submissions of all accessible forms. In each form it means what it means in the
 * list of that form. If a form lacks the element, or has it with another type, the question counts as
 * unanswered. If the condition then cannot match, no submission of the form is read.
 * @throws ApiError bad_request for a condition that fits no form, and for too much work.
 */
export async function readWhereOfForms(
  database: Database,
  { workspaceId, formIds }: Reach,
  sent: string,
  span: { from_id: string; to_id: string },
): Promise<FormConditions> {
  const where = parseConditionJson(sent);
  refuseAll(checkWhere(where, () => undefined));
  const condition = where as Condition;
  const forms = await listFilteredForms(database, {
    workspace_id: workspaceId,
    form_ids: formIds && [...formIds],
  });
  if (forms.reduce((sum, { versions }) => sum + versions, 0) > mostVersions)
    throw invalidCondition([
      `These forms have more than ${mostVersions} versions together. Filter one form at a time.`,
    ]);
  const types = await readTypes(database, workspaceId, forms, condition);
  refuseAll(checkWhere(condition, (comparison) => problemIn(types, comparison)));
  refuseTextOrderComparison(condition);
  const conditions = compile(condition, forms, types);
  await limitConditionWork(
    database,
    { workspaceId, formIds: conditions.form_ids },
    countComparisons(condition),
    span,
  );
  return conditions;
}

function refuseAll(problems: ReturnType<typeof checkComparisons>): void {
  if (problems.length > 0)
    throw invalidCondition(problems.map(({ message, path }) => ({ message, path: [...path] })));
}

/** Types by form and element, with the type in the live version first. */
type Types = ReadonlyMap<string, ReadonlyMap<string, readonly ComparedKind[]>>;

async function readTypes(
  database: Database,
  workspaceId: string,
  forms: readonly { id: string }[],
  condition: Condition,
): Promise<Types> {
  const elements = new Set(
    comparisonsOf(condition).flatMap((comparison) => ('element' in comparison ? [comparison.element] : [])),
  );
  const rows = await findNamedTypes(database, {
    workspace_id: workspaceId,
    form_ids: forms.map(({ id }) => id),
    elements: [...elements],
  });
  const byForm = Map.groupBy(rows, ({ form_id }) => form_id);
  return new Map(
    [...byForm].map(([id, named]) => [
      id,
      new Map(named.map(({ element, types }) => [element, [...new Set(types as ComparedKind[])]])),
    ]),
  );
}

/**
 * Returns the problem of a comparison with an element of this type. The element's options and rows are not
 * checked, because they differ by form.
 */
function problemOf(comparison: Comparison, type: ComparedKind): string | undefined {
  const named = { type, ...('element' in comparison && { id: comparison.element }) };
  const problem = comparisonProblem(comparison, { ...named, attrs: {} });
  return problem && comparisonProblem(comparison, { ...named, attrs: { multiple: true } });
}

/** Returns the problem of a comparison that fits no form. */
function problemIn(types: Types, comparison: Comparison): string | undefined {
  if ('reference' in comparison) return referenceComparisonProblem(comparison);
  const { element } = comparison;
  const known = new Set([...types.values()].flatMap((form) => form.get(element) ?? []));
  if (known.size === 0) return `names ${quote(element)}, which is not an element of any accessible form`;
  const problems = [...known].map((type) => problemOf(comparison, type));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Compiles the condition for each form. Forms whose elements and date are equal share one path. */
function compile(
  condition: Condition,
  forms: readonly { id: string; time_zone: string | null }[],
  types: Types,
): FormConditions {
  const asks = doesReadWhole(condition);
  const at = now();
  const alike = Map.groupBy(forms, ({ id, time_zone }) =>
    JSON.stringify([todayIn(time_zone ?? 'UTC', at), [...(types.get(id) ?? [])].sort()]),
  );
  const found: FormConditions = { form_ids: [], condition_of: [], conditions: [], reads_whole: asks };
  for (const group of alike.values()) {
    const [{ id, time_zone }] = group as [(typeof group)[number]];
    const subjectOf = (comparison: Comparison): ComparedKind | undefined =>
      'reference' in comparison
        ? 'reference'
        : isAssignmentComparison(comparison)
          ? 'assignment'
          : types
              .get(id)
              ?.get(comparison.element)
              ?.find((type) => problemOf(comparison, type) === undefined);
    const left = settle(condition, (comparison) =>
      subjectOf(comparison) === undefined ? matchesUnanswered(comparison.is) : undefined,
    );
    if (left === false) continue;
    if (left !== true)
      found.conditions.push(
        wherePath(left, {
          typeOf: (comparison) => subjectOf(comparison)!,
          today: todayIn(time_zone ?? 'UTC', at),
          readsWhole: asks,
        }),
      );
    for (const form of group) {
      found.form_ids.push(form.id);
      found.condition_of.push(left === true ? 0 : found.conditions.length);
    }
  }
  return found;
}

/**
 * Simplifies a condition in which the results of some comparisons are known. Returns the rest, or a boolean
 * if the result is known.
 */
function settle(
  condition: Condition,
  known: (comparison: Comparison) => boolean | undefined,
): Condition | boolean {
  if ('not' in condition) {
    const part = settle(condition.not, known);
    return typeof part === 'boolean' ? !part : { not: part };
  }
  if (!('all' in condition) && !('any' in condition)) return known(condition) ?? condition;
  const isAny = 'any' in condition;
  const parts = (isAny ? condition.any : condition.all).map((part) => settle(part, known));
  if (parts.includes(isAny)) return isAny;
  const open = parts.filter((part) => typeof part !== 'boolean');
  if (open.length === 0) return !isAny;
  return isAny ? { any: open } : { all: open };
}
