import { type ElementType, isElementType } from '#ast/elements.ts';
import { type EditNode, findNode, newKey, type NodeKey, textOf, trailTo, walkNodes } from './edit-node.ts';
import { freshId, idFromLabel, idsOf, isAutomaticId } from './element-ids.ts';
import { attributesFor } from './new-element.ts';
import { mayHold, type Spot } from './places.ts';

/*
 * What a person can do to a form. Every operation takes a root and returns a root; what cannot be done returns the
 * very root that was given. No operation makes a tree of the wrong shape: a form holds steps, steps and composites
 * hold elements, other elements hold nothing.
 */

/** Puts a new node at a spot. */
export function insertNode(root: EditNode, node: EditNode, spot: Spot): EditNode {
  return mayHold(root, spot.parent, node) ? putChild(root, spot, node) : root;
}

/** Moves a node to a spot, counted as the tree is before the move. */
export function moveNode(root: EditNode, key: NodeKey, spot: Spot): EditNode {
  const trail = trailTo(root, key);
  const node = trail.at(-1);
  const parent = trail.at(-2);
  if (!node || !parent || findNode(node, spot.parent) || !mayHold(root, spot.parent, node)) return root;
  const from = parent.children.indexOf(node);
  const isSameParent = parent.key === spot.parent;
  const index = isSameParent && from < spot.index ? spot.index - 1 : spot.index;
  if (isSameParent && index === from) return root;
  return putChild(removeChild(root, key), { parent: spot.parent, index }, node);
}

/** A copy behind the original, with ids of its own. */
export function duplicateNode(root: EditNode, key: NodeKey): { root: EditNode; key: NodeKey } {
  const trail = trailTo(root, key);
  const node = trail.at(-1);
  const parent = trail.at(-2);
  if (!node || !parent) return { root, key };
  const copy = copyOf(node, idsOf(root));
  const changed = insertNode(root, copy, { parent: parent.key, index: parent.children.indexOf(node) + 1 });
  return changed === root ? { root, key } : { root: changed, key: copy.key };
}

/** The node anew: with keys of its own, and with ids that are not taken, which it takes. */
export function copyOf(node: EditNode, taken: Set<string>): EditNode {
  const id = textOf(node, 'id');
  const fresh = id && freshId(id, taken);
  if (fresh) taken.add(fresh);
  const attrs = id ? { ...node.attrs, id: fresh } : node.attrs;
  return { ...node, key: newKey(), attrs, children: node.children.map((child) => copyOf(child, taken)) };
}

/** Takes a node out, with all that it holds. The root stays, and so does the only step. */
export function deleteNode(root: EditNode, key: NodeKey): EditNode {
  const node = findNode(root, key);
  if (!node || node === root || (node.type === 'step' && root.children.length === 1)) return root;
  return removeChild(root, key);
}

/** Sets an attribute, or takes it away with undefined. */
export function setAttribute(root: EditNode, key: NodeKey, name: string, value: unknown): EditNode {
  return changeNode(root, key, (node) => {
    if (Object.is(node.attrs[name], value)) return node;
    const { [name]: _old, ...others } = node.attrs;
    return { ...node, attrs: value === undefined ? others : { ...node.attrs, [name]: value } };
  });
}

/** Sets a label. An id that nobody chose follows it, unless it is among the locked ones. */
export function setLabel(root: EditNode, key: NodeKey, label: string, locked: ReadonlySet<string>): EditNode {
  const node = findNode(root, key);
  if (!node) return root;
  const changed = setAttribute(root, key, 'label', label);
  const id = textOf(node, 'id');
  const wish = idFromLabel(label);
  if (!id || !wish || locked.has(id) || !isAutomaticId(node)) return changed;
  const taken = idsOf(root);
  taken.delete(id);
  return setAttribute(changed, key, 'id', freshId(wish, new Set([...taken, ...locked])));
}

/** Makes an element another type; what both types know stays. A composite stays one. */
export function changeType(root: EditNode, key: NodeKey, type: ElementType): EditNode {
  return changeNode(root, key, (node) => {
    if (node.type === type || node.type === 'composite' || type === 'composite' || !isElementType(node.type))
      return node;
    return { ...node, type, attrs: attributesFor(type, node, idsOf(root)) };
  });
}

/** Moves all that a step holds to the end of the step before it, and takes the step away. */
export function mergeStep(root: EditNode, key: NodeKey): EditNode {
  const index = root.children.findIndex((step) => step.key === key);
  const step = root.children[index];
  const before = root.children[index - 1];
  if (!step || !before) return root;
  const merged = { ...before, children: [...before.children, ...step.children] };
  return { ...root, children: root.children.toSpliced(index - 1, 2, merged) };
}

/** Takes everything from an element of a step on into a step of its own behind it. */
export function splitStep(root: EditNode, key: NodeKey, step: EditNode): EditNode {
  const index = root.children.findIndex(({ children }) => children.some((child) => child.key === key));
  const whole = root.children[index];
  if (!whole || !mayHold(root, root.key, step)) return root;
  const at = whole.children.findIndex((child) => child.key === key);
  const first = { ...whole, children: whole.children.slice(0, at) };
  const second = { ...step, children: whole.children.slice(at) };
  return { ...root, children: root.children.toSpliced(index, 1, first, second) };
}

/** Puts another form's content into this document, which keeps its root's key. */
export function replaceContent(root: EditNode, other: EditNode): EditNode {
  return { ...other, key: root.key };
}

/** A root in which one node is what `change` makes of it. Everything beside the way to it is shared. */
function changeNode(node: EditNode, key: NodeKey, change: (node: EditNode) => EditNode): EditNode {
  if (node.key === key) return change(node);
  for (const [index, child] of node.children.entries()) {
    const changed = changeNode(child, key, change);
    if (changed !== child) return { ...node, children: node.children.with(index, changed) };
  }
  return node;
}

function putChild(root: EditNode, { parent, index }: Spot, child: EditNode): EditNode {
  return changeNode(root, parent, (node) => ({
    ...node,
    children: node.children.toSpliced(index, 0, child),
  }));
}

function removeChild(root: EditNode, key: NodeKey): EditNode {
  const parent = trailTo(root, key).at(-2);
  if (!parent) return root;
  return changeNode(root, parent.key, (node) => ({
    ...node,
    children: node.children.filter((child) => child.key !== key),
  }));
}

/** How many elements a form has; steps and the form itself are none. */
export function countElements(root: EditNode): number {
  return [...walkNodes(root)].filter(({ type }) => type !== 'form' && type !== 'step').length;
}
