import { type Condition, comparisonsOf, elementIdsOf } from '../basics/condition.ts';
import { formLimits } from '../basics/limits.ts';
import { parseFormula } from './formula/parse.ts';
import { elementIdsIn } from './formula/program.ts';
import { type LogicNode, type LogicProblem, listConditionalOptions, nameOfNode } from './logic-node.ts';

/** A dependency in the search for cycles: whether a node is shown, or whether a group has an answer. */
type Dependency = { readonly node: LogicNode; readonly asks: 'shown' | 'answered' };

/** A dependency on the current path, with its own dependencies and the number of them that are done. */
type Visit = { readonly matter: Dependency; readonly before: readonly Dependency[]; at: number };

/**
 * Finds cycles among formulas and the conditions that show and hide elements and options. Also finds chains
 * that are too long within a step. Conditions that only require an answer cannot close a cycle. Linear in
 * elements and comparisons. Uses a list instead of recursion, because a chain can contain every element of
 * the form.
 */
export function* findCycles(
  elements: readonly LogicNode[],
  byId: ReadonlyMap<string, LogicNode>,
): Generator<LogicProblem, void> {
  // Most forms have neither formulas nor conditions, and groups alone are never nested that deeply.
  if (!elements.some(({ attrs }) => attrs.formula !== undefined || conditionsOf(attrs).length > 0)) return;
  const graph = createDependencyGraph(elements, byId);
  const depths = new Map<Dependency, number>();
  const open = new Set<Dependency>();
  for (const start of graph.matters) {
    const trail: Visit[] = [];
    const enter = (matter: Dependency): void => {
      open.add(matter);
      trail.push({ matter, before: graph.before(matter), at: 0 });
    };
    if (!depths.has(start)) enter(start);
    for (let visit = trail.at(-1); visit; visit = trail.at(-1)) {
      const next = visit.before[visit.at];
      visit.at += 1;
      if (next === undefined) {
        trail.pop();
        open.delete(visit.matter);
        const depth = depthOf(visit, depths);
        depths.set(visit.matter, depth);
        if (depth === formLimits.logicChain + 1) yield tooLong(visit.matter);
      } else if (open.has(next)) {
        const matters = trail.map(({ matter }) => matter);
        yield cycleProblem(matters.slice(matters.indexOf(next)));
      } else if (!depths.has(next)) enter(next);
    }
  }
}

type Graph = {
  readonly matters: readonly Dependency[];
  readonly before: (matter: Dependency) => Dependency[];
};

function createDependencyGraph(elements: readonly LogicNode[], byId: ReadonlyMap<string, LogicNode>): Graph {
  const shown = new Map<LogicNode, Dependency>(elements.map((node) => [node, { node, asks: 'shown' }]));
  const composites = elements.filter(({ type }) => type === 'composite');
  const answered = new Map<LogicNode, Dependency>(
    composites.map((node) => [node, { node, asks: 'answered' }]),
  );
  const answerOf = (node: LogicNode): Dependency => answered.get(node) ?? shown.get(node)!;
  const children = Map.groupBy(elements, ({ parent }) => parent);
  const namedBy = ({ attrs }: LogicNode): Dependency[] =>
    [...idsInConditions(attrs), ...idsInFormula(attrs)].flatMap((id) => byId.get(id) ?? []).map(answerOf);
  return {
    matters: [...shown.values(), ...answered.values()],
    before: ({ node, asks }) =>
      asks === 'answered'
        ? [shown.get(node)!, ...(children.get(node) ?? []).filter(isAnswered).map(answerOf)]
        : [...(node.parent ? [shown.get(node.parent)!] : []), ...namedBy(node)],
  };
}

function conditionsOf(attrs: LogicNode['attrs']): Condition[] {
  const ofOptions = listConditionalOptions(attrs).map((option) => option.show_when);
  return [attrs.show_when, attrs.hide_when, ...ofOptions].filter((condition) => condition !== undefined);
}

const idsInConditions = (attrs: LogicNode['attrs']): string[] =>
  conditionsOf(attrs)
    .flatMap((condition) => [...comparisonsOf(condition)])
    .flatMap(elementIdsOf);

function idsInFormula({ formula }: LogicNode['attrs']): string[] {
  const parsed = formula === undefined ? undefined : parseFormula(formula);
  return parsed?.ok ? elementIdsIn(parsed.program) : [];
}

/** A calculated result does not make its group answered. */
const isAnswered = ({ type }: LogicNode): boolean => type !== 'calculation';

/** Returns the depth of a chain within a step. Earlier steps are already evaluated. */
function depthOf({ matter, before }: Visit, depths: ReadonlyMap<Dependency, number>): number {
  const inStep = before.filter(({ node }) => node.path[0] === matter.node.path[0]);
  return inStep.reduce((most, each) => Math.max(most, 1 + (depths.get(each) ?? 0)), 1);
}

function tooLong({ node }: Dependency): LogicProblem {
  const message = `Conditions and formulas can depend on each other at most ${formLimits.logicChain} levels deep within a step. Shorten the chain at ${nameOfNode(node)}.`;
  return { message, path: node.path };
}

function cycleProblem(matters: readonly Dependency[]): LogicProblem {
  const nodes = [...new Set(matters.map(({ node }) => node))];
  const [first] = nodes as [LogicNode, ...LogicNode[]];
  const names = [...nodes, first].map(nameOfNode).join(' → ');
  const what = nodes.some(({ type }) => type === 'calculation') ? 'formulas' : 'conditions';
  return { message: `The ${what} form a cycle: ${names}. Remove one of them.`, path: first.path };
}
