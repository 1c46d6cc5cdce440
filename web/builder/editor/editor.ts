import type { Settings } from '#ast/settings.ts';
import type { EditNode, NodeKey } from '../model/edit-node.ts';
import { idsOf } from '../model/element-ids.ts';
import {
  applyEnd,
  applyMerge,
  applyOrAsk,
  applyRedo,
  applyReplacement,
  applySelection,
  applyUndo,
  applyWriting,
  decideAsked,
  dropLifted,
  type Edited,
  type EditorState,
  type FocusPart,
  liftNode,
  moveLifted,
  putLiftedBack,
  startState,
  type TheirSettings,
  type Writing,
} from './editor-state.ts';

/**
 * One form being edited: the only place where its state changes. Its functions stay the same as long as it is open,
 * so that a component may hold them.
 */
export type Editor = {
  readonly read: () => EditorState;
  /** Every id that something new may not have. A new set each time. */
  readonly takenIds: () => Set<string>;
  readonly subscribe: (listener: () => void) => () => void;
  /** Whether anybody follows it, as its screen and its saving do while it is open: what is changed later is not kept. */
  readonly isFollowed: () => boolean;
  /** Changes of one `gesture` in a row are one step of history. */
  readonly change: (edit: (root: EditNode, selection: NodeKey) => Edited, gesture?: string) => void;
  /** Puts another document in the place of this one: what waits for a decision or is lifted is let go. */
  readonly replace: (edit: (root: EditNode) => Edited) => void;
  /** The same with what somebody else changed beside it, which undo leaves. */
  readonly merge: (edit: (root: EditNode) => Edited, settings: TheirSettings) => void;
  /** Changes the settings, as `change` changes the form. */
  readonly changeSettings: (edit: (settings: Settings) => Settings, gesture?: string) => void;
  readonly select: (key: NodeKey, focus?: FocusPart) => void;
  /** Selects several, of which the last leads, and takes the focus unless that is to wait. */
  readonly selectAll: (keys: readonly NodeKey[], isFocused?: boolean) => void;
  /** Writes a label or an option on the canvas; undefined ends it. */
  readonly write: (writing: Writing | undefined) => void;
  readonly undo: () => void;
  readonly redo: () => void;
  readonly endGesture: () => void;
  /** Has a screen reader say it. */
  readonly say: (message: string) => void;
  readonly lift: (key: NodeKey) => void;
  readonly moveLifted: (direction: -1 | 1) => void;
  readonly drop: () => void;
  /** Carries out the edit that waits for a decision, or lets go of it. */
  readonly decide: (isWanted: boolean) => void;
  readonly putBack: () => void;
};

/**
 * @param now milliseconds, for the pause that parts two steps of typing.
 * @param isReadOnly the form can be looked at, and nothing changes it.
 * @param publishedIds answers are stored under these, also of elements that were deleted here: nothing new takes them.
 */
export function openEditor(
  root: EditNode,
  {
    settings,
    now,
    isReadOnly,
    publishedIds,
  }: { settings: Settings; now: () => number; isReadOnly: boolean; publishedIds: () => ReadonlySet<string> },
): Editor {
  let state = startState(root, settings);
  const listeners = new Set<() => void>();
  const set = (next: EditorState): void => {
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  };
  const drop = (): void => set(dropLifted(state, now()));
  const change: Editor['change'] = (edit, gesture) => {
    if (isReadOnly) return;
    drop();
    if (state.asked) return;
    const { present } = state.history;
    set(applyOrAsk(state, edit(present.root, present.selection), gesture, now()));
  };

  return {
    read: () => state,
    takenIds: () => idsOf(state.history.present.root).union(publishedIds()),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isFollowed: () => listeners.size > 0,
    change,
    replace(edit) {
      if (!isReadOnly) set(applyReplacement(state, edit(state.history.present.root), now()));
    },
    merge(edit, settings) {
      if (!isReadOnly) set(applyMerge(state, edit(state.history.present.root), settings, now()));
    },
    changeSettings: (edit, gesture) =>
      change((form) => ({ root: form, settings: edit(state.history.present.settings) }), gesture),
    select(key, focus) {
      if (state.lifted && state.lifted.key !== key) drop();
      set(applySelection(state, [key], focus));
    },
    selectAll(keys, isFocused = true) {
      drop();
      set(applySelection(state, keys, isFocused ? 'node' : undefined));
    },
    write(writing) {
      if (state.editing !== writing && !isReadOnly) set(applyWriting(state, writing));
    },
    undo: () => set(applyUndo(state)),
    redo: () => set(applyRedo(state)),
    endGesture: () => set(applyEnd(state)),
    say: (message) => set({ ...state, message }),
    lift(key) {
      if (!isReadOnly) set(liftNode(state, key));
    },
    moveLifted: (direction) => set(moveLifted(state, direction)),
    drop,
    decide: (isWanted) => set(decideAsked(state, isWanted, now())),
    putBack: () => set(putLiftedBack(state)),
  };
}

/**
 * Makes an edit and tells when it is made: at once, or once what it asks has been answered with yes.
 * @param onMade `undo` takes back this step and no other one: it gives false where others came after it. Undefined where
 * nothing changed.
 */
export function makeUndoable(
  editor: Editor,
  edit: () => void,
  onMade: (undo: (() => boolean) | undefined) => void,
): void {
  const steps = () => editor.read().history.past;
  const before = steps();
  edit();
  const tell = (): void => {
    const after = steps();
    const undo = (): boolean => {
      const isLast = steps() === after;
      if (isLast) editor.undo();
      return isLast;
    };
    onMade(after === before ? undefined : undo);
  };
  if (!editor.read().asked) return tell();
  const stop = editor.subscribe(() => {
    if (editor.read().asked) return;
    stop();
    if (steps() !== before) tell();
  });
}
