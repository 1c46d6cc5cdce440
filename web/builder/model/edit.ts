import { isRecord } from '#ast/basics/json.ts';
import { type Option, optionIdOf } from '#ast/basics/options.ts';
import type { Translations } from '#ast/basics/translations-schema.ts';
import { type ElementType, isElementType } from '#ast/form/elements.ts';
import { dropStaleTranslations, languagesOfStructure } from '#ast/texts.ts';
import { validOptionsOf } from '../../conditions/condition-tree.ts';
import {
  type EditNode,
  findNode,
  type NodeAttributes,
  type NodeKey,
  newKey,
  pathToNode,
  textOf,
} from './edit-node.ts';
import { freshId, idFromLabel, idsOf } from './element-ids.ts';
import { attributesAfterTypeChange } from './new-element.ts';
import { canContain, type Spot, spotOf, topmostNodes } from './node-positions.ts';
import { renameOptionInConditions, renameReferences, renameRowInConditions } from './rename.ts';

/*
 * Operations on a form. Each operation receives a root and returns a root. If it is not possible, it returns
 * its input. The tree keeps its shape: forms contain steps, steps and composites contain elements, and other
 * elements contain nothing.
 */

export function insertNode(root: EditNode, node: EditNode, spot: Spot): EditNode {
  return canContain(root, spot.parent, node) ? putChild(root, spot, node) : root;
}

/**
 * Moves all nodes to one spot in reading order, or none of them. The spot is the position before the move.
 */
export function moveNodes(root: EditNode, keys: readonly NodeKey[], spot: Spot): EditNode {
  const nodes = topmostNodes(root, keys);
  const parent = findNode(root, spot.parent);
  if (!parent || nodes.length === 0 || nodes.some((node) => findNode(node, spot.parent))) return root;
  const next = parent.children.slice(spot.index).find((child) => !nodes.includes(child));
  let changed = nodes.reduce((tree, { key }) => removeChild(tree, key), root);
  for (const node of nodes) {
    if (!canContain(changed, spot.parent, node)) return root;
    const { children } = findNode(changed, spot.parent)!;
    changed = putChild(changed, { ...spot, index: next ? children.indexOf(next) : children.length }, node);
  }
  const { children } = findNode(changed, spot.parent)!;
  const isSame = parent.children.every((child, index) => child === children[index]);
  return isSame && children.length === parent.children.length ? root : changed;
}

/** A form with inserted nodes, and their keys. */
type WithNodes = { readonly root: EditNode; readonly keys: readonly NodeKey[] };

/** Inserts copies after the last original, as `insertCopies` does. */
export function duplicateNodes(
  root: EditNode,
  keys: readonly NodeKey[],
  taken: Set<string> = idsOf(root),
): WithNodes {
  const nodes = topmostNodes(root, keys);
  const spot = spotOf(root, nodes.at(-1)?.key ?? '');
  return spot ? insertCopies(root, nodes, { ...spot, index: spot.index + 1 }, taken) : { root, keys: [] };
}

/**
 * Inserts copies of nodes at a spot, all or none. Ids in `taken` are avoided, and new ids are added to it.
 * References between copied nodes point to the copies.
 */
export function insertCopies(
  root: EditNode,
  nodes: readonly EditNode[],
  { parent, index }: Spot,
  taken: Set<string>,
): WithNodes {
  let changed = root;
  const copies = copiesOf(nodes, taken);
  for (const [offset, copy] of copies.entries()) {
    const next = insertNode(changed, copy, { parent, index: index + offset });
    if (next === changed) return { root, keys: [] };
    changed = next;
  }
  return { root: changed, keys: copies.map(({ key }) => key) };
}

/** Copies nodes with new keys and unused ids, and adds these ids to `taken`. */
function copiesOf(nodes: readonly EditNode[], taken: Set<string>): readonly EditNode[] {
  const renamed = { elements: new Map<string, string>(), steps: new Map<string, string>() };
  const copy = (inner: EditNode): EditNode => {
    const id = textOf(inner, 'id');
    const fresh = id && freshId(id, taken);
    if (fresh) {
      taken.add(fresh);
      renamed[inner.type === 'step' ? 'steps' : 'elements'].set(id, fresh);
    }
    const attrs = id ? { ...inner.attrs, id: fresh } : inner.attrs;
    const clone = { ...inner, key: newKey(), attrs, children: inner.children.map(copy) };
    // A copy with a new id follows its label. A copy that keeps its original id does not.
    return fresh && fresh !== id && inner.type !== 'step' ? { ...clone, followsLabel: true as const } : clone;
  };
  // References between copied nodes point to the copies.
  return nodes.map(copy).map((clone) => renameReferences(clone, renamed));
}

/** Deletes nodes with their children, as `deleteNode` does. */
export const deleteNodes = (root: EditNode, keys: readonly NodeKey[]): EditNode =>
  keys.reduce(deleteNode, root);

/** Deletes a node with its children. The root and the only step cannot be deleted. */
export function deleteNode(root: EditNode, key: NodeKey): EditNode {
  const node = findNode(root, key);
  if (!node || node === root || (node.type === 'step' && root.children.length === 1)) return root;
  return removeChild(root, key);
}

/** Sets an attribute. Undefined removes it. */
export function setAttribute(root: EditNode, key: NodeKey, name: string, value: unknown): EditNode {
  return changeNode(root, key, (node) => {
    if (Object.is(node.attrs[name], value)) return node;
    const { [name]: _old, ...others } = node.attrs;
    const { followsLabel: _follows, ...fixed } = node;
    return tidied(root, {
      ...(name === 'id' ? fixed : node),
      attrs: value === undefined ? others : { ...node.attrs, [name]: value },
    });
  });
}

/** Removes outdated translations from a node: of removed options, or of another type's texts. */
function tidied(root: EditNode, node: EditNode): EditNode {
  const { translations, ...attrs } = node.attrs;
  if (translations === undefined) return node;
  const remaining = dropStaleTranslations(node, languagesOfStructure(root));
  return { ...node, attrs: remaining ? { ...attrs, translations: remaining } : attrs };
}

/** Changes the id of a node, and updates every condition and jump that refers to it. */
export function setId(root: EditNode, key: NodeKey, id: string | undefined): EditNode {
  const node = findNode(root, key);
  if (!node) return root;
  const old = textOf(node, 'id');
  const changed = setAttribute(root, key, 'id', id);
  if (old === '' || id === undefined || id === '') return changed;
  const ids = new Map([[old, id]]);
  const none = new Map<string, string>();
  const isStep = node.type === 'step';
  return renameReferences(changed, { elements: isStep ? none : ids, steps: isStep ? ids : none });
}

/**
 * Sets the options of a selection, or the rows of a matrix. An option that is renamed in place keeps its
 * translations, and conditions on it are updated.
 */
export function setOptions(
  root: EditNode,
  key: NodeKey,
  options: readonly Option[],
  name: 'options' | 'rows' = 'options',
): EditNode {
  const node = findNode(root, key);
  const old = node?.attrs[name];
  const before = validOptionsOf(old).map(({ id }) => id);
  const after = options.map(optionIdOf);
  const [at, ...others] =
    before.length === after.length ? after.flatMap((id, index) => (id === before[index] ? [] : [index])) : [];
  const isRenamed = at !== undefined && others.length === 0;
  const changed = (from: EditNode): EditNode => {
    const set = setAttribute(from, key, name, options);
    const correct = node?.attrs['correct'];
    if (name === 'rows' || !Array.isArray(correct)) return set;
    // A renamed option stays right, and a removed one does not.
    const kept = correct
      .map((one: unknown) => (isRenamed && one === before[at] ? after[at] : one))
      .filter((one) => after.some((id) => id === one) || !before.some((id) => id === one));
    return setAttribute(set, key, 'correct', kept.length > 0 ? kept : undefined);
  };
  if (!node || !isRenamed) return changed(root);
  const [was, is] = [before[at]!, after[at]!];
  const relabeled = changeNode(root, key, (each) => ({
    ...each,
    attrs: renameLabel(each.attrs, name, was, is),
  }));
  return (name === 'rows' ? renameRowInConditions : renameOptionInConditions)(
    changed(relabeled),
    textOf(node, 'id'),
    was,
    is,
  );
}

/** Moves translations of an option label to the new id. */
function renameLabel(
  attrs: NodeAttributes,
  name: 'options' | 'rows',
  was: string,
  is: string,
): NodeAttributes {
  const { translations } = attrs;
  if (!isRecord(translations)) return attrs;
  const renamed = Object.entries(translations as Translations).map(([language, texts]) => {
    const { [name]: labels } = texts;
    if (!isRecord(labels) || !Object.hasOwn(labels, was)) return [language, texts] as const;
    const entries = Object.entries(labels).map(([id, label]) => [id === was ? is : id, label] as const);
    return [language, { ...texts, [name]: Object.fromEntries(entries) }] as const;
  });
  return { ...attrs, translations: Object.fromEntries(renamed) };
}

/** Sets a label. If the element `followsLabel`, its id follows the label unless the id is locked. */
export function setLabel(root: EditNode, key: NodeKey, label: string, locked: ReadonlySet<string>): EditNode {
  const node = findNode(root, key);
  if (!node) return root;
  const changed = setAttribute(root, key, 'label', label);
  const id = textOf(node, 'id');
  const preferred = idFromLabel(label);
  if (!id || !preferred || locked.has(id) || !node.followsLabel) return changed;
  const taken = idsOf(root);
  taken.delete(id);
  const renamed = setId(changed, key, freshId(preferred, new Set([...taken, ...locked])));
  return changeNode(renamed, key, (renamedNode) => ({ ...renamedNode, followsLabel: true }));
}

/** Changes the type of an element, and keeps attributes that both types have. Groups never change. */
export function changeType(root: EditNode, key: NodeKey, type: ElementType): EditNode {
  return changeNode(root, key, (node) => {
    if (node.type === type || node.type === 'composite' || type === 'composite' || !isElementType(node.type))
      return node;
    return tidied(root, { ...node, type, attrs: attributesAfterTypeChange(type, node, idsOf(root)) });
  });
}

/** Replaces the content of this document with another form, and keeps the key of the root. */
export function replaceContent(root: EditNode, other: EditNode): EditNode {
  return { ...other, key: root.key };
}

/**
 * Returns a new root in which one node is replaced by the result of `change`. Nodes off its path are shared.
 */
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
  const parent = pathToNode(root, key).at(-2);
  if (!parent) return root;
  return changeNode(root, parent.key, (node) => ({
    ...node,
    children: node.children.filter((child) => child.key !== key),
  }));
}
