import { conditionFault } from '../attributes/condition-problem.ts';
import {
  type Comparison,
  type Condition,
  type ConditionValue,
  type Operator,
  operators,
  placedComparisons,
} from '../basics/condition.ts';
import { isRecord, storageProblem } from '../basics/json.ts';
import { limits } from '../basics/limits.ts';
import { idOf, type Option, optionsById } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import { fitsBytes } from '../basics/text.ts';
import { indexOf } from '../form/form-index.ts';
import { type InputType, inputRules, isInputType } from '../form/input-rules.ts';
import { pipedAttributes, pipedIds, unpipedAttributes } from '../form/piping.ts';
import { type Form, isComposite, isRepeatable, type PlacedElement } from '../form/tree.ts';
import { isMoment, type MomentFormat } from '../rules/moments.ts';
import { saidTexts } from '../translations/said-texts.ts';
import { rowKind } from '../types/matrix/rules.ts';
import type { AnswerKind, InputRules } from '../types/rules.ts';
import { type LogicNode, type LogicProblem, nameOfNode } from './logic-node.ts';

const answered = ['answered', 'not_answered'] as const;
const equal = ['equals', 'not_equals', 'one_of', ...answered] as const;
const order = ['greater_than', 'at_least', 'less_than', 'at_most'] as const;
const containing = ['contains', 'not_contains'] as const;

/** What the answers of each kind can be asked. */
const operatorsOfKind: Readonly<Record<AnswerKind | 'group', readonly Operator[]>> = {
  text: [...equal, ...containing],
  // Dates and times are text that sorts, so they have an order in place of parts.
  moment: [...equal, ...order],
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

/** The operators that can be asked of an element, in the order of the list; for a group, whether it is answered. */
export const operatorsFor = (type: InputType | 'composite'): readonly Operator[] =>
  operatorsOf(type === 'composite' ? 'group' : inputRules[type].kind);

/** The same of an answer of a kind. */
export const operatorsOf = (kind: AnswerKind | 'group'): readonly Operator[] =>
  inOrder(operatorsOfKind[kind]);

const inOrder = (allowed: readonly Operator[]): Operator[] =>
  operators.filter((operator) => allowed.includes(operator));

/** An element that a comparison names. */
type Named = {
  readonly id?: string | undefined;
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
};

/**
 * What is wrong with a comparison of an element that exists and may be named, as the end of a sentence about the
 * attribute: an operator or a value that does not fit its answers.
 */
export function comparisonProblem(comparison: Comparison, named: Named): string | undefined {
  const { is, value } = comparison;
  const row = 'row' in comparison ? comparison.row : undefined;
  const name = quote(named.id ?? named.type);
  if (row !== undefined && !hasRow(named, row))
    return `asks for the row ${quote(row)} of ${name}, which has no such row`;
  const kind = kindOf(named, row);
  const allowed = operatorsOfKind[kind];
  if (!allowed.includes(is))
    return `cannot ask ${name} for ${quote(is)}; ask for ${inOrder(allowed).join(', ')}`;
  const values: readonly ConditionValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const wrong = values.find((each) => !fits[kind](each, named));
  return wrong === undefined
    ? undefined
    : `compares ${name} with ${quote(String(wrong))}, which is none of its possible answers`;
}

/** Which rows a matrix has may not be known. */
const hasRow = ({ type, attrs }: Named, row: string): boolean =>
  isInputType(type) &&
  (inputRules[type] as InputRules).row !== undefined &&
  (attrs['rows'] === undefined || (attrs['rows'] as readonly Option[]).map(idOf).includes(row));

/** What is asked: the answer to an element, or to one row of a matrix; of a group, whether it is answered. */
function kindOf({ type, attrs }: Named, row: string | undefined): AnswerKind | 'group' {
  if (row !== undefined) return rowKind(attrs['multiple'] === true);
  return isInputType(type) ? inputRules[type].kind : 'group';
}

/** The same for a comparison of a reference value. */
export const referenceProblem = ({ value }: Comparison): string | undefined =>
  typeof value === 'boolean' ? 'compares a reference value, which is text, with true or false' : undefined;

const isOption = (value: ConditionValue, { attrs }: Named): boolean =>
  typeof value === 'string' &&
  (attrs['other'] === true || attrs['options'] === undefined || optionsById(attrs).has(value));

const fits: Readonly<Record<AnswerKind | 'group', (value: ConditionValue, named: Named) => boolean>> = {
  text: (value) => typeof value === 'string',
  moment: (value, { type }) => typeof value === 'string' && isMoment(type as MomentFormat, value),
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

/** One problem of a filter: a sentence, and the place of the part as `placedComparisons` counts it. */
type FilterProblem = { readonly message: string; readonly path: readonly number[] };

/**
 * Checks a filter: a condition over whole submissions, outside of the form. It may name whatever has an answer of its
 * own, in any step: inputs outside of rows, and repeatable composites for whether they are answered.
 * @param older versions of the form whose elements it may name, too, each as it was in one of them.
 * @returns every name and value that does not fit, or the first fault of its shape. Takes any value, never throws.
 */
export const checkFilter = (form: Form, filter: unknown, older: readonly Form[] = []): FilterProblem[] =>
  checkComparisons(filter, (comparison) => findNamed(comparison, [form, ...older])[0]);

/** The same where somebody else knows what is wrong with a comparison. */
export function checkComparisons(
  filter: unknown,
  problemOf: (comparison: Comparison) => string | undefined,
): FilterProblem[] {
  const say = (problem: string, path: readonly number[]): FilterProblem => ({
    message: `The filter ${problem}.`,
    path,
  });
  const fault = conditionFault(filter);
  if (fault) return [say(fault.problem, fault.path)];
  const unstorable = isRecord(filter) && storageProblem(filter, { values: 0, markup: 0 });
  if (unstorable) return [say(unstorable, [])];
  if (!fitsBytes(JSON.stringify(filter), limits.filterBytes))
    return [say(`can have at most ${limits.filterBytes} bytes as JSON`, [])];
  return [...placedComparisons(filter as Condition)].flatMap(({ comparison, path }) => {
    const problem = problemOf(comparison);
    return problem === undefined ? [] : [say(problem, path)];
  });
}

/** The element that a comparison can be asked of, in the first version that has it so; else what is wrong in the first. */
export function findNamed(
  comparison: Comparison,
  versions: readonly Form[],
): [problem: string | undefined, named?: PlacedElement] {
  if ('reference' in comparison) return [referenceProblem(comparison)];
  const named = versions.flatMap((form) => indexOf(form).byId.get(comparison.element) ?? []);
  const problems = named.map((placed) => namedProblem(comparison, placed));
  const fitting = problems.indexOf(undefined);
  if (fitting >= 0) return [undefined, named[fitting]!];
  return [problems[0] ?? `names ${quote(comparison.element)}, which is no element of the form`];
}

function namedProblem(
  comparison: Extract<Comparison, { element: string }>,
  placed: PlacedElement,
): string | undefined {
  const name = quote(comparison.element);
  const problem = answerProblem(placed);
  if (problem) return `names ${name}, ${problem}`;
  const { type, attrs } = placed.element;
  return comparisonProblem(comparison, { id: comparison.element, type, attrs: attrs ?? {} });
}

/** Why an element has no answer of its own in a submission. */
function answerProblem({ element, group }: PlacedElement): string | undefined {
  if (group) return `which has an answer in each row of ${quote(group.attrs.id)}`;
  if (isComposite(element)) {
    return isRepeatable(element) ? undefined : 'which has no answer of its own: name the elements in it';
  }
  return isInputType(element.type) ? undefined : 'which takes no answer';
}

/**
 * Checks the answers that texts show (`{{id}}`): of inputs that are asked before, and of a row only in that row.
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
      const [id] = saidTexts(node.attrs, name).flatMap(({ text }) => pipedIds(text));
      if (id)
        yield {
          message: `${quote(name)} of ${nameOfNode(node)} cannot show answers, such as to ${quote(id)}.`,
          path,
        };
    }
    for (const name of pipedAttributes) {
      const shown = saidTexts(node.attrs, name).flatMap(({ text, language }) =>
        pipedIds(text).map((id) => ({ id, language })),
      );
      for (const { id, language } of shown) {
        const count = (counts.get(language) ?? 0) + 1;
        counts.set(language, count);
        // A page is drawn in one language.
        if (count > limits.placeholders) {
          yield {
            message: `The texts of a form can show at most ${limits.placeholders} answers in all.`,
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

/** Whether a text of the node has what a placeholder begins with, or may have it in another language. */
const mayBePiped = ({ attrs }: LogicNode): boolean =>
  attrs.translations !== undefined ||
  Object.values(attrs).some((value) => typeof value === 'string' && value.includes('{{'));

function problemOf(node: LogicNode, named: LogicNode | undefined, isBefore: boolean): string | undefined {
  if (!named) return 'which is no element of the form';
  if (!isInputType(named.type)) return 'which has no answer of its own';
  if (!isBefore) return 'which is not asked before it';
  if (named.group && named.group !== node.group) {
    return `which has an answer in each row of ${nameOfNode(named.group)}: only its own row can show it`;
  }
  return undefined;
}
