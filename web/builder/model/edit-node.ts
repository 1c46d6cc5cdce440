import { factOf } from '#ast/basics/fact-of.ts';
import { isRecord, own } from '#ast/basics/json.ts';
import type { FormNode } from '#ast/form/tree.ts';

export { textOf } from '../../conditions/condition-tree.ts';

/** Which node: stable while it is edited, moved and renamed. Never stored, never an element id. */
export type NodeKey = string;

export type Attributes = Readonly<Record<string, unknown>>;

/**
 * A node of the form while it is edited. The tree is immutable: an edit makes a new root and shares what it did not
 * touch, so a step of history costs little and a component knows by identity whether to draw again.
 */
export type EditNode = {
  readonly key: NodeKey;
  readonly type: string;
  readonly attrs: Attributes;
  readonly children: readonly EditNode[];
  /** What else the node was sent with: it goes back as it came (docs/rules.md 17). */
  readonly rest: Attributes;
  /**
   * Set on an element that was made in this window, until a person enters its id: the id follows the label. It is never
   * stored, so an id that came from the API, a file or another window never changes with a label.
   */
  readonly followsLabel?: true;
};

let lastKey = 0;

/** A key that no other node of this page has. */
export function newKey(): NodeKey {
  lastKey += 1;
  return `n${lastKey}`;
}

export function makeNode(type: string, attrs: Attributes, children: readonly EditNode[] = []): EditNode {
  return { key: newKey(), type, attrs, children, rest: {} };
}

/** Why a structure cannot be shown as a tree: the place and the reason. */
type ShapeProblem = { readonly path: readonly number[]; readonly message: string };

type ReadResult =
  | { readonly ok: true; readonly root: EditNode }
  | { readonly ok: false; readonly problems: readonly ShapeProblem[] };

/**
 * A structure as an editable tree. It may be incomplete or wrong in what it says; it must be a form that holds
 * steps, and nodes all the way down. Reports every problem, never throws.
 */
export function readStructure(structure: unknown): ReadResult {
  const problems: ShapeProblem[] = [];
  const root = readNode(structure, [], problems);
  if (root && root.type !== 'form')
    problems.push({ path: [], message: 'The root node must have the type "form".' });
  for (const [index, step] of (root?.children ?? []).entries()) {
    if (step.type !== 'step')
      problems.push({ path: [index], message: 'A form holds nodes of the type "step" only.' });
  }
  return root && problems.length === 0 ? { ok: true, root } : { ok: false, problems };
}

function readNode(node: unknown, path: readonly number[], problems: ShapeProblem[]): EditNode | undefined {
  const refuse = (message: string): undefined => {
    problems.push({ path, message });
  };
  if (!isRecord(node)) return refuse('A node must be an object with "type", "attrs" and "children".');
  const { type: _type, attrs: _attrs, children: _children, ...rest } = node;
  const type = own(node, 'type');
  const attrs = own(node, 'attrs') ?? {};
  const children = own(node, 'children') ?? [];
  if (typeof type !== 'string') return refuse('Every node needs a "type".');
  if (!isRecord(attrs)) return refuse('"attrs" must be an object.');
  if (!Array.isArray(children)) return refuse('"children" must be a list.');
  const read = children.map((child: unknown, index) => readNode(child, [...path, index], problems));
  return { key: newKey(), type, attrs, children: read.filter((child) => child !== undefined), rest };
}

/** The tree as the structure that is stored; the same node gives the same object each time. */
export const toStructure: (node: EditNode) => FormNode = factOf(
  ({ type, attrs, children, rest }: EditNode): FormNode => ({
    type,
    attrs,
    children: children.map(toStructure),
    ...rest,
  }),
);

/** Every node under `node` and itself, in reading order, a parent before its children. */
export function* walkNodes(node: EditNode): Generator<EditNode> {
  yield node;
  for (const child of node.children) yield* walkNodes(child);
}

export function findNode(root: EditNode, key: NodeKey): EditNode | undefined {
  for (const node of walkNodes(root)) if (node.key === key) return node;
  return undefined;
}

/** The nodes from the root down to the one with the key, both included; empty when it is not there. */
export function trailTo(root: EditNode, key: NodeKey): readonly EditNode[] {
  if (root.key === key) return [root];
  for (const child of root.children) {
    const trail = trailTo(child, key);
    if (trail.length > 0) return [root, ...trail];
  }
  return [];
}

/** The node at a path of the validator (`[step, element, child]`), or the deepest one above it that is there. */
export function nodeAt(root: EditNode, path: readonly number[]): EditNode {
  const [first, ...more] = path;
  const child = first === undefined ? undefined : root.children[first];
  return child ? nodeAt(child, more) : root;
}
