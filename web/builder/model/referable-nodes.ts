import { memoizeByObject } from '#ast/basics/memoize-by-object.ts';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import { pipedAttributes, pipedIds } from '#ast/form/piping.ts';
import { pipedLabelOf } from '../../conditions/condition-tree.ts';
import { type EditNode, textOf } from './edit-node.ts';
import { editorFormIndexOf, finderIn, type IndexedNode, labelled } from './form-index.ts';
import { isRepeatableNode } from './node-positions.ts';

/**
 * Whether a node has an answer: an input or a group. For a group, a condition can only test whether it is
 * answered.
 */
const takesAnswer = ({ type }: EditNode): boolean =>
  isElementType(type) && elementDefinitions[type].group !== 'content';

/** Returns the repeatable group around a node, at any depth. */
const rowsAround = ({ around }: IndexedNode): EditNode | undefined => around.find(isRepeatableNode);

/**
 * Whether a condition of one node may refer to the answer of another. The other node must have an answer, and
 * be in the same or an earlier step. An input in a row can be referred to only within that row. A node cannot
 * depend on itself or on nodes inside it.
 */
export function canReferInCondition(asking: IndexedNode, asked: IndexedNode): boolean {
  if (!takesAnswer(asked.node)) return false;
  const isLater = asking.node.type === 'step' ? asked.step >= asking.step : asked.step > asking.step;
  if (isLater) return false;
  if (asked.node === asking.node || asked.around.includes(asking.node)) return false;
  if (asking.around.includes(asked.node)) return false;
  const rows = rowsAround(asked);
  return rows === undefined || rowsAround(asking) === rows;
}

/**
 * Whether a formula may refer to a node: one with an answer in the same or an earlier step. Answers from rows
 * of other groups must be aggregated.
 */
export function canReferInFormula(asking: IndexedNode, asked: IndexedNode): boolean {
  const isPlainGroup = asked.node.type === 'composite' && !isRepeatableNode(asked.node);
  return takesAnswer(asked.node) && !isPlainGroup && asked.step <= asking.step && asked.node !== asking.node;
}

/** Lists the nodes that a formula may refer to in reading order, with the group of their rows. */
export function listFormulaNodes(
  root: EditNode,
  asking: EditNode,
): readonly { readonly node: EditNode; readonly rows: EditNode | undefined }[] {
  const { placed, byKey } = editorFormIndexOf(root);
  const place = byKey.get(asking.key);
  if (!place) return [];
  const own = rowsAround(place);
  return placed
    .filter((asked) => textOf(asked.node, 'id') !== '' && canReferInFormula(place, asked))
    .map((asked) => {
      const rows = rowsAround(asked);
      return { node: asked.node, rows: rows === own ? undefined : rows };
    });
}

/** Lists the nodes that conditions in the settings may refer to: those with an answer in a submission. */
export const listSettingConditionNodes = (root: EditNode): readonly EditNode[] =>
  editorFormIndexOf(root)
    .placed.filter((asked) => {
      const isPlainGroup = asked.node.type === 'composite' && !isRepeatableNode(asked.node);
      const isIn = takesAnswer(asked.node) && !isPlainGroup && rowsAround(asked) === undefined;
      return isIn && textOf(asked.node, 'id') !== '';
    })
    .map(({ node }) => labelled(root, node));

/**
 * Whether a jump of a step may refer to a node. Jumps are evaluated when a visitor leaves the step, so the
 * step's own answers are available.
 */
export function canReferInJump(asking: IndexedNode, asked: IndexedNode): boolean {
  if (!takesAnswer(asked.node)) return false;
  return asked.step <= asking.step && rowsAround(asked) === undefined;
}

/** Lists the nodes that a condition may refer to, in reading order. */
export function listConditionNodes(root: EditNode, asking: EditNode, isJump: boolean): readonly EditNode[] {
  const index = editorFormIndexOf(root);
  const place = index.byKey.get(asking.key);
  if (!place) return [];
  const may = isJump ? canReferInJump : canReferInCondition;
  return index.placed
    .filter((asked) => textOf(asked.node, 'id') !== '' && may(place, asked))
    .map(({ node }) => labelled(root, node));
}

/** Returns the question that a new condition of a node tests first: the previous one, or else the next. */
export function suggestConditionNode(
  root: EditNode,
  asking: EditNode,
  nameable: readonly EditNode[],
): EditNode | undefined {
  const order = editorFormIndexOf(root).placed.map(({ node }) => node.key);
  const at = order.indexOf(asking.key);
  return nameable.findLast(({ key }) => order.indexOf(key) < at) ?? nameable[0];
}

/**
 * Whether a text of one node may show the answer of another. The other must be an earlier input; an input in
 * a row is available only inside that row.
 */
export function canShowAnswer(root: EditNode, asking: IndexedNode, asked: IndexedNode): boolean {
  const { placed } = editorFormIndexOf(root);
  const isInput = isElementType(asked.node.type) && elementDefinitions[asked.node.type].group === 'input';
  const rows = rowsAround(asked);
  return (
    isInput &&
    placed.indexOf(asked) < placed.indexOf(asking) &&
    (rows === undefined || rowsAround(asking) === rows)
  );
}

/**
 * Lists the questions whose answers a text may show, in reading order. Without a node, lists the questions of
 * the whole form.
 */
export function listShowableQuestions(root: EditNode, asking: EditNode | undefined): readonly EditNode[] {
  const { placed, byKey } = editorFormIndexOf(root);
  const place = asking && byKey.get(asking.key);
  if (asking && !place) return [];
  const may = (asked: IndexedNode): boolean =>
    place
      ? canShowAnswer(root, place, asked)
      : takesAnswer(asked.node) && asked.node.type !== 'composite' && !rowsAround(asked);
  return placed
    .filter((asked) => textOf(asked.node, 'id') !== '' && may(asked))
    .map(({ node }) => labelled(root, node));
}

const shownIds = memoizeByObject((node: EditNode): readonly string[] =>
  pipedAttributes.flatMap((name) => pipedIds(textOf(node, name))),
);

/** Whether a text of a node shows an answer. */
export const showsAnswers = (node: EditNode): boolean => shownIds(node).length > 0;

/** Lists the questions whose answers the texts of a form show: their ids and labels. */
export const pipedLabelsOf = (root: EditNode): readonly (readonly [id: string, label: string])[] =>
  [...new Set(editorFormIndexOf(root).placed.flatMap(({ node }) => shownIds(node)))].map(
    (id) => [id, pipedLabelOf(id, finderIn(root)(id))] as const,
  );
