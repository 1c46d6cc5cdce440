import {
  type Comparison,
  type Condition,
  comparisonsOf,
  elementIdsOf,
  endOfForm,
} from '../basics/condition.ts';
import { formLimits } from '../basics/limits.ts';
import { quote } from '../basics/problems.ts';
import { isInputType } from '../form/input-rules.ts';
import { checkPiping, comparisonProblem, referenceComparisonProblem } from './check-condition.ts';
import { checkFormulas } from './check-formulas.ts';
import { findCycles } from './cycles.ts';
import {
  isScoredLater,
  type LogicNode,
  type LogicProblem,
  listConditionalOptions,
  nameOfNode,
} from './logic-node.ts';

/**
 * Checks what conditions and jumps refer to (docs/decisions/0012). Conditions can use inputs of the same row,
 * of the same step or of earlier steps, with operators and values that fit. Jumps must lead to later steps.
 * There must be no cycles.
 * @param nodes every step and element of the form, in reading order.
 */
export function* checkLogic(nodes: readonly LogicNode[]): Generator<LogicProblem, void> {
  const steps = nodes.filter(({ type }) => type === 'step');
  const elements = nodes.filter(({ type }) => type !== 'step');
  yield* checkStepIds(steps);
  const byId = new Map<string, LogicNode>();
  // Duplicate IDs are reported separately. Here, the first node with each ID is used.
  for (const node of elements) if (node.id !== undefined && !byId.has(node.id)) byId.set(node.id, node);
  yield* checkPiping(nodes, byId);
  yield* checkFormulas(nodes, byId);
  let comparisons = 0;
  for (const node of nodes) {
    for (const { attribute, option, condition } of conditionsOf(node)) {
      for (const comparison of comparisonsOf(condition)) {
        comparisons += 1;
        if (comparisons > formLimits.formComparisons) {
          const message = `The conditions of a form can have at most ${formLimits.formComparisons} comparisons in total.`;
          yield { message, path: node.path };
          return;
        }
        const problem = nameProblem(node, attribute, comparison, byId);
        if (problem) {
          const what = `${quote(attribute)} of ${option ? `the option ${quote(option)} of ` : ''}${nameOfNode(node)}`;
          yield { message: `${what} ${problem}.`, path: node.path };
        }
      }
    }
    yield* checkJumps(node, steps);
  }
  yield* findCycles(elements, byId);
}

type PlacedCondition = {
  readonly attribute: string;
  /** The ID of the option, if the condition belongs to an option. */
  readonly option?: string;
  readonly condition: Condition;
};

/** Yields the conditions of a node with their attributes. */
function* conditionsOf({ attrs }: LogicNode): Generator<PlacedCondition, void> {
  for (const name of ['show_when', 'hide_when', 'require_when', 'valid_when'] as const)
    if (attrs[name]) yield { attribute: name, condition: attrs[name] };
  for (const { id, show_when: condition } of listConditionalOptions(attrs))
    yield { attribute: 'show_when', option: id, condition };
  for (const { when } of attrs.jumps ?? []) if (when) yield { attribute: 'jumps', condition: when };
}

/** Returns what is wrong with the names in a comparison, as the end of a sentence about the attribute. */
function nameProblem(
  node: LogicNode,
  attribute: string,
  comparison: Comparison,
  byId: ReadonlyMap<string, LogicNode>,
): string | undefined {
  if ('reference' in comparison) return referenceComparisonProblem(comparison);
  for (const id of elementIdsOf(comparison)) {
    const problem = elementProblem(node, attribute, id, byId);
    if (problem) return problem;
  }
  const { element, other } = comparison;
  return comparisonProblem(comparison, byId.get(element)!, other === undefined ? other : byId.get(other));
}

function elementProblem(
  node: LogicNode,
  attribute: string,
  id: string,
  byId: ReadonlyMap<string, LogicNode>,
): string | undefined {
  const named = byId.get(id);
  const name = quote(id);
  if (!named) return `names ${name}, which is not an element of the form`;
  if (named.type !== 'composite' && !isInputType(named.type)) return `names ${name}, which has no answer`;
  if (named.type === 'score') return `names ${name}, ${isScoredLater}`;
  const [ownStep = 0] = node.path;
  const [namedStep = 0] = named.path;
  // Whether a step is shown is decided before the step's own elements have answers.
  const isOwnStepOpen = node.type !== 'step' || attribute === 'jumps';
  // A rule that names a later step is checked when the form is submitted.
  if (namedStep > ownStep && attribute !== 'valid_when')
    return `names ${name}, which is asked in a later step`;
  if (namedStep === ownStep && !isOwnStepOpen) return `names ${name}, which is asked in the same step`;
  if (named.group && named.group !== node.group)
    return `names ${name}, which has an answer in each row of ${nameOfNode(named.group)}; only conditions in that row can use it`;
  return undefined;
}

function* checkJumps(node: LogicNode, steps: readonly LogicNode[]): Generator<LogicProblem, void> {
  for (const { to } of node.attrs.jumps ?? []) {
    if (to === endOfForm) continue;
    const target = steps.find(({ id }) => id === to);
    const problem = target
      ? target.path[0]! > node.path[0]! || 'which is not a later step'
      : 'which is not a step of the form';
    if (problem !== true)
      yield { message: `"jumps" of ${nameOfNode(node)} leads to ${quote(to)}, ${problem}.`, path: node.path };
  }
}

function* checkStepIds(steps: readonly LogicNode[]): Generator<LogicProblem, void> {
  const ids = new Set<string>();
  for (const { id, path } of steps) {
    if (id === undefined) continue;
    if (id === endOfForm)
      yield { message: `A step cannot have the ID "${endOfForm}". Choose another ID.`, path };
    if (ids.has(id)) yield { message: `Step ids must be unique: ${quote(id)} is used more than once.`, path };
    ids.add(id);
  }
}
