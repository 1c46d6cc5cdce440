import { isSameJson } from '#ast/basics/json.ts';
import { mergeSettings, type Settings } from '#ast/settings.ts';
import { dropReferences, listBroken } from '../model/broken-references.ts';
import { sayNode } from '../model/compare.ts';
import { nextSpot, sayPlace, spotInTree } from '../model/drop-place.ts';
import { moveNodes } from '../model/edit.ts';
import { type EditNode, findNode, type NodeKey } from '../model/edit-node.ts';
import { followRenames } from '../model/edit-steps.ts';
import {
  endGesture,
  type History,
  type Moment,
  momentOf,
  recordChange,
  redo,
  selectNode,
  startHistory,
  undo,
} from '../model/history.ts';
import type { Reference } from '../model/references.ts';

/** Which part of a node takes the focus: its box on the canvas, its label there, or its panel. */
export type FocusPart = 'node' | 'label' | 'panel';

/** Everything about an open form that changes while it is edited. */
export type EditorState = {
  readonly history: History;
  /** The node that the keyboard has lifted, and the history to go back to. */
  readonly lifted: { readonly key: NodeKey; readonly before: History } | undefined;
  /** The last wish for focus; a new object for each. */
  readonly focus: { readonly key: NodeKey; readonly part: FocusPart } | undefined;
  /** What is being written on the canvas; a new object each time that it begins. */
  readonly editing: Writing | undefined;
  /** An edit that waits for a decision, since conditions elsewhere depend on what it takes away. */
  readonly asked: AskedEdit | undefined;
  /** What a screen reader should say. */
  readonly message: string;
};

/** The label of a node, or one of its options or rows, being written on the canvas. */
export type Writing = {
  readonly key: NodeKey;
  readonly option?: { readonly name: 'options' | 'rows'; readonly index: number };
  /** Where it was clicked, in pixels of the viewport: there the caret goes. Else all of it is selected. */
  readonly at?: { readonly x: number; readonly y: number };
};

/** An edit with the references that it would break (docs/rules.md B7). */
type AskedEdit = {
  readonly edited: Edited;
  readonly gesture: string | undefined;
  readonly broken: readonly Reference[];
};

/** What an edit gives: the new form and settings, and what is selected and focused then, when that changes. */
export type Edited = {
  readonly root: EditNode;
  readonly settings?: Settings;
  readonly select?: NodeKey;
  /** What is selected besides. */
  readonly also?: readonly NodeKey[];
  readonly focus?: FocusPart;
  /** What is written on the canvas then. */
  readonly write?: Writing;
  readonly say?: string;
};

export function startState(root: EditNode, settings: Settings): EditorState {
  return {
    history: startHistory(root, settings),
    lifted: undefined,
    focus: undefined,
    editing: undefined,
    asked: undefined,
    message: '',
  };
}

/** An edit as one step of history, or as part of the running `gesture`. `now` is in milliseconds. */
function applyEdit(
  state: EditorState,
  edited: Edited,
  gesture: string | undefined,
  now: number,
): EditorState {
  const { present } = state.history;
  const { root } = edited;
  const changed = edited.settings ?? followRenames(present.root, root, present.settings);
  const settings = isSameJson(changed, present.settings) ? present.settings : changed;
  const { select = present.selection, also = edited.select === undefined ? present.also : [] } = edited;
  const moment = momentOf({ root, settings, selection: select, ...(also && { also }) });
  const { selection } = moment;
  const stillWrites = gesture === undefined ? undefined : state.editing;
  return {
    ...state,
    history: recordChange(state.history, moment, gesture, now),
    focus: edited.focus ? { key: selection, part: edited.focus } : state.focus,
    editing: edited.write ?? (edited.focus === 'label' ? { key: selection } : stillWrites),
    message: edited.say ?? state.message,
  };
}

/** An edit that breaks no reference, as `applyEdit`; any other waits to be decided. */
export function applyOrAsk(
  state: EditorState,
  edited: Edited,
  gesture: string | undefined,
  now: number,
): EditorState {
  const broken = listBroken(state.history.present.root, edited.root);
  if (broken.length > 0) return { ...state, asked: { edited, gesture, broken } };
  return applyEdit(state, edited, gesture, now);
}

/** What the service holds in place of what is edited, as a step of history: nothing of it is asked about, or it would be saved over. */
export function applyReplacement(state: EditorState, edited: Edited, now: number): EditorState {
  const next = applyEdit({ ...state, asked: undefined, lifted: undefined }, edited, undefined, now);
  return state.editing && findNode(edited.root, state.editing.key)
    ? { ...next, editing: state.editing }
    : next;
}

/** What somebody else changed of the settings: from what they were, to what they are. */
export type TheirSettings = { readonly base: Settings; readonly theirs: Settings };

/** What somebody else saved beside what is edited: no step of mine, so that undo takes back mine and leaves theirs. */
export function applyMerge(
  state: EditorState,
  edited: Edited,
  { base, theirs }: TheirSettings,
  now: number,
): EditorState {
  const { present, past } = state.history;
  const next = applyReplacement(state, edited, now);
  const { root } = next.history.present;
  const withTheirs = (moment: Moment): Moment =>
    momentOf({
      ...moment,
      root: moment.root === present.root ? root : moment.root,
      settings: mergeSettings(base, moment.settings, theirs).settings,
    });
  const steps = state.lifted ? [...past, state.lifted.before.present] : past;
  return { ...next, history: { ...next.history, past: steps.map(withTheirs), future: [] } };
}

/** Carries the waiting edit out, without the conditions that it breaks: one step of history. Or lets go of it. */
export function decideAsked(state: EditorState, isWanted: boolean, now: number): EditorState {
  const { asked } = state;
  if (!asked) return state;
  const calm = { ...state, asked: undefined };
  if (!isWanted) return { ...calm, message: 'Nothing was changed.' };
  const { edited, gesture, broken } = asked;
  return applyEdit(calm, { ...edited, root: dropReferences(edited.root, broken) }, gesture, now);
}

/**
 * Selects nodes, of which the last leads; what was being written elsewhere is finished. The focus alone, on one of several
 * that are selected, makes that the leading one and leaves the others selected.
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

/** Begins to write on the canvas; undefined ends it, and with it a step of history. */
export function applyWriting(state: EditorState, writing: Writing | undefined): EditorState {
  const history = writing ? selectNode(state.history, writing.key) : endGesture(state.history);
  return { ...state, editing: writing, history };
}

/** The step before. What is lifted was moved by no step yet: undoing that is putting it back. */
export const applyUndo = (state: EditorState): EditorState =>
  state.lifted ? putLiftedBack(state) : travel(state, undo(state.history), 'Undone');
export const applyRedo = (state: EditorState): EditorState =>
  state.lifted ? state : travel(state, redo(state.history), 'Done again');

function travel(state: EditorState, history: History, message: string): EditorState {
  if (history === state.history) return state;
  const focus = { key: history.present.selection, part: 'node' } as const;
  return { ...state, history, editing: undefined, focus, message };
}

/** Ends the running series of changes, as leaving a field does. */
export function applyEnd(state: EditorState): EditorState {
  const history = endGesture(state.history);
  return history === state.history ? state : { ...state, history };
}

/** Takes a node up: until it is dropped or put back, arrow keys move it, and nothing of that is history. */
export function liftNode(state: EditorState, key: NodeKey): EditorState {
  const before = selectNode(state.history, key);
  const { root } = before.present;
  const node = findNode(root, key);
  const place = sayPlace(root, key);
  if (!node || place === '') return state;
  const message = `${sayNode(node)} lifted, ${place}. Arrow keys move it, Space drops it, Escape puts it back.`;
  return { ...state, history: before, lifted: { key, before }, message };
}

/** Moves the lifted node to the place before (-1) or after (1) its own. */
export function moveLifted(state: EditorState, direction: -1 | 1): EditorState {
  const { lifted, history } = state;
  if (!lifted) return state;
  const { root } = history.present;
  const spot = nextSpot(root, lifted.key, direction);
  if (!spot) return { ...state, message: sayEnd(direction) };
  const moved = moveNodes(root, [lifted.key], spotInTree(root, lifted.key, spot));
  return {
    ...state,
    history: { ...history, present: { ...history.present, root: moved, selection: lifted.key } },
    focus: { key: lifted.key, part: 'node' },
    message: `${sayNode(findNode(moved, lifted.key)!)}, ${sayPlace(moved, lifted.key)}`,
  };
}

/** What is said at the last place of the form, and at the first. */
export const sayEnd = (direction: -1 | 1): string =>
  direction === 1 ? 'This is the last place.' : 'This is the first place.';

/** Leaves the lifted node where it is: the whole way is one step of history. It is asked about as any other edit. */
export function dropLifted(state: EditorState, now: number): EditorState {
  const { lifted, history } = state;
  if (!lifted) return state;
  const { root } = history.present;
  const say = `Dropped: ${sayNode(findNode(root, lifted.key)!)}, ${sayPlace(root, lifted.key)}`;
  const before = { ...state, lifted: undefined, history: lifted.before };
  return applyOrAsk(before, { root, select: lifted.key, say }, undefined, now);
}

/** Brings the lifted node back to where it was taken from. */
export function putLiftedBack(state: EditorState): EditorState {
  const { lifted } = state;
  if (!lifted) return state;
  return {
    ...state,
    lifted: undefined,
    history: lifted.before,
    focus: { key: lifted.key, part: 'node' },
    message: `Put back: ${sayPlace(lifted.before.present.root, lifted.key)}`,
  };
}
