import { formLimits } from '../basics/limits.ts';
import { isInputType } from '../form/input-rules.ts';
import { checkFormula, type FindElement } from './check-formula.ts';
import { formatFormulaProblem } from './formula/formula-problem.ts';
import { parseFormula } from './formula/parse.ts';
import { isScoredLater, type LogicNode, type LogicProblem, nameOfNode } from './logic-node.ts';

/**
 * Checks the formulas of a form. Their elements must be in the same or an earlier step, and in the same row
 * or aggregated over rows. Arguments must fit their functions.
 */
export function* checkFormulas(
  nodes: readonly LogicNode[],
  byId: ReadonlyMap<string, LogicNode>,
): Generator<LogicProblem, void> {
  let characters = 0;
  for (const node of nodes) {
    const { formula } = node.attrs;
    if (formula === undefined) continue;
    characters += formula.length;
    if (characters > formLimits.formCharactersOfFormulas) {
      const message = `The formulas of a form can have at most ${formLimits.formCharactersOfFormulas} characters in total.`;
      yield { message, path: node.path };
      return;
    }
    const parsed = parseFormula(formula);
    const problem = parsed.ok ? checkFormula(parsed.program, createElementLookup(node, byId)) : undefined;
    if (problem)
      yield {
        message: `"formula" of ${nameOfNode(node)} ${formatFormulaProblem(problem)}.`,
        path: node.path,
      };
  }
}

/** Returns a function that finds the elements to which a formula at this position can refer. */
function createElementLookup(
  { path, group }: Pick<LogicNode, 'path' | 'group'>,
  byId: ReadonlyMap<string, LogicNode>,
): FindElement {
  return (id) => {
    const named = byId.get(id);
    if (!named) return 'which is not an element of the form';
    const { type, attrs } = named;
    if (type === 'composite' && attrs['repeatable'] !== true)
      return 'which has no answer itself; name an element in it';
    if (type !== 'composite' && !isInputType(type)) return 'which has no answer';
    if (type === 'score') return isScoredLater;
    if (named.path[0]! > path[0]!) return 'which is asked in a later step';
    const around = named.group === group ? undefined : named.group;
    return { type, attrs, ...(around && { group: around.id ?? '' }) };
  };
}
