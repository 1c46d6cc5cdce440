import { limits } from '#ast/limits.ts';
import { type EditNode, findNode, type NodeKey, textOf, trailTo, walkNodes } from './edit-node.ts';

/** A place between two children of a node: before the child that has the index now. */
export type Spot = { readonly parent: NodeKey; readonly index: number };

export const isElement = ({ type }: EditNode): boolean => type !== 'form' && type !== 'step';
export const isRepeatable = ({ type, attrs }: EditNode): boolean =>
  type === 'composite' && attrs['repeatable'] === true;

/** Whether a node may lie directly in another: the rules of the tree, with its caps (docs/rules.md 13, 17). */
export function mayHold(root: EditNode, parentKey: NodeKey, node: EditNode): boolean {
  const trail = trailTo(root, parentKey);
  const parent = trail.at(-1);
  if (!parent) return false;
  if (parent.type === 'form')
    return node.type === 'step' && (root.children.includes(node) || root.children.length < limits.steps);
  if (parent.type !== 'step' && parent.type !== 'composite') return false;
  if (!isElement(node)) return false;
  const depth = trail.filter(({ type }) => type === 'composite').length;
  if (depth + nestingOf(node) > limits.nesting) return false;
  return !(trail.some(isRepeatable) && [...walkNodes(node)].some(isRepeatable));
}

/** How many composites lie inside each other in this node, itself included. */
function nestingOf(node: EditNode): number {
  const inside = Math.max(0, ...node.children.map(nestingOf));
  return node.type === 'composite' ? inside + 1 : inside;
}

/**
 * Everywhere that a node may go, in reading order, its own place among them: through all steps, into composites and
 * out of them. Spots are counted in the tree without the node; `spotInTree` puts it back.
 */
export function listSpots(root: EditNode, node: EditNode): Spot[] {
  const spots: Spot[] = [];
  const visit = (parent: EditNode): void => {
    if (parent.key === node.key) return;
    const holds = mayHold(root, parent.key, node);
    const children = parent.children.filter(({ key }) => key !== node.key);
    for (const [index, child] of children.entries()) {
      if (holds) spots.push({ parent: parent.key, index });
      visit(child);
    }
    if (holds) spots.push({ parent: parent.key, index: children.length });
  };
  visit(root);
  return spots;
}

/** Where a node is, counted as `listSpots` does. */
export function spotOf(root: EditNode, key: NodeKey): Spot | undefined {
  const parent = trailTo(root, key).at(-2);
  return parent && { parent: parent.key, index: parent.children.findIndex((child) => child.key === key) };
}

/** The next place before (-1) or after (1) the node's own; undefined at the ends of the form. */
export function nextSpot(root: EditNode, key: NodeKey, direction: -1 | 1): Spot | undefined {
  const node = findNode(root, key);
  const own = spotOf(root, key);
  if (!node || !own) return undefined;
  const spots = listSpots(root, node);
  const at = spots.findIndex(({ parent, index }) => parent === own.parent && index === own.index);
  return spots[at + direction];
}

/** A spot of `listSpots` as `moveNodes` counts it, with the node still in the tree. */
export function spotInTree(root: EditNode, key: NodeKey, spot: Spot): Spot {
  const own = spotOf(root, key);
  const isBehind = own?.parent === spot.parent && spot.index > own.index;
  return isBehind ? { ...spot, index: spot.index + 1 } : spot;
}

/** Where a new element goes: into the selected step or composite at its end, else behind the selected element. */
export function spotForNew(root: EditNode, selection: NodeKey): Spot {
  const trail = trailTo(root, selection);
  const node = trail.at(-1);
  const parent = trail.at(-2);
  if (node?.type === 'step' || (node?.type === 'composite' && node.children.length === 0)) {
    return { parent: node.key, index: node.children.length };
  }
  if (node && parent && isElement(node))
    return { parent: parent.key, index: parent.children.indexOf(node) + 1 };
  const last = root.children.at(-1) ?? root;
  return { parent: last.key, index: last.children.length };
}

/** The place of a node in words: `position 3 of 7, step 2`, in a composite with its label before the step. */
export function sayPlace(root: EditNode, key: NodeKey): string {
  const trail = trailTo(root, key);
  const parent = trail.at(-2);
  const step = trail[1];
  if (!parent || !step) return '';
  const index = parent.children.findIndex((child) => child.key === key);
  return placeWords({ parent, index, stepNumber: root.children.indexOf(step) + 1 });
}

/** The same, for who knows where the node is; of a step there is no step to name. */
export function placeWords({
  parent,
  index,
  stepNumber,
}: {
  parent: EditNode;
  index: number;
  stepNumber: number;
}): string {
  const group = parent.type === 'composite' ? `, in ${textOf(parent, 'label') || 'a group'}` : '';
  const step = parent.type === 'form' ? '' : `, step ${stepNumber}`;
  return `position ${index + 1} of ${parent.children.length}${group}${step}`;
}
