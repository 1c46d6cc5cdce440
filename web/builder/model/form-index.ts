import { memoizeByObject } from '#ast/basics/memoize-by-object.ts';
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
export type EditorFormIndex = {
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
