import { isInputType } from '../input-rules.ts';
import { limits } from '../limits.ts';
import { pipedAttributes, pipedIds, unpipedAttributes } from '../piping.ts';
import { quote } from '../problems.ts';
import { saidTexts } from '../translations/said-texts.ts';
import { type LogicNode, type LogicProblem, nameOfNode } from './logic-node.ts';

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
