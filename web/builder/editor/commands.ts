import { sayNode } from '../model/compare.ts';
import { deleteNode, duplicateNode, insertNode, moveNode } from '../model/edit.ts';
import { mergeStep, splitStep } from '../model/edit-steps.ts';
import { findNode, type NodeKey, trailTo, walkNodes } from '../model/edit-node.ts';
import { newPart, newStep } from '../model/new-element.ts';
import { titleOfEntry } from '../palette/element-groups.ts';
import type { PaletteEntry } from '../model/ready-groups.ts';
import { mayHold, nextSpot, sayPlace, type Spot, spotForNew, spotInTree } from '../model/places.ts';
import type { Editor } from './editor.ts';
import { sayEnd } from './editor-state.ts';

/** Adds what the palette offers at a spot, else behind the selection, and begins to write its label (docs/rules.md B3). */
export function addElement(editor: Editor, type: PaletteEntry, spot?: Spot): void {
  editor.change((root, selection) => {
    const node = newPart(type, editor.takenIds());
    const wish = spot ?? spotForNew(root, selection);
    // A group inside a full or a repeatable one goes behind it instead.
    const place = mayHold(root, wish.parent, node) ? wish : spotForNew(root, '');
    const changed = insertNode(root, node, place);
    if (changed === root) return { root, say: `${titleOfEntry(type)} cannot be added here.` };
    const focus = type === 'divider' ? 'node' : 'label';
    return {
      root: changed,
      select: node.key,
      focus,
      say: `${titleOfEntry(type)} added, ${sayPlace(changed, node.key)}`,
    };
  });
}

export function duplicate(editor: Editor, key: NodeKey): void {
  editor.change((root) => {
    const copy = duplicateNode(root, key, editor.takenIds());
    return {
      root: copy.root,
      select: copy.key,
      focus: 'node',
      say: `Duplicated, ${sayPlace(copy.root, copy.key)}`,
    };
  });
}

/** Deletes a node; the one that takes its place, or what it lay in, is selected. */
export function remove(editor: Editor, key: NodeKey): void {
  editor.change((root) => {
    const trail = trailTo(root, key);
    const [node, parent] = [trail.at(-1), trail.at(-2)];
    const changed = deleteNode(root, key);
    if (!node || !parent || changed === root)
      return { root, say: 'This cannot be deleted: a form has at least one step.' };
    const index = parent.children.indexOf(node);
    const next = parent.children[index + 1] ?? parent.children[index - 1] ?? parent;
    return { root: changed, select: next.key, focus: 'node', say: `${sayNode(node)} deleted` };
  });
}

/** Moves a node to a spot, counted with the node still in its place. */
export function moveTo(editor: Editor, key: NodeKey, spot: Spot): void {
  editor.change((root) => {
    const changed = moveNode(root, key, spot);
    return { root: changed, select: key, focus: 'node', say: `Moved: ${sayPlace(changed, key)}` };
  });
}

/** Moves a node one place up or down: past its neighbour, into and out of groups, across steps. */
export function moveBy(editor: Editor, key: NodeKey, direction: -1 | 1): void {
  const { root } = editor.read().history.present;
  const spot = nextSpot(root, key, direction);
  if (spot) moveTo(editor, key, spotInTree(root, key, spot));
  else editor.say(sayEnd(direction));
}

/** Moves an element to the end of a step. */
export function moveToStep(editor: Editor, key: NodeKey, stepKey: NodeKey): void {
  const step = findNode(editor.read().history.present.root, stepKey);
  if (step) moveTo(editor, key, { parent: stepKey, index: step.children.length });
}

/** Adds an empty step behind the one with the key, else at the end. */
export function addStep(editor: Editor, behind?: NodeKey): void {
  editor.change((root) => {
    const at = root.children.findIndex(({ key }) => key === behind);
    const step = newStep(`Step ${root.children.length + 1}`);
    const changed = insertNode(root, step, {
      parent: root.key,
      index: at === -1 ? root.children.length : at + 1,
    });
    return changed === root
      ? { root, say: 'No more steps can be added.' }
      : { root: changed, select: step.key, focus: 'label', say: 'Step added' };
  });
}

export function mergeWithPrevious(editor: Editor, stepKey: NodeKey): void {
  editor.change((root) => {
    const index = root.children.findIndex(({ key }) => key === stepKey);
    const before = root.children[index - 1];
    if (!before) return { root };
    return {
      root: mergeStep(root, stepKey),
      select: before.key,
      focus: 'node',
      say: 'Merged with the step before it',
    };
  });
}

/** Begins a new step at an element that lies directly in a step. */
export function splitAt(editor: Editor, key: NodeKey): void {
  editor.change((root) => {
    const step = newStep(`Step ${root.children.length + 1}`);
    const changed = splitStep(root, key, step);
    return changed === root
      ? { root }
      : { root: changed, select: step.key, focus: 'label', say: 'A new step begins here' };
  });
}

/** Selects the node before or after the selected one in reading order, and focuses it. */
export function selectNeighbour(editor: Editor, direction: -1 | 1): void {
  const { root, selection } = editor.read().history.present;
  const nodes = [...walkNodes(root)];
  const index = nodes.findIndex(({ key }) => key === selection);
  const next = nodes[index + direction];
  if (next) editor.select(next.key, 'node');
}

export function selectEnd(editor: Editor, end: 'first' | 'last'): void {
  const nodes = [...walkNodes(editor.read().history.present.root)];
  const node = end === 'first' ? nodes[0] : nodes.at(-1);
  if (node) editor.select(node.key, 'node');
}

/** Selects what the node lies in. */
export function selectParent(editor: Editor, key: NodeKey): void {
  const parent = trailTo(editor.read().history.present.root, key).at(-2);
  if (parent) editor.select(parent.key, 'node');
}
