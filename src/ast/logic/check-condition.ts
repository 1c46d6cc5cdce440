import { findConditionFault } from '../attributes/condition-problem.ts';
import {
  type Comparison,
  type ComparisonOperator,
  type Condition,
  type ConditionValue,
  comparisonOperators,
  elementIdsOf,
  walkComparisons,
} from '../basics/condition.ts';
import { isRecord, jsonStorageProblem } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { type Option, optionIdOf, optionsById } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import { fitsBytes } from '../basics/text.ts';
import { formIndexOf } from '../form/form-index.ts';
import { type InputType, inputRules, isInputType } from '../form/input-rules.ts';
import { pipedAttributes, pipedIds, unpipedAttributes } from '../form/piping.ts';
import { type Form, isComposite, isRepeatable, type PlacedElement } from '../form/tree.ts';
import { isMomentLimit, type MomentFormat } from '../rules/moments.ts';
import { textInAllLanguages } from '../translations/text-in-all-languages.ts';
import { rowKind } from '../types/lazy-rules/matrix.ts';
import type { AnswerKind, InputRules } from '../types/rules.ts';
import { isScoredLater, type LogicNode, type LogicProblem, nameOfNode } from './logic-node.ts';

const answered = ['answered', 'not_answered'] as const;
const equal = ['equals', 'not_equals', 'one_of', ...answered] as const;
const order = ['greater_than', 'at_least', 'less_than', 'at_most'] as const;
const chronological = ['after', 'before'] as const;
const containing = ['contains', 'not_contains'] as const;

/** The operators that answers of each kind support. */
const operatorsOfKind: Readonly<Record<AnswerKind | 'group', readonly ComparisonOperator[]>> = {
  text: [...equal, ...containing],
  // Dates and times are sortable text: they have an order but cannot contain a part.
  moment: [...equal, ...order, ...chronological],
  number: [...equal, ...order],
  boolean: ['equals', 'not_equals', ...answered],
  choice: equal,
  choices: [...containing, 'one_of', ...answered],
  order: answered,
  grid: answered,
  consent: answered,
  files: answered,
  group: answered,
};

/** Lists the operators for an element, in the order of the full list. Groups support only `answered`. */
export const operatorsForType = (type: InputType | 'composite'): readonly ComparisonOperator[] =>
  operatorsForKind(type === 'composite' ? 'group' : inputRules[type].kind);

/** Lists the operators for a kind of answer. */
export const operatorsForKind = (kind: AnswerKind | 'group'): readonly ComparisonOperator[] =>
  inOrder(operatorsOfKind[kind]);

const inOrder = (allowed: readonly ComparisonOperator[]): ComparisonOperator[] =>
  comparisonOperators.filter((operator) => allowed.includes(operator));

/** An element that a comparison refers to. */
type Named = {
  readonly id?: string | undefined;
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
};

/**
 * Returns what is wrong with a comparison with an existing element, as the end of a sentence about the
 * attribute: an operator, a value or another question that does not fit the element's answers.
 * @param other the question under `other`, if the comparison has one.
 */
export function comparisonProblem(comparison: Comparison, named: Named, other?: Named): string | undefined {
  const { is, value } = comparison;
  const row = 'row' in comparison ? comparison.row : undefined;
  const name = quote(named.id ?? named.type);
  if (row !== undefined && !hasRow(named, row))
    return `names the row ${quote(row)}, which ${name} does not have`;
  const kind = kindOf(named, row);
  const allowed = operatorsOfKind[kind];
  if (!allowed.includes(is))
    return `cannot use the operator ${quote(is)} on ${name}; use one of ${inOrder(allowed).join(', ')}`;
  if (other) {
    const otherName = quote(other.id ?? other.type);
    if (other.id === named.id) return `compares ${name} with itself; name another question under "other"`;
    return areComparable(kind, named, other)
      ? undefined
      : `compares ${name} with ${otherName}, whose answers are of another kind`;
  }
  const values: readonly ConditionValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const wrong = values.find((each) => !fits[kind](each, named));
  return wrong === undefined
    ? undefined
    : `compares ${name} with ${quote(String(wrong))}, which is not one of its possible answers`;
}

/** Returns whether answers of a kind can be compared with the answers to another question. */
export function areComparable(kind: AnswerKind | 'group', named: Named, other: Named): boolean {
  if (kind === 'moment') return other.type === named.type;
  return kindOf(other, undefined) === (kind === 'choices' ? 'choice' : kind);
}

/** The rows of a matrix may be unknown; then every row is accepted. */
const hasRow = ({ type, attrs }: Named, row: string): boolean =>
  isInputType(type) &&
  (inputRules[type] as InputRules).row !== undefined &&
  (attrs['rows'] === undefined || (attrs['rows'] as readonly Option[]).map(optionIdOf).includes(row));

/** Returns the kind of the compared answer: of an element, of one row of a matrix, or of a group. */
function kindOf({ type, attrs }: Named, row: string | undefined): AnswerKind | 'group' {
  if (row !== undefined) return rowKind(attrs['multiple'] === true);
  return isInputType(type) ? inputRules[type].kind : 'group';
}

/** Returns what is wrong with a comparison of a reference value. */
export function referenceComparisonProblem({ is, value }: Comparison): string | undefined {
  if (chronological.some((each) => each === is))
    return `cannot use the operator ${quote(is)} on a reference value; use it on a date or time`;
  return typeof value === 'boolean'
    ? 'compares a reference value with true or false; compare it with text'
    : undefined;
}

const isOption = (value: ConditionValue, { attrs }: Named): boolean =>
  typeof value === 'string' &&
  (attrs['other'] === true || attrs['options'] === undefined || optionsById(attrs).has(value));

const fits: Readonly<Record<AnswerKind | 'group', (value: ConditionValue, named: Named) => boolean>> = {
  text: (value) => typeof value === 'string',
  moment: (value, { type }) => typeof value === 'string' && isMomentLimit(type as MomentFormat, value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  choice: isOption,
  choices: isOption,
  order: () => false,
  grid: () => false,
  consent: () => false,
  files: () => false,
  group: () => false,
};

/** A problem in a filter: a sentence, and the path of the part as in `walkComparisons`. */
type FilterProblem = { readonly message: string; readonly path: readonly number[] };

/**
 * Checks a filter: a condition over whole submissions. It can refer to inputs outside of rows in any step,
 * and to repeatable groups to test whether they are answered.
 * @param older versions of the form whose elements the filter can also refer to.
 * @returns every name and value that does not fit, or the first problem in the filter's structure. Accepts
 * any value, never throws.
 */
export const checkFilter = (form: Form, filter: unknown, older: readonly Form[] = []): FilterProblem[] =>
  checkComparisons(filter, (comparison) => findComparedElement(comparison, [form, ...older])[0]);

/** Checks the comparisons of a filter with a check that the caller provides. */
export function checkComparisons(
  filter: unknown,
  problemOf: (comparison: Comparison) => string | undefined,
): FilterProblem[] {
  const createProblem = (problem: string, path: readonly number[]): FilterProblem => ({
    message: `The filter ${problem}.`,
    path,
  });
  const fault = findConditionFault(filter);
  if (fault) return [createProblem(fault.problem, fault.path)];
  const unstorable = isRecord(filter) && jsonStorageProblem(filter, { values: 0, markup: 0 });
  if (unstorable) return [createProblem(unstorable, [])];
  if (!fitsBytes(JSON.stringify(filter), formLimits.filterBytes))
    return [createProblem(`must have at most ${formLimits.filterBytes} bytes as JSON`, [])];
  return [...walkComparisons(filter as Condition)].flatMap(({ comparison, path }) => {
    const problem = problemOf(comparison);
    return problem === undefined ? [] : [createProblem(problem, path)];
  });
}

/**
 * Finds the compared element in the first version where the comparison is valid, or returns the first
 * version's problem.
 */
export function findComparedElement(
  comparison: Comparison,
  versions: readonly Form[],
): [problem: string | undefined, named?: PlacedElement] {
  if ('reference' in comparison) return [referenceComparisonProblem(comparison)];
  const having = versions.filter((form) => formIndexOf(form).byId.has(comparison.element));
  const named = having.map((form) => formIndexOf(form).byId.get(comparison.element)!);
  const problems = having.map((form) => namedProblem(comparison, form));
  const fitting = problems.indexOf(undefined);
  if (fitting >= 0) return [undefined, named[fitting]!];
  return [problems[0] ?? `names ${quote(comparison.element)}, which is not an element of the form`];
}

function namedProblem(comparison: Comparison, form: Form): string | undefined {
  const named: Named[] = [];
  for (const id of elementIdsOf(comparison)) {
    const placed = formIndexOf(form).byId.get(id);
    const problem = placed ? answerProblem(placed) : 'which is not an element of the form';
    if (problem) return `names ${quote(id)}, ${problem}`;
    const { type, attrs } = placed!.element;
    named.push({ id, type, attrs: attrs ?? {} });
  }
  return comparisonProblem(comparison, named[0]!, named[1]);
}

/** Returns why an element does not have a single answer in a submission. */
function answerProblem({ element, group }: PlacedElement): string | undefined {
  if (group) return `which has an answer in each row of ${quote(group.attrs.id)}`;
  if (isComposite(element))
    return isRepeatable(element) ? undefined : 'which has no answer itself; name an element in it';
  return isInputType(element.type) ? undefined : 'which has no answer';
}

/**
 * Checks the placeholders in texts (`{{id}}`). Their questions must come before the text; a question in a row
 * can be shown only in that row.
 * @param nodes every step and element of the form, in reading order.
 */
export function* checkPiping(
  nodes: readonly LogicNode[],
  byId: ReadonlyMap<string, LogicNode>,
): Generator<LogicProblem, void> {
  const piped = nodes.filter(mayBePiped);
  if (piped.length === 0) return;
  const places = new Map(nodes.map((node, index) => [node, index]));
  const counts = new Map<string, number>();
  for (const node of piped) {
    const { path } = node;
    for (const name of unpipedAttributes) {
      const [id] = textInAllLanguages(node.attrs, name).flatMap(({ text }) => pipedIds(text));
      if (id)
        yield {
          message: `${quote(name)} of ${nameOfNode(node)} cannot show answers. Remove {{${id}}}.`,
          path,
        };
    }
    for (const name of pipedAttributes) {
      const shown = textInAllLanguages(node.attrs, name).flatMap(({ text, language }) =>
        pipedIds(text).map((id) => ({ id, language })),
      );
      for (const { id, language } of shown) {
        const count = (counts.get(language) ?? 0) + 1;
        counts.set(language, count);
        // A page is rendered in only one language.
        if (count > formLimits.placeholders) {
          yield {
            message: `The text of a form can show at most ${formLimits.placeholders} answers in total.`,
            path,
          };
          return;
        }
        const named = byId.get(id);
        const isBefore = named !== undefined && places.get(named)! < places.get(node)!;
        const problem = problemOf(node, named, isBefore);
        if (problem) {
          const message = `${quote(name)} of ${nameOfNode(node)} shows the answer to ${quote(id)}, ${problem}.`;
          yield { message, path };
        }
      }
    }
  }
}

/** Returns whether a node has a text, in any language, that may contain a placeholder. */
const mayBePiped = ({ attrs }: LogicNode): boolean =>
  attrs.translations !== undefined ||
  Object.values(attrs).some((value) => typeof value === 'string' && value.includes('{{'));

function problemOf(node: LogicNode, named: LogicNode | undefined, isBefore: boolean): string | undefined {
  if (!named) return 'which is not an element of the form';
  if (!isInputType(named.type)) return 'which has no answer';
  if (named.type === 'score') return isScoredLater;
  if (!isBefore) return 'which is not asked before this text';
  if (named.group && named.group !== node.group)
    return `which has an answer in each row of ${nameOfNode(named.group)}; only text in that row can show it`;
  return undefined;
}
