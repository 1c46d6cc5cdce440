import { formatCount } from '#ast/basics/format-number.ts';
import { insertPastedNodes, parseClipboardNodes } from '../model/clipboard.ts';
import { describeNodes } from '../model/compare.ts';
import { deleteNodes, duplicateNodes, insertNode, moveNodes, setAttribute } from '../model/edit.ts';
import { type EditNode, findNode, type NodeKey, pathToNode, walkNodes } from '../model/edit-node.ts';
import { mergeStep, splitStep } from '../model/edit-steps.ts';
import { titleOfPaletteEntry } from '../model/element-groups.ts';
import { newPaletteNode, newStep, type PaletteEntry } from '../model/new-element.ts';
import {
  canContain,
  describePosition,
  nextSpot,
  type Spot,
  selectionRangeOf,
  spotForNewElement,
  toMoveSpot,
  topmostNodes,
} from '../model/node-positions.ts';
import type { Editor } from './editor.ts';
import { type EditResult, formatEndPositionMessage } from './editor-state.ts';

/** Adds a palette entry at the given spot or after the selection, then edits its label (docs/rules.md B3). */
export function addElement(editor: Editor, type: PaletteEntry, spot?: Spot): void {
  editor.change((root, selection) => {
    const node = newPaletteNode(type, editor.takenIds());
    const preferred = spot ?? spotForNewElement(root, selection);
    // If the node does not fit there, for example a group in a full or repeatable group, it is added at the
    // end of the form.
    const place = canContain(root, preferred.parent, node) ? preferred : spotForNewElement(root, '');
    const changed = insertNode(root, node, place);
    if (changed === root) return { root, message: `${titleOfPaletteEntry(type)} cannot be added here.` };
    const focus = type === 'divider' ? 'node' : 'label';
    return {
      root: changed,
      select: node.key,
      focus,
      message: `${titleOfPaletteEntry(type)} added, ${describePosition(changed, node.key)}`,
    };
  });
}

export function duplicateAndSelect(editor: Editor, parts: readonly EditNode[]): void {
  editor.change((root) => {
    const { root: changed, keys } = duplicateNodes(root, keysOf(parts), editor.takenIds());
    return keys.length === 0
      ? { root, message: 'This cannot be duplicated.' }
      : { root: changed, ...selecting(keys), message: `Duplicated, ${describePosition(changed, keys[0]!)}` };
  });
}

/** Deletes nodes, and then selects the node after the first deleted one, or its parent. */
export function deleteAndSelectNext(editor: Editor, parts: readonly EditNode[]): void {
  editor.change((root) => {
    const gone = topmostNodes(root, keysOf(parts));
    const changed = deleteNodes(root, keysOf(gone));
    const parent = pathToNode(root, gone[0]?.key ?? '').at(-2);
    if (!parent || changed === root)
      return { root, message: 'This cannot be deleted. A form needs at least one step.' };
    const index = parent.children.indexOf(gone[0]!);
    const beside = [...parent.children.slice(index), ...parent.children.slice(0, index).toReversed()];
    const { key } = beside.find((node) => findNode(changed, node.key)) ?? parent;
    return { root: changed, select: key, focus: 'node', message: `${describeNodes(root, gone)} deleted` };
  });
}

/** Moves nodes to a spot. The spot's index counts the nodes at their old positions. */
export function moveTo(editor: Editor, keys: readonly NodeKey[], spot: Spot): void {
  editor.change((root) => {
    const tree = moveNodes(root, keys, spot);
    const moved = keysOf(topmostNodes(tree, keys));
    return { root: tree, ...selecting(moved), message: `Moved: ${describePosition(tree, moved[0] ?? '')}` };
  });
}

/** Moves nodes one position up or down: past a neighbor, into or out of a group, or to another step. */
export function moveBy(editor: Editor, parts: readonly EditNode[], direction: -1 | 1): void {
  const { root } = editor.read().history.present;
  const key = (direction === 1 ? parts.at(-1) : parts[0])?.key ?? '';
  const spot = nextSpot(root, key, direction);
  if (spot) moveTo(editor, keysOf(parts), toMoveSpot(root, key, spot));
  else editor.announce(formatEndPositionMessage(direction));
}

/** Moves elements to the end of a step. */
export function moveToStep(editor: Editor, parts: readonly EditNode[], step: EditNode): void {
  moveTo(editor, keysOf(parts), { parent: step.key, index: step.children.length });
}

/** Pastes clipboard text after the selection. Returns an error, or a note of what had to change. */
export function paste(editor: Editor, text: string): string | undefined {
  const read = parseClipboardNodes(text);
  if (!read.ok) return read.message;
  const { root, selection } = editor.read().history.present;
  const pasted = insertPastedNodes(root, read.parts, selection, editor.takenIds());
  if (typeof pasted === 'string') return pasted;
  const { keys, dropped, problems } = pasted;
  editor.change(() => ({
    root: pasted.root,
    ...selecting(keys),
    message: `${describeNodes(pasted.root, topmostNodes(pasted.root, keys))} pasted, ${describePosition(pasted.root, keys[0]!)}`,
  }));
  const went = formatCount(dropped, 'rule or text refers', 'rules or texts refer');
  const notes = [
    ...(dropped > 0 ? [`${went} to something that is not in this form. The reference was removed.`] : []),
    ...(problems.length > 0 ? [`Before you publish: ${problems[0]!}`] : []),
  ];
  return notes.length > 0 ? notes.join(' ') : undefined;
}

const keysOf = (parts: readonly EditNode[]): NodeKey[] => parts.map(({ key }) => key);

/** Selects these nodes. The last one leads the selection. */
const selecting = (keys: readonly NodeKey[]): Pick<EditResult, 'select' | 'also' | 'focus'> =>
  keys.length === 0 ? {} : { select: keys.at(-1)!, also: keys.slice(0, -1), focus: 'node' };

/** Adds an empty step after the step with this key, or at the end. */
export function addStep(editor: Editor, behind?: NodeKey): void {
  editor.change((root) => {
    const at = root.children.findIndex(({ key }) => key === behind);
    const step = newStep(`Step ${root.children.length + 1}`);
    const changed = insertNode(root, step, {
      parent: root.key,
      index: at === -1 ? root.children.length : at + 1,
    });
    return changed === root
      ? { root, message: 'This form cannot have more steps.' }
      : { root: changed, select: step.key, focus: 'label', message: 'Step added' };
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
      message: 'Merged with the previous step',
    };
  });
}

/** Starts a new step at an element that is a direct child of a step. */
export function splitAt(editor: Editor, key: NodeKey): void {
  editor.change((root) => {
    const step = newStep(`Step ${root.children.length + 1}`);
    const changed = splitStep(root, key, step);
    return changed === root
      ? { root }
      : { root: changed, select: step.key, focus: 'label', message: 'A new step starts here' };
  });
}

/** Selects the previous or next node in reading order, and focuses it. */
export function selectNeighbour(editor: Editor, direction: -1 | 1): void {
  const next = neighbourOf(editor, direction);
  if (next) editor.select(next.key, 'node');
}

/** Extends the selection to the next node, or removes the node added last. */
export function extendSelectionBy(editor: Editor, direction: -1 | 1): void {
  const next = neighbourOf(
    editor,
    direction,
    ({ type }, lead) => (type === 'step') === (lead.type === 'step'),
  );
  if (next) extendSelectionTo(editor, next);
}

/** Selects everything from the start of the selection to a node. */
export function extendSelectionTo(editor: Editor, node: EditNode): void {
  const { root, selection, also = [] } = editor.read().history.present;
  editor.selectAll(selectionRangeOf(root, also[0] ?? selection, node));
}

function neighbourOf(
  editor: Editor,
  direction: -1 | 1,
  isMeant: (node: EditNode, lead: EditNode) => boolean = () => true,
): EditNode | undefined {
  const { root, selection } = editor.read().history.present;
  const nodes = [...walkNodes(root)];
  const index = nodes.findIndex(({ key }) => key === selection);
  const ways = direction === 1 ? nodes.slice(index + 1) : nodes.slice(0, index).toReversed();
  return ways.find((node) => isMeant(node, nodes[index]!));
}

export function selectFirstOrLast(editor: Editor, end: 'first' | 'last'): void {
  const nodes = [...walkNodes(editor.read().history.present.root)];
  const node = end === 'first' ? nodes[0] : nodes.at(-1);
  if (node) editor.select(node.key, 'node');
}

/** Selects the parent of the leading node. */
export function selectParent(editor: Editor): void {
  const { root, selection } = editor.read().history.present;
  const parent = pathToNode(root, selection).at(-2);
  if (parent) editor.select(parent.key, 'node');
}

/** Makes all elements required, or optional if all are required. */
export function toggleRequired(editor: Editor, parts: readonly EditNode[]): void {
  const isRequired = !parts.every(({ attrs }) => attrs['required'] === true);
  editor.change((root) => ({
    root: parts.reduce((tree, { key }) => setAttribute(tree, key, 'required', isRequired), root),
    message: isRequired ? 'Required' : 'Not required',
  }));
}
