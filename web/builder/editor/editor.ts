import { moveNode } from '../model/edit.ts';
import { type EditNode, findNode, type NodeKey } from '../model/edit-node.ts';
import {
  endGesture,
  type History,
  recordChange,
  redo,
  selectionIn,
  selectNode,
  startHistory,
  undo,
} from '../model/history.ts';
import { nextSpot, sayPlace, spotInTree } from '../model/places.ts';
import { sayNode } from '../model/compare.ts';

/** Which part of a node takes the focus: its box on the canvas, its label there, or its panel. */
export type FocusPart = 'node' | 'label' | 'panel';

export type EditorState = {
  readonly history: History;
  /** The node that the keyboard has lifted, and the history to go back to. */
  readonly lifted: { readonly key: NodeKey; readonly before: History } | undefined;
  /** The last wish for focus; a new object for each. */
  readonly focus: { readonly key: NodeKey; readonly part: FocusPart } | undefined;
  /** The node whose label is being written on the canvas. */
  readonly editing: NodeKey | undefined;
  /** What a screen reader should say. */
  readonly message: string;
};

/** What an edit gives: the new form, and what is selected and focused then, when that changes. */
export type Edited = { readonly root: EditNode; readonly select?: NodeKey; readonly focus?: FocusPart; readonly say?: string };

/** One form being edited: the only place where its state changes. Its methods never change, so that a component may hold them. */
export type Editor = {
  read(): EditorState;
  subscribe(listener: () => void): () => void;
  /** Changes of one `gesture` in a row are one step of history. */
  change(edit: (root: EditNode, selection: NodeKey) => Edited, gesture?: string): void;
  select(key: NodeKey, focus?: FocusPart): void;
  editLabel(key: NodeKey | undefined): void;
  undo(): void;
  redo(): void;
  endGesture(): void;
  say(message: string): void;
  lift(key: NodeKey): void;
  moveLifted(direction: -1 | 1): void;
  drop(): void;
  putBack(): void;
};

/** @param now milliseconds, for the pause that parts two steps of typing. */
export function openEditor(root: EditNode, now: () => number): Editor {
  let state: EditorState = { history: startHistory(root), lifted: undefined, focus: undefined, editing: undefined, message: '' };
  const listeners = new Set<() => void>();
  const set = (change: Partial<EditorState>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };

  const editor: Editor = {
    read: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(edit, gesture) {
      editor.drop();
      const { root, selection } = state.history.present;
      const edited = edit(root, selection);
      const next = { root: edited.root, selection: edited.select ?? selection };
      const moment = { root: next.root, selection: selectionIn(next) };
      set({
        history: recordChange(state.history, moment, gesture, now()),
        ...(edited.focus && { focus: { key: moment.selection, part: edited.focus } }),
        ...(edited.say !== undefined && { message: edited.say }),
        ...(edited.focus === 'label' ? { editing: moment.selection } : gesture === undefined && { editing: undefined }),
      });
    },
    select(key, focus) {
      const isSame = state.history.present.selection === key;
      if (isSame && !focus) return;
      if (state.lifted && state.lifted.key !== key) editor.drop();
      set({
        history: selectNode(state.history, key),
        ...(focus && { focus: { key, part: focus } }),
        ...(!isSame && { editing: undefined }),
      });
    },
    editLabel(key) {
      if (state.editing === key) return;
      set({ editing: key, history: key === undefined ? endGesture(state.history) : selectNode(state.history, key) });
    },
    undo() {
      const { past } = state.history;
      if (past.length === 0) return;
      const history = undo(state.history);
      set({ history, lifted: undefined, editing: undefined, focus: { key: history.present.selection, part: 'node' }, message: 'Undone' });
    },
    redo() {
      const { future } = state.history;
      if (future.length === 0) return;
      const history = redo(state.history);
      set({ history, lifted: undefined, editing: undefined, focus: { key: history.present.selection, part: 'node' }, message: 'Done again' });
    },
    endGesture: () => set({ history: endGesture(state.history) }),
    say: (message) => set({ message }),
    lift(key) {
      const before = selectNode(state.history, key);
      const place = sayPlace(before.present.root, key);
      const node = findNode(before.present.root, key);
      if (!node || place === '') return;
      set({
        history: before,
        lifted: { key, before },
        message: `${sayNode(node)} lifted, ${place}. Arrow keys move it, Space drops it, Escape puts it back.`,
      });
    },
    moveLifted(direction) {
      const { lifted, history } = state;
      if (!lifted) return;
      const { root } = history.present;
      const spot = nextSpot(root, lifted.key, direction);
      if (!spot) {
        set({ message: direction === 1 ? 'This is the last place.' : 'This is the first place.' });
        return;
      }
      const moved = moveNode(root, lifted.key, spotInTree(root, lifted.key, spot));
      set({
        history: { ...history, present: { root: moved, selection: lifted.key } },
        focus: { key: lifted.key, part: 'node' },
        message: `${sayNode(findNode(moved, lifted.key)!)}, ${sayPlace(moved, lifted.key)}`,
      });
    },
    drop() {
      const { lifted, history } = state;
      if (!lifted) return;
      const { root } = history.present;
      set({
        lifted: undefined,
        history: recordChange(lifted.before, { root, selection: lifted.key }, undefined, now()),
        message: `Dropped: ${sayNode(findNode(root, lifted.key)!)}, ${sayPlace(root, lifted.key)}`,
      });
    },
    putBack() {
      const { lifted } = state;
      if (!lifted) return;
      set({
        lifted: undefined,
        history: lifted.before,
        focus: { key: lifted.key, part: 'node' },
        message: `Put back: ${sayPlace(lifted.before.present.root, lifted.key)}`,
      });
    },
  };
  return editor;
}
