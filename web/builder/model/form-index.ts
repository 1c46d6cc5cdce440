import { memoizeByObject } from '#ast/basics/memoize.ts';
import { withFilledLabel } from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';

/** A node with its step and its ancestors, outermost first. */
export type IndexedNode = {
  readonly node: EditNode;
  readonly step: number;
  readonly around: readonly EditNode[];
};

/**
 * An index of every step and element of a form by key and id, in reading order. Step ids and element ids are
 * separate.
 */
type EditorFormIndex = {
  readonly placed: readonly IndexedNode[];
  readonly byKey: ReadonlyMap<NodeKey, IndexedNode>;
  readonly elements: ReadonlyMap<string, IndexedNode>;
  readonly steps: ReadonlyMap<string, IndexedNode>;
};

/** Returns the index of a form. It is built once per root. */
export const editorFormIndexOf = memoizeByObject((root: EditNode): EditorFormIndex => {
  const placed: IndexedNode[] = [];
  const visit = (node: EditNode, step: number, around: readonly EditNode[]): void => {
    placed.push({ node, step, around });
    for (const child of node.children) visit(child, step, [...around, node]);
  };
  for (const [step, node] of root.children.entries()) visit(node, step, []);
  const byId = (ofSteps: boolean): ReadonlyMap<string, IndexedNode> => {
    const found = placed.filter(
      ({ node }) => (node.type === 'step') === ofSteps && textOf(node, 'id') !== '',
    );
    // If two nodes share an id, the index has the first one. The duplicate is reported separately.
    return new Map(found.toReversed().map((entry) => [textOf(entry.node, 'id'), entry]));
  };
  return {
    placed,
    byKey: new Map(placed.map((entry) => [entry.node.key, entry])),
    elements: byId(false),
    steps: byId(true),
  };
});

/** Returns a function that finds an element by its id. */
export const finderIn =
  (root: EditNode) =>
  (id: string): EditNode | undefined =>
    editorFormIndexOf(root).elements.get(id)?.node;

/** Returns a function that finds an element by its id, with a label as `labelled` returns it. */
export const labelledFinderIn =
  (root: EditNode) =>
  (id: string): EditNode | undefined => {
    const node = finderIn(root)(id);
    return node && labelled(root, node);
  };

/** Returns a node whose label shows the labels of other questions instead of placeholders. */
export const labelled = (root: EditNode, node: EditNode): EditNode => withFilledLabel(node, finderIn(root));

/** Marks a position, because no id begins with it. Ids and positions therefore cannot be confused. */
const mark = '.';

/**
 * Names a step or element for the address of the builder: an element by its id, otherwise the position, such
 * as `.2` for the second step and `.2.1` for its first element. Undefined for the form itself.
 */
export function formatNodeAddress(root: EditNode, key: NodeKey): string | undefined {
  const index = editorFormIndexOf(root);
  const found = index.byKey.get(key);
  if (!found) return undefined;
  const id = textOf(found.node, 'id');
  if (index.elements.get(id)?.node === found.node) return id;
  const nodes = [...found.around, found.node];
  const numbers = nodes.map(
    (node, depth) => (depth === 0 ? root : nodes[depth - 1]!).children.indexOf(node) + 1,
  );
  return numbers.map((number) => mark + number).join('');
}

/** Finds the node that an address names. */
export function nodeAtAddress(root: EditNode, address: string): EditNode | undefined {
  if (!address.startsWith(mark)) return editorFormIndexOf(root).elements.get(address)?.node;
  return address
    .slice(1)
    .split(mark)
    .reduce<EditNode | undefined>((node, number) => node?.children[Number(number) - 1], root);
}
