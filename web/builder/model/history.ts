import { isSameJson } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { type EditNode, findNode, type NodeKey } from './edit-node.ts';

/** The form, its settings and the selection at one point in the history. Undo restores all of them. */
export type EditSnapshot = {
  readonly root: EditNode;
  readonly settings: Settings;
  /** The node that was selected last. Keys and panels act on it. */
  readonly selection: NodeKey;
  /** Other selected nodes. */
  readonly also?: readonly NodeKey[];
};

/**
 * The past, present and undone snapshots. Trees share unchanged nodes, so a step stores little more than its
 * change. `gesture` is the current series of changes that count as one step, such as typing into a field.
 */
export type EditHistory = {
  readonly past: readonly EditSnapshot[];
  readonly present: EditSnapshot;
  readonly future: readonly EditSnapshot[];
  readonly gesture: { readonly name: string; readonly at: number } | undefined;
};

/** The number of steps that can be undone (docs/rules.md B1 requires 100). */
export const historyLength = 500;
/** In milliseconds. After a pause this long, the next keystroke begins a new step (docs/rules.md B1). */
export const typingPause = 500;

export function startHistory(root: EditNode, settings: Settings): EditHistory {
  return { past: [], present: { root, settings, selection: root.key }, future: [], gesture: undefined };
}

/**
 * Adds a change as a step. Changes of one `gesture` within `typingPause` of each other form one step. A
 * change without effect adds no step. `now` is in milliseconds.
 */
export function recordChange(
  history: EditHistory,
  next: EditSnapshot,
  gesture: string | undefined,
  now: number,
): EditHistory {
  const { past, present } = history;
  if (isSameNode(next.root, present.root) && isSameJson(next.settings, present.settings))
    return selectNode(history, next.selection, next.also);
  const running = history.gesture;
  const continues = gesture !== undefined && running?.name === gesture && now - running.at < typingPause;
  return {
    past: continues ? past : [...past, present].slice(-historyLength),
    present: next,
    future: [],
    gesture: gesture === undefined ? undefined : { name: gesture, at: now },
  };
}

/** Whether two trees are equal. Unedited nodes are shared, so few are compared. */
function isSameNode(one: EditNode, other: EditNode): boolean {
  if (one === other) return true;
  return (
    one.key === other.key &&
    one.type === other.type &&
    isSameJson(one.attrs, other.attrs) &&
    isSameJson(one.rest, other.rest) &&
    one.children.length === other.children.length &&
    one.children.every((child, index) => isSameNode(child, other.children[index]!))
  );
}

/** Selects nodes without a step of history. Later typing starts a new step. */
export function selectNode(
  history: EditHistory,
  selection: NodeKey,
  also: readonly NodeKey[] = [],
): EditHistory {
  const { selection: old, also: oldAlso = [] } = history.present;
  if (old === selection && oldAlso.join() === also.join()) return history;
  return { ...history, present: { ...history.present, selection, also }, gesture: undefined };
}

/** Ends the current series of changes, for example when a field loses focus. */
export function endGesture(history: EditHistory): EditHistory {
  return history.gesture ? { ...history, gesture: undefined } : history;
}

/** Returns to the previous snapshot and its selection. */
export function undo(history: EditHistory): EditHistory {
  const before = history.past.at(-1);
  if (!before) return history;
  const { past, present, future } = history;
  return { past: past.slice(0, -1), present: before, future: [present, ...future], gesture: undefined };
}

/** Returns to the snapshot that was undone last. */
export function redo(history: EditHistory): EditHistory {
  const [next, ...future] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future, gesture: undefined };
}

/** Limits the selection of a moment to nodes in its tree, or selects the root if none are left. */
export function withValidSelection({ root, selection, also = [], ...moment }: EditSnapshot): EditSnapshot {
  const [lead = root.key, ...others] = [selection, ...also].filter((key) => findNode(root, key));
  return { ...moment, root, selection: lead, also: others };
}
