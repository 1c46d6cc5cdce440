import { elements, isElementType } from '#ast/form/elements.ts';
import { isRepeatable } from './drop-place.ts';
import { type EditNode, textOf } from './edit-node.ts';
import { indexOf, type Placed } from './form-index.ts';

/** Whether it has an answer: an input, or a group, of which can be asked whether it is answered at all. */
const takesAnswer = ({ type }: EditNode): boolean =>
  isElementType(type) && elements[type].group !== 'content';

/** The group with rows that a node lies in, at any depth. */
const rowsAround = ({ around }: Placed): EditNode | undefined => around.find(isRepeatable);

/**
 * Whether a condition of one node may ask for the answer of another: it takes one; it is asked in the same step or an earlier one; and an input of a row is asked only by that row.
 * What is inside the node that has the condition cannot decide about it, and nothing decides about itself.
 */
export function mayName(asking: Placed, asked: Placed): boolean {
  if (!takesAnswer(asked.node)) return false;
  const isLater = asking.node.type === 'step' ? asked.step >= asking.step : asked.step > asking.step;
  if (isLater) return false;
  if (asked.node === asking.node || asked.around.includes(asking.node)) return false;
  if (asking.around.includes(asked.node)) return false;
  const rows = rowsAround(asked);
  return rows === undefined || rowsAround(asking) === rows;
}

/**
 * Whether a formula may name it: what has an answer of its own and is asked in the same step or before; of rows that are
 * not its own as well, which it takes together.
 */
export function mayReckon(asking: Placed, asked: Placed): boolean {
  const isPlainGroup = asked.node.type === 'composite' && !isRepeatable(asked.node);
  return takesAnswer(asked.node) && !isPlainGroup && asked.step <= asking.step && asked.node !== asking.node;
}

/** What a formula of a node may name, in reading order, each with the group in whose rows it is asked. */
export function listReckonable(
  root: EditNode,
  asking: EditNode,
): readonly { readonly node: EditNode; readonly rows: EditNode | undefined }[] {
  const { placed, byKey } = indexOf(root);
  const place = byKey.get(asking.key);
  if (!place) return [];
  const own = rowsAround(place);
  return placed
    .filter((asked) => textOf(asked.node, 'id') !== '' && mayReckon(place, asked))
    .map((asked) => {
      const rows = rowsAround(asked);
      return { node: asked.node, rows: rows === own ? undefined : rows };
    });
}

/** What a condition of the settings may ask for: whatever has an answer of its own in a submission. */
export const listAnswered = (root: EditNode): readonly EditNode[] =>
  indexOf(root)
    .placed.filter((asked) => {
      const isPlainGroup = asked.node.type === 'composite' && !isRepeatable(asked.node);
      const isIn = takesAnswer(asked.node) && !isPlainGroup && rowsAround(asked) === undefined;
      return isIn && textOf(asked.node, 'id') !== '';
    })
    .map(({ node }) => node);

/** Whether a jump of a step may ask for it: when the step is left, its own answers are there too. */
export function mayNameInJump(asking: Placed, asked: Placed): boolean {
  if (!takesAnswer(asked.node)) return false;
  return asked.step <= asking.step && rowsAround(asked) === undefined;
}

/** What a condition of a node may ask for, in reading order. */
export function listNameable(root: EditNode, asking: EditNode, isJump: boolean): readonly EditNode[] {
  const index = indexOf(root);
  const place = index.byKey.get(asking.key);
  if (!place) return [];
  const may = isJump ? mayNameInJump : mayName;
  return index.placed
    .filter((asked) => textOf(asked.node, 'id') !== '' && may(place, asked))
    .map(({ node }) => node);
}

/** Whether a text of one node may show the answer of another: it is an input that is asked before, of a row in its row. */
export function mayShow(root: EditNode, asking: Placed, asked: Placed): boolean {
  const { placed } = indexOf(root);
  const isInput = isElementType(asked.node.type) && elements[asked.node.type].group === 'input';
  const rows = rowsAround(asked);
  return (
    isInput &&
    placed.indexOf(asked) < placed.indexOf(asking) &&
    (rows === undefined || rowsAround(asking) === rows)
  );
}

/** The questions whose answers a text of a node may show, in reading order; of no node those of all of the form. */
export function listShowable(root: EditNode, asking: EditNode | undefined): readonly EditNode[] {
  const { placed, byKey } = indexOf(root);
  const place = asking && byKey.get(asking.key);
  if (asking && !place) return [];
  const may = (asked: Placed): boolean =>
    place
      ? mayShow(root, place, asked)
      : takesAnswer(asked.node) && asked.node.type !== 'composite' && !rowsAround(asked);
  return placed.filter((asked) => textOf(asked.node, 'id') !== '' && may(asked)).map(({ node }) => node);
}
