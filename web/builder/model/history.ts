import { isSameJson } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { type EditNode, findNode, type NodeKey } from './edit-node.ts';

/** The form and its settings at one moment, and what is selected: undo brings all of it back. */
export type Moment = {
  readonly root: EditNode;
  readonly settings: Settings;
  /** The node that was selected last; what keys and panels mean. */
  readonly selection: NodeKey;
  /** What is selected besides it. */
  readonly also?: readonly NodeKey[];
};

/**
 * What was, what is, and what was undone. Trees share what is equal, so a step holds little more than its change.
 * `gesture` is the running series of changes that count as one step, such as typing into one field.
 */
export type History = {
  readonly past: readonly Moment[];
  readonly present: Moment;
  readonly future: readonly Moment[];
  readonly gesture: { readonly name: string; readonly at: number } | undefined;
};

/** Steps that can be undone; more than anybody counts (docs/rules.md B1 asks for 100). */
export const historyLength = 500;
/** A pause in typing after which the next letter begins another step, in milliseconds (docs/rules.md B1). */
export const typingPause = 500;

export function startHistory(root: EditNode, settings: Settings): History {
  return { past: [], present: { root, settings, selection: root.key }, future: [], gesture: undefined };
}

/**
 * Adds a change as one step. Changes of the same `gesture` that follow each other within `typingPause` are one.
 * A change that changes nothing is none. `now` is in milliseconds.
 */
export function recordChange(
  history: History,
  next: Moment,
  gesture: string | undefined,
  now: number,
): History {
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

/** Whether two trees say the same. They share what no edit has touched, so little is compared. */
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

/** Selects without a step of history; what is typed afterwards is a step of its own. */
export function selectNode(history: History, selection: NodeKey, also: readonly NodeKey[] = []): History {
  const { selection: old, also: oldAlso = [] } = history.present;
  if (old === selection && oldAlso.join() === also.join()) return history;
  return { ...history, present: { ...history.present, selection, also }, gesture: undefined };
}

/** Ends the running series, as leaving a field does. */
export function endGesture(history: History): History {
  return history.gesture ? { ...history, gesture: undefined } : history;
}

/** The moment before; what was selected then is selected again. */
export function undo(history: History): History {
  const before = history.past.at(-1);
  if (!before) return history;
  const { past, present, future } = history;
  return { past: past.slice(0, -1), present: before, future: [present, ...future], gesture: undefined };
}

/** The moment that was undone last. */
export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future, gesture: undefined };
}

/** A moment in which only what is in its tree is selected, and the root where nothing is. */
export function momentOf({ root, selection, also = [], ...moment }: Moment): Moment {
  const [lead = root.key, ...others] = [selection, ...also].filter((key) => findNode(root, key));
  return { ...moment, root, selection: lead, also: others };
}
