import type { Settings } from '#ast/settings.ts';
import type { EditNode, NodeKey } from '../model/edit-node.ts';
import { idsOf } from '../model/element-ids.ts';
import {
  applyGestureEnd,
  applyMerge,
  applyOrConfirm,
  applyRedo,
  applyReplacement,
  applySelection,
  applyUndo,
  decidePendingEdit,
  dropLifted,
  type EditorState,
  type EditResult,
  type FocusPart,
  liftNode,
  moveLifted,
  putLiftedBack,
  setTextEdit,
  startState,
  type TextEdit,
  type TheirSettings,
} from './editor-state.ts';

/**
 * An open form. Its state changes only here. The functions are stable while the form is open, so components
 * can keep references to them.
 */
export type Editor = {
  readonly read: () => EditorState;
  /** Returns every id that a new element cannot use, as a new set each time. */
  readonly takenIds: () => Set<string>;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Whether anything subscribes to the editor, as the screen and autosave do while the form is open. Changes
   * made after that are not saved.
   */
  readonly isFollowed: () => boolean;
  /** Applies a change. Consecutive changes with the same `gesture` form one step of history. */
  readonly change: (edit: (root: EditNode, selection: NodeKey) => EditResult, gesture?: string) => void;
  /** Replaces the document. Discards a pending edit and a lifted node. */
  readonly replace: (edit: (root: EditNode) => EditResult) => void;
  /** Merges changes made by another user. Undo does not revert them. */
  readonly merge: (edit: (root: EditNode) => EditResult, settings: TheirSettings) => void;
  /** Changes the settings, as `change` changes the form. */
  readonly changeSettings: (edit: (settings: Settings) => Settings, gesture?: string) => void;
  readonly select: (key: NodeKey, focus?: FocusPart) => void;
  /** Selects several nodes; the last one leads. Moves focus unless `isFocused` is false. */
  readonly selectAll: (keys: readonly NodeKey[], isFocused?: boolean) => void;
  /** Starts to edit a label or an option on the canvas. Undefined ends it. */
  readonly write: (writing: TextEdit | undefined) => void;
  readonly undo: () => void;
  readonly redo: () => void;
  readonly endGesture: () => void;
  /** Announces a message to screen readers. */
  readonly announce: (message: string) => void;
  readonly lift: (key: NodeKey) => void;
  readonly moveLifted: (direction: -1 | 1) => void;
  readonly drop: () => void;
  /** Applies the pending edit, or discards it. */
  readonly decide: (isWanted: boolean) => void;
  readonly putBack: () => void;
};

/**
 * Opens a form for editing.
 * @param now the current time in milliseconds, for the pause that separates two steps of typing.
 * @param isReadOnly whether changes are ignored.
 * @param publishedIds ids with stored answers, also of elements deleted here. New elements never use them.
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
    if (state.pendingEdit) return;
    const { present } = state.history;
    set(applyOrConfirm(state, edit(present.root, present.selection), gesture, now()));
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
      if (state.editing !== writing && !isReadOnly) set(setTextEdit(state, writing));
    },
    undo: () => set(applyUndo(state)),
    redo: () => set(applyRedo(state)),
    endGesture: () => set(applyGestureEnd(state)),
    announce: (message) => set({ ...state, message }),
    lift(key) {
      if (!isReadOnly) set(liftNode(state, key));
    },
    moveLifted: (direction) => set(moveLifted(state, direction)),
    drop,
    decide: (isWanted) => set(decidePendingEdit(state, isWanted, now())),
    putBack: () => set(putLiftedBack(state)),
  };
}

/**
 * Makes an edit and reports when it is applied: immediately, or after the user confirms it.
 * @param onMade receives `undo`, which reverts only this step and returns false if there are later steps.
 * `undo` is undefined if nothing changed.
 */
export function performUndoableEdit(
  editor: Editor,
  edit: () => void,
  onMade: (undo: (() => boolean) | undefined) => void,
): void {
  const steps = () => editor.read().history.past;
  const before = steps();
  edit();
  const report = (): void => {
    const after = steps();
    const undo = (): boolean => {
      const isLast = steps() === after;
      if (isLast) editor.undo();
      return isLast;
    };
    onMade(after === before ? undefined : undo);
  };
  if (!editor.read().pendingEdit) return report();
  const stop = editor.subscribe(() => {
    if (editor.read().pendingEdit) return;
    stop();
    if (steps() !== before) report();
  });
}
