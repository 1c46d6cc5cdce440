import { memoizeByObject } from '#ast/basics/memoize.ts';
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
function canReferInCondition(source: IndexedNode, target: IndexedNode): boolean {
  if (!takesAnswer(target.node)) return false;
  const isLater = source.node.type === 'step' ? target.step >= source.step : target.step > source.step;
  if (isLater) return false;
  if (target.node === source.node || target.around.includes(source.node)) return false;
  if (source.around.includes(target.node)) return false;
  const rows = rowsAround(target);
  return rows === undefined || rowsAround(source) === rows;
}

/**
 * Whether a formula may refer to a node: one with an answer in the same or an earlier step. Answers from rows
 * of other groups must be aggregated.
 */
export function canReferInFormula(source: IndexedNode, { node, step }: IndexedNode): boolean {
  const isPlainGroup = node.type === 'composite' && !isRepeatableNode(node);
  return takesAnswer(node) && !isPlainGroup && step <= source.step && node !== source.node;
}

/** Lists the nodes that a formula may refer to in reading order, with the group of their rows. */
export function listFormulaNodes(
  root: EditNode,
  source: EditNode,
): readonly { readonly node: EditNode; readonly rows: EditNode | undefined }[] {
  const { placed, byKey } = editorFormIndexOf(root);
  const place = byKey.get(source.key);
  if (!place) return [];
  const own = rowsAround(place);
  return placed
    .filter((target) => textOf(target.node, 'id') !== '' && canReferInFormula(place, target))
    .map((target) => {
      const rows = rowsAround(target);
      return { node: target.node, rows: rows === own ? undefined : rows };
    });
}

/** Lists the nodes that conditions in the settings may refer to: those with an answer in a submission. */
export const listSettingConditionNodes = (root: EditNode): readonly EditNode[] =>
  editorFormIndexOf(root)
    .placed.filter((target) => {
      const isPlainGroup = target.node.type === 'composite' && !isRepeatableNode(target.node);
      const isIn = takesAnswer(target.node) && !isPlainGroup && rowsAround(target) === undefined;
      return isIn && textOf(target.node, 'id') !== '';
    })
    .map(({ node }) => labelled(root, node));

/**
 * Whether a jump of a step may refer to a node. Jumps are evaluated when a visitor leaves the step, so the
 * step's own answers are available.
 */
function canReferInJump(source: IndexedNode, target: IndexedNode): boolean {
  if (!takesAnswer(target.node)) return false;
  return target.step <= source.step && rowsAround(target) === undefined;
}

/** Whether the rule of a question (`valid_when`) may refer to a node: also to the question and later ones. */
function canReferInRule(source: IndexedNode, target: IndexedNode): boolean {
  const rows = rowsAround(target);
  return takesAnswer(target.node) && (rows === undefined || rowsAround(source) === rows);
}

/** Whether one node may refer to another in a condition that shows it, in its rule and in its jumps. */
export const referenceRules = {
  show_when: canReferInCondition,
  valid_when: canReferInRule,
  jumps: canReferInJump,
} as const;

/** Lists the nodes that a condition may refer to, in reading order. */
export function listConditionNodes(
  root: EditNode,
  source: EditNode,
  attribute: keyof typeof referenceRules,
): readonly EditNode[] {
  const index = editorFormIndexOf(root);
  const place = index.byKey.get(source.key);
  if (!place) return [];
  const may = referenceRules[attribute];
  return index.placed
    .filter((target) => textOf(target.node, 'id') !== '' && may(place, target))
    .map(({ node }) => labelled(root, node));
}

/** Returns the question that a new condition of a node tests first: the previous one, or else the next. */
export function suggestConditionNode(
  root: EditNode,
  source: EditNode,
  nameable: readonly EditNode[],
): EditNode | undefined {
  const order = editorFormIndexOf(root).placed.map(({ node }) => node.key);
  const at = order.indexOf(source.key);
  return nameable.findLast(({ key }) => order.indexOf(key) < at) ?? nameable[0];
}

/**
 * Whether a text of one node may show the answer of another. The other must be an earlier input; an input in
 * a row is available only inside that row.
 */
export function canShowAnswer(root: EditNode, source: IndexedNode, target: IndexedNode): boolean {
  const { placed } = editorFormIndexOf(root);
  const isInput = isElementType(target.node.type) && elementDefinitions[target.node.type].group === 'input';
  const rows = rowsAround(target);
  return (
    isInput &&
    placed.indexOf(target) < placed.indexOf(source) &&
    (rows === undefined || rowsAround(source) === rows)
  );
}

/**
 * Lists the questions whose answers a text may show, in reading order. Without a node, lists the questions of
 * the whole form.
 */
export function listShowableQuestions(root: EditNode, source: EditNode | undefined): readonly EditNode[] {
  const { placed, byKey } = editorFormIndexOf(root);
  const place = source && byKey.get(source.key);
  if (source && !place) return [];
  const may = (target: IndexedNode): boolean =>
    place
      ? canShowAnswer(root, place, target)
      : takesAnswer(target.node) && target.node.type !== 'composite' && !rowsAround(target);
  return placed
    .filter((target) => textOf(target.node, 'id') !== '' && may(target))
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
