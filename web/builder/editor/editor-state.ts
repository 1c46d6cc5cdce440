import { isSameJson } from '#ast/basics/json.ts';
import { mergeSettings, type Settings } from '#ast/settings.ts';
import { listBrokenReferences, removeBrokenReferences } from '../model/broken-references.ts';
import { describeNode } from '../model/compare.ts';
import { moveNodes } from '../model/edit.ts';
import { type EditNode, findNode, type NodeKey } from '../model/edit-node.ts';
import { updateSettingReferences } from '../model/edit-steps.ts';
import {
  type EditHistory,
  type EditSnapshot,
  endGesture,
  recordChange,
  redo,
  selectNode,
  startHistory,
  undo,
  withValidSelection,
} from '../model/history.ts';
import { describePosition, nextSpot, toMoveSpot } from '../model/node-positions.ts';
import type { NodeReference } from '../model/references.ts';

/** The part of a node that receives focus: its box on the canvas, its label, or its panel. */
export type FocusPart = 'node' | 'label' | 'panel';

/** All state of an open form that editing changes. */
export type EditorState = {
  readonly history: EditHistory;
  /** The node that is lifted with the keyboard, and the history to return to. */
  readonly lifted: { readonly key: NodeKey; readonly before: EditHistory } | undefined;
  /** The last focus request, a new object each time. */
  readonly focus: { readonly key: NodeKey; readonly part: FocusPart } | undefined;
  /** The text that is being edited on the canvas. Each edit gets a new object. */
  readonly editing: TextEdit | undefined;
  /** An edit that waits for the user's decision, because conditions depend on what it removes. */
  readonly pendingEdit: PendingEdit | undefined;
  /** The message for screen readers. */
  readonly message: string;
};

/** The text that is being edited on the canvas: a label, an option, or a row. */
export type TextEdit = {
  readonly key: NodeKey;
  readonly option?: { readonly name: 'options' | 'rows'; readonly index: number };
  /** The click position for the caret, in viewport pixels. Without it, the whole text is selected. */
  readonly at?: { readonly x: number; readonly y: number };
};

/** An edit with the references that it would break (docs/rules.md B7). */
type PendingEdit = {
  readonly edited: EditResult;
  readonly gesture: string | undefined;
  readonly broken: readonly NodeReference[];
};

/** The result of an edit: the new form and settings, and the selection and focus if they change. */
export type EditResult = {
  readonly root: EditNode;
  readonly settings?: Settings;
  readonly select?: NodeKey;
  /** Other selected nodes. */
  readonly also?: readonly NodeKey[];
  readonly focus?: FocusPart;
  /** The text to edit on the canvas after the edit. */
  readonly write?: TextEdit;
  readonly message?: string;
};

export function startState(root: EditNode, settings: Settings): EditorState {
  return {
    history: startHistory(root, settings),
    lifted: undefined,
    focus: undefined,
    editing: undefined,
    pendingEdit: undefined,
    message: '',
  };
}

/** Applies an edit as a step of history, or as part of the current `gesture`. `now` is in milliseconds. */
function applyEdit(
  state: EditorState,
  edited: EditResult,
  gesture: string | undefined,
  now: number,
): EditorState {
  const { present } = state.history;
  const { root } = edited;
  const changed = edited.settings ?? updateSettingReferences(present.root, root, present.settings);
  const settings = isSameJson(changed, present.settings) ? present.settings : changed;
  const { select = present.selection, also = edited.select === undefined ? present.also : [] } = edited;
  const moment = withValidSelection({ root, settings, selection: select, ...(also && { also }) });
  const { selection } = moment;
  const stillWrites = gesture === undefined ? undefined : state.editing;
  return {
    ...state,
    history: recordChange(state.history, moment, gesture, now),
    focus: edited.focus ? { key: selection, part: edited.focus } : state.focus,
    editing: edited.write ?? (edited.focus === 'label' ? { key: selection } : stillWrites),
    message: edited.message ?? state.message,
  };
}

/** Applies an edit like `applyEdit` if it breaks no reference. Otherwise, the edit waits for a decision. */
export function applyOrConfirm(
  state: EditorState,
  edited: EditResult,
  gesture: string | undefined,
  now: number,
): EditorState {
  const broken = listBrokenReferences(state.history.present.root, edited.root);
  if (broken.length > 0) return { ...state, pendingEdit: { edited, gesture, broken } };
  return applyEdit(state, edited, gesture, now);
}

/**
 * Replaces the form with the server's version, as a step of history. Never waits for a decision, because
 * autosave would write the old form over it.
 */
export function applyReplacement(state: EditorState, edited: EditResult, now: number): EditorState {
  const next = applyEdit({ ...state, pendingEdit: undefined, lifted: undefined }, edited, undefined, now);
  return state.editing && findNode(edited.root, state.editing.key)
    ? { ...next, editing: state.editing }
    : next;
}

/** The settings before and after another user changed them. */
export type TheirSettings = { readonly base: Settings; readonly theirs: Settings };

/**
 * Merges what another user saved. This is not a step of history, so undo reverts only the user's own changes.
 */
export function applyMerge(
  state: EditorState,
  edited: EditResult,
  { base, theirs }: TheirSettings,
  now: number,
): EditorState {
  const { present, past } = state.history;
  const next = applyReplacement(state, edited, now);
  const { root } = next.history.present;
  const withTheirs = (moment: EditSnapshot): EditSnapshot =>
    withValidSelection({
      ...moment,
      root: moment.root === present.root ? root : moment.root,
      settings: mergeSettings(base, moment.settings, theirs).settings,
    });
  const steps = state.lifted ? [...past, state.lifted.before.present] : past;
  return { ...next, history: { ...next.history, past: steps.map(withTheirs), future: [] } };
}

/**
 * Applies the pending edit as one step of history and removes the conditions that it breaks, or discards it.
 */
export function decidePendingEdit(state: EditorState, isWanted: boolean, now: number): EditorState {
  const { pendingEdit } = state;
  if (!pendingEdit) return state;
  const calm = { ...state, pendingEdit: undefined };
  if (!isWanted) return { ...calm, message: 'No changes made.' };
  const { edited, gesture, broken } = pendingEdit;
  return applyEdit(calm, { ...edited, root: removeBrokenReferences(edited.root, broken) }, gesture, now);
}

/**
 * Selects nodes; the last one leads. Ends text editing on other nodes. Focus on one of several selected nodes
 * makes it the leading node and keeps the others selected.
 */
export function applySelection(
  state: EditorState,
  keys: readonly NodeKey[],
  focus: FocusPart | undefined,
): EditorState {
  const { selection, also = [] } = state.history.present;
  const lead = keys.at(-1);
  if (lead === undefined) return state;
  const isSame = selection === lead;
  if (isSame && !focus && keys.length === 1) return state;
  const wanted = !focus && keys.length === 1 && also.includes(lead) ? [...also, selection] : keys;
  return {
    ...state,
    history: selectNode(
      state.history,
      lead,
      wanted.filter((key) => key !== lead),
    ),
    focus: focus ? { key: lead, part: focus } : state.focus,
    editing: isSame ? state.editing : undefined,
  };
}

/** Starts text editing on the canvas. Undefined ends text editing and the current step of history. */
export function setTextEdit(state: EditorState, writing: TextEdit | undefined): EditorState {
  const history = writing ? selectNode(state.history, writing.key) : endGesture(state.history);
  return { ...state, editing: writing, history };
}

/** Undoes a step. The move of a lifted node is not in the history yet, so undo puts the node back. */
export const applyUndo = (state: EditorState): EditorState =>
  state.lifted ? putLiftedBack(state) : applyHistory(state, undo(state.history), 'Undone');
export const applyRedo = (state: EditorState): EditorState =>
  state.lifted ? state : applyHistory(state, redo(state.history), 'Redone');

function applyHistory(state: EditorState, history: EditHistory, message: string): EditorState {
  if (history === state.history) return state;
  const focus = { key: history.present.selection, part: 'node' } as const;
  return { ...state, history, editing: undefined, focus, message };
}

/** Ends the current series of changes, for example when a field loses focus. */
export function applyGestureEnd(state: EditorState): EditorState {
  const history = endGesture(state.history);
  return history === state.history ? state : { ...state, history };
}

/**
 * Lifts a node. Arrow keys move it until it is dropped or put back; only the drop becomes a step of history.
 */
export function liftNode(state: EditorState, key: NodeKey): EditorState {
  const before = selectNode(state.history, key);
  const { root } = before.present;
  const node = findNode(root, key);
  const place = describePosition(root, key);
  if (!node || place === '') return state;
  const message = `${describeNode(root, node)} picked up, ${place}. Use the arrow keys to move it, Space to drop it, or Escape to cancel.`;
  return { ...state, history: before, lifted: { key, before }, message };
}

/** Moves the lifted node to the previous (-1) or next (1) position. */
export function moveLifted(state: EditorState, direction: -1 | 1): EditorState {
  const { lifted, history } = state;
  if (!lifted) return state;
  const { root } = history.present;
  const spot = nextSpot(root, lifted.key, direction);
  if (!spot) return { ...state, message: formatEndPositionMessage(direction) };
  const moved = moveNodes(root, [lifted.key], toMoveSpot(root, lifted.key, spot));
  return {
    ...state,
    history: { ...history, present: { ...history.present, root: moved, selection: lifted.key } },
    focus: { key: lifted.key, part: 'node' },
    message: `${describeNode(moved, findNode(moved, lifted.key)!)}, ${describePosition(moved, lifted.key)}`,
  };
}

/** Returns the message for a node that is already at the first or last position of the form. */
export const formatEndPositionMessage = (direction: -1 | 1): string =>
  direction === 1 ? 'This is the last position.' : 'This is the first position.';

/**
 * Drops the lifted node at its current position, as one step of history. If this breaks references, the user
 * must confirm it, as for any other edit.
 */
export function dropLifted(state: EditorState, now: number): EditorState {
  const { lifted, history } = state;
  if (!lifted) return state;
  const { root } = history.present;
  const message = `Dropped: ${describeNode(root, findNode(root, lifted.key)!)}, ${describePosition(root, lifted.key)}`;
  const before = { ...state, lifted: undefined, history: lifted.before };
  return applyOrConfirm(before, { root, select: lifted.key, message }, undefined, now);
}

/** Moves the lifted node back to where it was. */
export function putLiftedBack(state: EditorState): EditorState {
  const { lifted } = state;
  if (!lifted) return state;
  return {
    ...state,
    lifted: undefined,
    history: lifted.before,
    focus: { key: lifted.key, part: 'node' },
    message: `Move canceled: ${describePosition(lifted.before.present.root, lifted.key)}`,
  };
}
