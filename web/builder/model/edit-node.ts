import { getProperty, isRecord } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import type { FormNode } from '#ast/form/tree.ts';

export { attributeText as textOf } from '../../conditions/condition-tree.ts';

/** The key of a node, stable while it is edited, moved and renamed. Never stored, and not an element id. */
export type NodeKey = string;

export type NodeAttributes = Readonly<Record<string, unknown>>;

/**
 * A node of the form in the editor. The tree is immutable: an edit creates a new root and shares unchanged
 * nodes. Steps of history therefore need little memory, and components can compare nodes by identity.
 */
export type EditNode = {
  readonly key: NodeKey;
  readonly type: string;
  readonly attrs: NodeAttributes;
  readonly children: readonly EditNode[];
  /** Other properties of the node, returned unchanged (docs/rules.md 17). */
  readonly rest: NodeAttributes;
  /**
   * Set on an element created in this window until the user enters an id. Until then, the id follows the
   * label. Never stored, so ids from the API, a file or another window never follow a label.
   */
  readonly followsLabel?: true;
};

let lastKey = 0;

/** Returns a key that no other node on this page has. */
export function newKey(): NodeKey {
  lastKey += 1;
  return `n${lastKey}`;
}

export function makeNode(type: string, attrs: NodeAttributes, children: readonly EditNode[] = []): EditNode {
  return { key: newKey(), type, attrs, children, rest: {} };
}

/** A reason why a structure is not a valid tree, and the path to the problem. */
type ShapeProblem = { readonly path: readonly number[]; readonly message: string };

type ReadResult =
  | { readonly ok: true; readonly root: EditNode }
  | { readonly ok: false; readonly problems: readonly ShapeProblem[] };

/**
 * Parses a structure as an editable tree. Its content may be incomplete or invalid, but it must be a form
 * with steps that contain nodes. Returns every problem and never throws.
 */
export function parseEditableTree(structure: unknown): ReadResult {
  const problems: ShapeProblem[] = [];
  const root = readNode(structure, [], problems);
  if (root && root.type !== 'form')
    problems.push({ path: [], message: 'The root node must have the type "form".' });
  for (const [index, step] of (root?.children ?? []).entries())
    if (step.type !== 'step')
      problems.push({ path: [index], message: 'A form can only contain nodes of the type "step".' });
  return root && problems.length === 0 ? { ok: true, root } : { ok: false, problems };
}

function readNode(node: unknown, path: readonly number[], problems: ShapeProblem[]): EditNode | undefined {
  const refuse = (message: string): undefined => {
    problems.push({ path, message });
  };
  if (!isRecord(node)) return refuse('A node must be an object with "type", "attrs" and "children".');
  const { type: _type, attrs: _attrs, children: _children, ...rest } = node;
  const type = getProperty(node, 'type');
  const attrs = getProperty(node, 'attrs') ?? {};
  const children = getProperty(node, 'children') ?? [];
  if (typeof type !== 'string') return refuse('Every node needs a "type".');
  if (!isRecord(attrs)) return refuse('"attrs" must be an object.');
  if (!Array.isArray(children)) return refuse('"children" must be a list.');
  const read = children.map((child: unknown, index) => readNode(child, [...path, index], problems));
  return { key: newKey(), type, attrs, children: read.filter((child) => child !== undefined), rest };
}

/** Converts the tree to a structure that can be stored. The result for an unchanged node is cached. */
export const toStructure: (node: EditNode) => FormNode = memoizeByObject(
  ({ type, attrs, children, rest }: EditNode): FormNode => ({
    type,
    attrs,
    children: children.map(toStructure),
    ...rest,
  }),
);

/** Returns whether a form has a score. Only then, settings and questions offer what a quiz needs. */
export const isQuiz = (root: EditNode): boolean => [...walkNodes(root)].some(({ type }) => type === 'score');

/** Yields `node` and every node under it in reading order, parents first. */
export function* walkNodes(node: EditNode): Generator<EditNode> {
  yield node;
  for (const child of node.children) yield* walkNodes(child);
}

export function findNode(root: EditNode, key: NodeKey): EditNode | undefined {
  for (const node of walkNodes(root)) if (node.key === key) return node;
  return undefined;
}

/**
 * Returns the nodes from the root to the node with this key, both included. Empty if the node does not exist.
 */
export function pathToNode(root: EditNode, key: NodeKey): readonly EditNode[] {
  if (root.key === key) return [root];
  for (const child of root.children) {
    const trail = pathToNode(child, key);
    if (trail.length > 0) return [root, ...trail];
  }
  return [];
}

/**
 * Returns the node at a path of the validator (`[step, element, child]`), or its deepest existing ancestor.
 */
export function nodeAt(root: EditNode, path: readonly number[]): EditNode {
  const [first, ...more] = path;
  const child = first === undefined ? undefined : root.children[first];
  return child ? nodeAt(child, more) : root;
}
