import { isRecord } from '#ast/json.ts';
import type { EditNode, NodeKey } from './edit-node.ts';
import { jumpsOf } from './logic/references.ts';
import { mayHold } from './places.ts';

/* What a person can do to whole steps, by the rules of edit.ts. */

/**
 * Moves all that a step holds to the end of the step before it, and takes the step away. When the step was shown goes
 * to each element of it, and where it led to the step before it.
 */
export function mergeStep(root: EditNode, key: NodeKey): EditNode {
  const index = root.children.findIndex((step) => step.key === key);
  const step = root.children[index];
  const before = root.children[index - 1];
  if (!step || !before) return root;
  const jumps = [...jumpsOf(before), ...jumpsOf(step)];
  const merged = {
    ...before,
    attrs: jumps.length === 0 ? before.attrs : { ...before.attrs, jumps },
    children: [...before.children, ...step.children.map((child) => withConditionsOf(step, child))],
  };
  return { ...root, children: root.children.toSpliced(index - 1, 2, merged) };
}

/** An element that is shown only while a step would be: what hides either of them hides it. */
function withConditionsOf(step: EditNode, child: EditNode): EditNode {
  const shown = joinConditions('all', step.attrs['show_when'], child.attrs['show_when']);
  const hidden = joinConditions('any', step.attrs['hide_when'], child.attrs['hide_when']);
  return {
    ...child,
    attrs: {
      ...child.attrs,
      ...(shown !== undefined && { show_when: shown }),
      ...(hidden !== undefined && { hide_when: hidden }),
    },
  };
}

/** Two conditions as one. Groups of the same mode become one group, so that many merges do not nest ever deeper. */
function joinConditions(mode: 'all' | 'any', ...conditions: readonly unknown[]): unknown {
  const [one, other] = conditions.filter((condition) => condition !== undefined);
  if (other === undefined) return one;
  const partsOf = (condition: unknown): readonly unknown[] =>
    isRecord(condition) && Array.isArray(condition[mode]) ? condition[mode] : [condition];
  return { [mode]: [...partsOf(one), ...partsOf(other)] };
}

/**
 * Takes everything from an element of a step on into a step of its own behind it, which is shown when the whole step
 * was, and leads where it led.
 */
export function splitStep(root: EditNode, key: NodeKey, step: EditNode): EditNode {
  const index = root.children.findIndex(({ children }) => children.some((child) => child.key === key));
  const whole = root.children[index];
  if (!whole || !mayHold(root, root.key, step)) return root;
  const at = whole.children.findIndex((child) => child.key === key);
  const { jumps, ...attrs } = whole.attrs;
  const { show_when, hide_when } = whole.attrs;
  const first = { ...whole, attrs, children: whole.children.slice(0, at) };
  const second = {
    ...step,
    attrs: {
      ...step.attrs,
      ...(show_when !== undefined && { show_when }),
      ...(hide_when !== undefined && { hide_when }),
      ...(jumps !== undefined && { jumps }),
    },
    children: whole.children.slice(at),
  };
  return { ...root, children: root.children.toSpliced(index, 1, first, second) };
}
