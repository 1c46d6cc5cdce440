import type { IconName } from '../../design/icon.tsx';
import type { Shortcut } from '../../shell/press.ts';
import {
  addStep,
  duplicate,
  extendBy,
  mergeWithPrevious,
  moveBy,
  moveToStep,
  selectEnd,
  selectNeighbour,
  selectParent,
  splitAt,
  switchRequired,
} from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { widened } from '../model/drop-place.ts';
import { type EditNode, textOf, trailTo } from '../model/edit-node.ts';
import { hasAttribute } from '../model/new-element.ts';
import { copyParts, type PartsClipboard, pasteParts } from './clip-parts.ts';

/*
 * All that can be done to a form by a key, from a menu, a toolbar, the panel or the finder (Ctrl+K), in one table: each of
 * them, and the list behind "?", is drawn from it.
 */

/** Something that can be done to what `On` says. One without a press stands in menus alone. */
export type Deed<On> = Shortcut<(on: On) => void> & {
  /** It is offered in menus, in this group, and in the finder. */
  readonly menu?: 'move' | 'part' | 'step';
  readonly icon?: IconName;
  /** Whether it can be done; always, where it says nothing. */
  readonly appliesTo?: (on: On) => boolean;
  /** Of a switch: whether it is on. */
  readonly isOn?: (on: On) => boolean;
  /** Of what is done with one of several things: these. */
  readonly choices?: (on: On) => readonly Choice[];
  /** The browser tells of its presses by this event, which brings the clipboard with it. */
  readonly event?: ClipboardEventName;
};
type Choice = {
  readonly id: string;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly perform: () => void;
};
type ClipboardEventName = 'copy' | 'cut' | 'paste';

/** What is done anywhere in the builder. */
export type InBuilder = {
  readonly travel: (step: 'undo' | 'redo') => void;
  readonly save: () => void;
  readonly list: () => void;
};

/** What is done to parts of the form. */
export type OnParts = {
  readonly editor: Editor;
  /** In reading order, none inside another one; none when the form itself is meant. */
  readonly parts: readonly EditNode[];
  /** Where texts are put and taken from; a page without https has none but in an event. */
  readonly clipboard: PartsClipboard | undefined;
  /** Opens the list of elements to add. */
  readonly openMenu: () => void;
  /** Deletes, and asks first when answers would be affected. */
  readonly remove: (parts: readonly EditNode[]) => void;
};

/** Undo, redo and save wherever the focus is (docs/rules.md B1). In a text box Ctrl+Z stays the text box's own. */
export const everywhere = tableOf<InBuilder>()({
  undo: { label: 'Undo', presses: ['Mod+z'], icon: 'undo', perform: ({ travel }) => travel('undo') },
  redo: {
    label: 'Redo',
    presses: ['Mod+Shift+z', 'Mod+y'],
    icon: 'redo',
    perform: ({ travel }) => travel('redo'),
  },
  save: { label: 'Save now', presses: ['Mod+s'], icon: 'check', perform: ({ save }) => save() },
  list: { label: 'List the shortcuts', presses: ['?'], icon: 'info', perform: ({ list }) => list() },
});

/** What is done to what is selected (docs/rules.md B1-B3), in the order of menus. */
export const onParts = tableOf<OnParts>()({
  add: { label: 'Add an element', presses: ['/', '+'], perform: ({ openMenu }) => openMenu() },
  write: {
    label: 'Write its label',
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
    label: 'Begin a new step here',
    presses: [],
    menu: 'step',
    icon: 'steps',
    appliesTo: mayBeginStep,
    perform: ({ editor, parts }) => splitAt(editor, parts[0]!.key),
  },
  merge: {
    label: 'Merge with the step before',
    presses: [],
    menu: 'step',
    icon: 'steps',
    appliesTo: (on) => isStep(on) && rootOf(on).children[0] !== on.parts[0],
    perform: ({ editor, parts }) => mergeWithPrevious(editor, parts[0]!.key),
  },
  addStep: {
    label: 'Add a step behind',
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
    perform: ({ editor, parts }) => switchRequired(editor, parts),
  },
  copy: {
    label: 'Copy',
    presses: ['Mod+c'],
    menu: 'part',
    icon: 'copy',
    event: 'copy',
    appliesTo: (on) => isAny(on) && on.clipboard !== undefined,
    perform: (on) => void copyParts(on),
  },
  cut: {
    label: 'Cut',
    presses: ['Mod+x'],
    event: 'cut',
    appliesTo: (on) => isAny(on) && on.clipboard !== undefined,
    perform: (on) => void copyParts(on).then((isCopied) => isCopied && on.remove(on.parts)),
  },
  paste: {
    label: 'Paste',
    presses: ['Mod+v'],
    menu: 'part',
    icon: 'file',
    event: 'paste',
    appliesTo: ({ clipboard }) => clipboard !== undefined,
    perform: (on) => void pasteParts(on),
  },
  duplicate: {
    label: 'Duplicate',
    presses: ['Mod+d'],
    menu: 'part',
    icon: 'copy',
    appliesTo: isAny,
    perform: ({ editor, parts }) => duplicate(editor, parts),
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
    label: 'Go to the part before',
    presses: ['ArrowUp'],
    perform: ({ editor }) => selectNeighbour(editor, -1),
  },
  next: {
    label: 'Go to the next part',
    presses: ['ArrowDown'],
    perform: ({ editor }) => selectNeighbour(editor, 1),
  },
  first: {
    label: 'Go to the first part',
    presses: ['Home'],
    perform: ({ editor }) => selectEnd(editor, 'first'),
  },
  last: {
    label: 'Go to the last part',
    presses: ['End'],
    perform: ({ editor }) => selectEnd(editor, 'last'),
  },
  around: {
    label: 'Go to what is around it',
    presses: ['Escape'],
    perform: ({ editor }) => selectParent(editor),
  },
  alsoBefore: {
    label: 'Select the part before as well',
    presses: ['Shift+ArrowUp'],
    perform: ({ editor }) => extendBy(editor, -1),
  },
  alsoNext: {
    label: 'Select the next part as well',
    presses: ['Shift+ArrowDown'],
    perform: ({ editor }) => extendBy(editor, 1),
  },
  all: {
    label: 'Select all beside it, then all of the form',
    presses: ['Mod+a'],
    perform: ({ editor }) => editor.selectAll(widened(editor.read().history.present)),
  },
  lift: {
    label: 'Lift it, to be moved',
    presses: [' '],
    appliesTo: ({ parts }) => parts.length === 1,
    perform: ({ editor, parts }) => editor.lift(parts[0]!.key),
  },
});

/** What menus and the finder offer for these parts, by name. */
export const offeredFor = (on: OnParts): readonly (readonly [string, Deed<OnParts>])[] =>
  Object.entries<Deed<OnParts>>(onParts).filter(
    ([, { menu, appliesTo }]) => menu && (appliesTo?.(on) ?? true),
  );

/** What is done with a part that is lifted. */
export const whileLifted = tableOf<Pick<OnParts, 'editor'>>()({
  up: { label: 'Up by one place', presses: ['ArrowUp'], perform: ({ editor }) => editor.moveLifted(-1) },
  down: { label: 'Down by one place', presses: ['ArrowDown'], perform: ({ editor }) => editor.moveLifted(1) },
  drop: { label: 'Put it down here', presses: [' ', 'Enter'], perform: ({ editor }) => editor.drop() },
  back: { label: 'Put it back where it was', presses: ['Escape'], perform: ({ editor }) => editor.putBack() },
});

function tableOf<On>() {
  return <Name extends string>(rows: Readonly<Record<Name, Deed<On>>>): typeof rows => rows;
}

function rootOf({ editor }: Pick<OnParts, 'editor'>): EditNode {
  return editor.read().history.present.root;
}
function isAny({ parts }: OnParts): boolean {
  return parts.length > 0;
}
function isStep({ parts }: OnParts): boolean {
  return parts.length === 1 && parts[0]!.type === 'step';
}
function areElements(on: OnParts): boolean {
  return isAny(on) && on.parts.every(({ type }) => type !== 'step');
}

/** Whether it is an element that lies directly in a step, and not the first there. */
function mayBeginStep(on: OnParts): boolean {
  const trail = on.parts.length === 1 ? trailTo(rootOf(on), on.parts[0]!.key) : [];
  return trail.length === 3 && trail[1]!.children[0] !== on.parts[0];
}

function stepsFor(on: OnParts): readonly Choice[] {
  const { editor, parts } = on;
  const root = rootOf(on);
  const own = trailTo(root, parts[0]?.key ?? '')[1];
  return root.children.map((step, index) => ({
    id: step.key,
    label: textOf(step, 'title') || `Step ${index + 1}`,
    isCurrent: step === own,
    perform: () => moveToStep(editor, parts, step),
  }));
}
