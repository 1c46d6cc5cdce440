import { type EditNode, type NodeKey, walkNodes } from './edit-node.ts';
import type { Moment } from './history.ts';
import { isElement } from './places.ts';

/** The nodes with the keys in reading order, without what lies in one of them already. */
export function topmost(root: EditNode, keys: readonly NodeKey[]): readonly EditNode[] {
  const wanted = new Set(keys);
  const visit = (node: EditNode): readonly EditNode[] =>
    wanted.has(node.key) ? [node] : node.children.flatMap(visit);
  return visit(root);
}

/** What is selected, as `topmost` gives it. */
export const selectedIn = ({ root, selection, also = [] }: Moment): readonly EditNode[] =>
  topmost(root, [selection, ...also]);

/** Every step for a step, every other part for another one: what can be selected together with it, in reading order. */
function peersOf(root: EditNode, { type }: EditNode): readonly EditNode[] {
  return type === 'step' ? root.children : [...walkNodes(root)].filter(isElement);
}

/** Everything from one node to another, which comes last; the other alone where the two cannot be selected together. */
export function rangeOf(root: EditNode, from: NodeKey, to: EditNode): readonly NodeKey[] {
  const peers = peersOf(root, to).map(({ key }) => key);
  const [one, other] = [peers.indexOf(from), peers.indexOf(to.key)];
  if (one === -1) return [to.key];
  const range = peers.slice(Math.min(one, other), Math.max(one, other) + 1);
  return one <= other ? range : range.toReversed();
}

/** The selection with a node or without it; of what it cannot be selected with, nothing stays. The last key leads. */
export function toggled({ root, selection, also = [] }: Moment, node: EditNode): readonly NodeKey[] {
  const peers = new Set(peersOf(root, node).map(({ key }) => key));
  const old = [...also, selection].filter((key) => peers.has(key));
  if (!old.includes(node.key)) return [...old, node.key];
  return old.length === 1 ? old : old.filter((key) => key !== node.key);
}

/** Everything beside what is selected, and once that is selected all that the form asks. */
export function widened(moment: Moment): readonly NodeKey[] {
  const { root } = moment;
  const selected = selectedIn(moment);
  const own = [...walkNodes(root)].find(({ children }) => children.some((child) => selected.includes(child)));
  const beside = own?.children ?? [];
  const isAll = beside.every((node) => selected.includes(node));
  const wider = isAll ? root.children.flatMap(({ children }) => children) : beside;
  return wider.map(({ key }) => key);
}
