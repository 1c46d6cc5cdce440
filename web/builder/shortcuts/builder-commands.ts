import type { IconName } from '../../design/icon.tsx';
import type { Shortcut } from '../../shell/keyboard-shortcuts.ts';
import {
  addStep,
  duplicateAndSelect,
  extendSelectionBy,
  mergeWithPrevious,
  moveBy,
  moveToStep,
  selectFirstOrLast,
  selectNeighbour,
  selectParent,
  splitAt,
  toggleRequired,
} from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { type EditNode, pathToNode, textOf } from '../model/edit-node.ts';
import { hasAttribute } from '../model/new-element.ts';
import { widenSelection } from '../model/node-positions.ts';
import { copyNodes, type NodeClipboard, pasteNodes } from './node-clipboard.ts';

/*
 * All builder commands in one table. Keys, menus, the toolbar, the panel, the finder (Ctrl+K) and the list
 * behind "?" are built from it.
 */

/** A command that acts on `On`. Without a key, it is only in menus. */
export type BuilderCommand<On> = Shortcut<(on: On) => void> & {
  /** The menu group of the command. The finder also offers it. */
  readonly menu?: 'move' | 'part' | 'step';
  readonly icon?: IconName;
  /** Whether the command applies. If this is missing, the command always applies. */
  readonly appliesTo?: (on: On) => boolean;
  /** Whether a toggle is on. */
  readonly isOn?: (on: On) => boolean;
  /** The choices of a command that acts on one of several targets. */
  readonly choices?: (on: On) => readonly Choice[];
  /** The browser event for the key, which provides the clipboard. */
  readonly event?: ClipboardEventName;
};
type Choice = {
  readonly id: string;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly perform: () => void;
};
type ClipboardEventName = 'copy' | 'cut' | 'paste';

/** Commands that work anywhere in the builder. */
export type GlobalCommandTarget = {
  readonly travel: (step: 'undo' | 'redo') => void;
  readonly save: () => void;
  readonly list: () => void;
};

/** Commands for nodes of the form. */
export type NodeCommandTarget = {
  readonly editor: Editor;
  /** The selected nodes in reading order, none inside another. Empty if the form itself is selected. */
  readonly parts: readonly EditNode[];
  /** The clipboard for text. Without HTTPS, it is available only during an event. */
  readonly clipboard: NodeClipboard | undefined;
  /** Opens the list of elements to add. */
  readonly openMenu: () => void;
  /** Deletes nodes, and asks first if answers are affected. */
  readonly remove: (parts: readonly EditNode[]) => void;
};

/** Undo, redo and save, wherever focus is (docs/rules.md B1). In a text box, Ctrl+Z undoes typing. */
export const globalCommands = tableOf<GlobalCommandTarget>()({
  undo: { label: 'Undo', presses: ['Mod+z'], icon: 'undo', perform: ({ travel }) => travel('undo') },
  redo: {
    label: 'Redo',
    presses: ['Mod+Shift+z', 'Mod+y'],
    icon: 'redo',
    perform: ({ travel }) => travel('redo'),
  },
  save: { label: 'Save now', presses: ['Mod+s'], icon: 'check', perform: ({ save }) => save() },
  list: { label: 'Show keyboard shortcuts', presses: ['?'], icon: 'info', perform: ({ list }) => list() },
});

/** Commands for the selection (docs/rules.md B1-B3), in menu order. */
export const nodeCommands = tableOf<NodeCommandTarget>()({
  add: { label: 'Add element', presses: ['/', '+'], perform: ({ openMenu }) => openMenu() },
  write: {
    label: 'Edit label',
    presses: ['Enter', 'F2'],
    perform: ({ editor }) => editor.write({ key: editor.read().history.present.selection }),
  },
  up: {
    label: 'Move up',
    presses: ['Alt+ArrowUp'],
    menu: 'move',
    icon: 'chevron-up',
    appliesTo: isAny,
    perform: ({ editor, parts }) => moveBy(editor, parts, -1),
  },
  down: {
    label: 'Move down',
    presses: ['Alt+ArrowDown'],
    menu: 'move',
    icon: 'chevron-down',
    appliesTo: isAny,
    perform: ({ editor, parts }) => moveBy(editor, parts, 1),
  },
  toStep: {
    label: 'Move to step',
    presses: [],
    menu: 'move',
    icon: 'steps',
    appliesTo: (on) => areElements(on) && rootOf(on).children.length > 1,
    choices: stepsFor,
    perform: () => undefined,
  },
  split: {
    label: 'Start a new step here',
    presses: [],
    menu: 'step',
    icon: 'steps',
    appliesTo: mayBeginStep,
    perform: ({ editor, parts }) => splitAt(editor, parts[0]!.key),
  },
  merge: {
    label: 'Merge with previous step',
    presses: [],
    menu: 'step',
    icon: 'steps',
    appliesTo: (on) => isStep(on) && rootOf(on).children[0] !== on.parts[0],
    perform: ({ editor, parts }) => mergeWithPrevious(editor, parts[0]!.key),
  },
  addStep: {
    label: 'Add step after this one',
    presses: [],
    menu: 'step',
    icon: 'add',
    appliesTo: isStep,
    perform: ({ editor, parts }) => addStep(editor, parts[0]!.key),
  },
  require: {
    label: 'Required',
    presses: ['*'],
    icon: 'check',
    appliesTo: ({ parts }) => parts.length > 0 && parts.every((node) => hasAttribute(node.type, 'required')),
    isOn: ({ parts }) => parts.every(({ attrs }) => attrs['required'] === true),
    perform: ({ editor, parts }) => toggleRequired(editor, parts),
  },
  copy: {
    label: 'Copy',
    presses: ['Mod+c'],
    menu: 'part',
    icon: 'copy',
    event: 'copy',
    appliesTo: (on) => isAny(on) && on.clipboard !== undefined,
    perform: (on) => void copyNodes(on),
  },
  cut: {
    label: 'Cut',
    presses: ['Mod+x'],
    event: 'cut',
    appliesTo: (on) => isAny(on) && on.clipboard !== undefined,
    perform: (on) => void copyNodes(on).then((isCopied) => isCopied && on.remove(on.parts)),
  },
  paste: {
    label: 'Paste',
    presses: ['Mod+v'],
    menu: 'part',
    icon: 'file',
    event: 'paste',
    appliesTo: ({ clipboard }) => clipboard !== undefined,
    perform: (on) => void pasteNodes(on),
  },
  duplicate: {
    label: 'Duplicate',
    presses: ['Mod+d'],
    menu: 'part',
    icon: 'copy',
    appliesTo: isAny,
    perform: ({ editor, parts }) => duplicateAndSelect(editor, parts),
  },
  remove: {
    label: 'Delete',
    presses: ['Delete', 'Backspace'],
    menu: 'part',
    icon: 'remove',
    appliesTo: (on) => areElements(on) || (isAny(on) && on.parts.length < rootOf(on).children.length),
    perform: ({ remove, parts }) => remove(parts),
  },
  before: {
    label: 'Go to previous',
    presses: ['ArrowUp'],
    perform: ({ editor }) => selectNeighbour(editor, -1),
  },
  next: { label: 'Go to next', presses: ['ArrowDown'], perform: ({ editor }) => selectNeighbour(editor, 1) },
  first: {
    label: 'Go to first',
    presses: ['Home'],
    perform: ({ editor }) => selectFirstOrLast(editor, 'first'),
  },
  last: { label: 'Go to last', presses: ['End'], perform: ({ editor }) => selectFirstOrLast(editor, 'last') },
  around: { label: 'Go to parent', presses: ['Escape'], perform: ({ editor }) => selectParent(editor) },
  alsoBefore: {
    label: 'Extend selection to previous',
    presses: ['Shift+ArrowUp'],
    perform: ({ editor }) => extendSelectionBy(editor, -1),
  },
  alsoNext: {
    label: 'Extend selection to next',
    presses: ['Shift+ArrowDown'],
    perform: ({ editor }) => extendSelectionBy(editor, 1),
  },
  all: {
    label: 'Select all siblings, then the whole form',
    presses: ['Mod+a'],
    perform: ({ editor }) => editor.selectAll(widenSelection(editor.read().history.present)),
  },
  lift: {
    label: 'Pick up to move',
    presses: [' '],
    appliesTo: ({ parts }) => parts.length === 1,
    perform: ({ editor, parts }) => editor.lift(parts[0]!.key),
  },
});

/** Returns the commands that menus and the finder offer for the selection, by name. */
export const listMenuCommands = (
  on: NodeCommandTarget,
): readonly (readonly [string, BuilderCommand<NodeCommandTarget>])[] =>
  Object.entries<BuilderCommand<NodeCommandTarget>>(nodeCommands).filter(
    ([, { menu, appliesTo }]) => menu && (appliesTo?.(on) ?? true),
  );

/** Commands for a lifted node. */
export const liftedNodeCommands = tableOf<Pick<NodeCommandTarget, 'editor'>>()({
  up: { label: 'Move up one position', presses: ['ArrowUp'], perform: ({ editor }) => editor.moveLifted(-1) },
  down: {
    label: 'Move down one position',
    presses: ['ArrowDown'],
    perform: ({ editor }) => editor.moveLifted(1),
  },
  drop: { label: 'Drop here', presses: [' ', 'Enter'], perform: ({ editor }) => editor.drop() },
  back: { label: 'Cancel move', presses: ['Escape'], perform: ({ editor }) => editor.putBack() },
});

function tableOf<On>() {
  return <Name extends string>(rows: Readonly<Record<Name, BuilderCommand<On>>>): typeof rows => rows;
}

function rootOf({ editor }: Pick<NodeCommandTarget, 'editor'>): EditNode {
  return editor.read().history.present.root;
}
function isAny({ parts }: NodeCommandTarget): boolean {
  return parts.length > 0;
}
function isStep({ parts }: NodeCommandTarget): boolean {
  return parts.length === 1 && parts[0]!.type === 'step';
}
function areElements(on: NodeCommandTarget): boolean {
  return isAny(on) && on.parts.every(({ type }) => type !== 'step');
}

/** Whether the node is a direct child of a step, but not its first one. */
function mayBeginStep(on: NodeCommandTarget): boolean {
  const trail = on.parts.length === 1 ? pathToNode(rootOf(on), on.parts[0]!.key) : [];
  return trail.length === 3 && trail[1]!.children[0] !== on.parts[0];
}

function stepsFor(on: NodeCommandTarget): readonly Choice[] {
  const { editor, parts } = on;
  const root = rootOf(on);
  const own = pathToNode(root, parts[0]?.key ?? '')[1];
  return root.children.map((step, index) => ({
    id: step.key,
    label: textOf(step, 'title') || `Step ${index + 1}`,
    isCurrent: step === own,
    perform: () => moveToStep(editor, parts, step),
  }));
}
