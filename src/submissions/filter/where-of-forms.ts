import { comparisonProblem, referenceProblem } from '#ast/logic/check-comparison.ts';
import { checkComparisons } from '#ast/logic/check-filter.ts';
import { type Comparison, comparisonsOf, type Condition } from '#ast/logic/condition.ts';
import { quote } from '#ast/problems.ts';
import { todayIn } from '#ast/rules/today.ts';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { RowOf } from '#kit/statement.ts';
import { type conditionsColumns, findNamedTypes, listAskedForms } from './queries.ts';
import { countComparisons, limitWork, parse, refuse, refuseOrderOfTexts } from './read-where.ts';
import { asksReference, holdsUnanswered, type Subject, wherePath } from './where-path.ts';

/** The forms in which a condition may hold, and what it is in each. */
export type Conditions = Pick<
  RowOf<typeof conditionsColumns>,
  'form_ids' | 'condition_of' | 'conditions' | 'asks_reference'
>;

/** So many versions of forms are looked through for the names of a condition: some tenths of a second of one core. */
const mostVersions = 20_000;

type Reach = { workspaceId: string; formIds: readonly string[] | null };

/**
 * Reads a condition over the submissions of all forms within reach. In each it is what it is in the list of that form
 * alone; but a form that cannot be asked a comparison, for it has no such element or one of another type, is one in which
 * nobody answered it. Where the condition cannot hold for that, no submission is looked at.
 * @throws ApiError bad_request for what no form understands, and for more work than one request may cause.
 */
export async function readWhereOfForms(
  database: Database,
  { workspaceId, formIds }: Reach,
  sent: string,
  span: { from_id: string; to_id: string },
): Promise<Conditions> {
  const where = parse(sent);
  refuseAll(checkComparisons(where, () => undefined));
  const condition = where as Condition;
  const forms = await listAskedForms(database, {
    workspace_id: workspaceId,
    form_ids: formIds && [...formIds],
  });
  if (forms.reduce((sum, { versions }) => sum + versions, 0) > mostVersions)
    throw refuse([`Forms of more than ${mostVersions} versions are not asked together: ask one form.`]);
  const types = await readTypes(database, workspaceId, forms, condition);
  refuseAll(checkComparisons(condition, (comparison) => problemIn(types, comparison)));
  refuseOrderOfTexts(condition);
  const conditions = compile(condition, forms, types);
  await limitWork(database, { workspaceId, formIds: conditions.form_ids }, countComparisons(condition), span);
  return conditions;
}

function refuseAll(problems: ReturnType<typeof checkComparisons>): void {
  if (problems.length > 0) throw refuse(problems.map(({ message, path }) => ({ message, path: [...path] })));
}

/** By form and element: its types, that of the live version first. */
type Types = ReadonlyMap<string, ReadonlyMap<string, readonly Subject[]>>;

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
      new Map(named.map(({ element, types }) => [element, [...new Set(types as Subject[])]])),
    ]),
  );
}

/** What is wrong with a comparison of an element of this type. Which options and rows it has is the matter of each form. */
function problemOf(comparison: Comparison, type: Subject): string | undefined {
  const named = { type, ...('element' in comparison && { id: comparison.element }) };
  const problem = comparisonProblem(comparison, { ...named, attrs: {} });
  return problem && comparisonProblem(comparison, { ...named, attrs: { multiple: true } });
}

/** What is wrong with a comparison that can be asked of no form. */
function problemIn(types: Types, comparison: Comparison): string | undefined {
  if ('reference' in comparison) return referenceProblem(comparison);
  const { element } = comparison;
  const known = new Set([...types.values()].flatMap((form) => form.get(element) ?? []));
  if (known.size === 0) return `names ${quote(element)}, which is no element of any form within reach`;
  const problems = [...known].map((type) => problemOf(comparison, type));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Forms with the same elements on the same day share one path. */
function compile(
  condition: Condition,
  forms: readonly { id: string; time_zone: string | null }[],
  types: Types,
): Conditions {
  const asks = asksReference(condition);
  const at = now();
  const alike = Map.groupBy(forms, ({ id, time_zone }) =>
    JSON.stringify([todayIn(time_zone ?? 'UTC', at), [...(types.get(id) ?? [])].sort()]),
  );
  const found: Conditions = { form_ids: [], condition_of: [], conditions: [], asks_reference: asks };
  for (const group of alike.values()) {
    const [{ id, time_zone }] = group as [(typeof group)[number]];
    const subjectOf = (comparison: Comparison): Subject | undefined =>
      'reference' in comparison
        ? 'reference'
        : types
            .get(id)
            ?.get(comparison.element)
            ?.find((type) => problemOf(comparison, type) === undefined);
    const left = settle(condition, (comparison) =>
      subjectOf(comparison) === undefined ? holdsUnanswered(comparison.is) : undefined,
    );
    if (left === false) continue;
    if (left !== true)
      found.conditions.push(
        wherePath(left, {
          typeOf: (comparison) => subjectOf(comparison)!,
          today: todayIn(time_zone ?? 'UTC', at),
          asksReference: asks,
        }),
      );
    for (const form of group) {
      found.form_ids.push(form.id);
      found.condition_of.push(left === true ? 0 : found.conditions.length);
    }
  }
  return found;
}

/** What is left of a condition some of whose comparisons are known; or whether it holds, where that follows. */
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
