import { isElementId } from '#ast/attributes/attributes.ts';
import { type EditNode, textOf, walkNodes } from './edit-node.ts';

/** Returns every element id in the tree. */
export function idsOf(root: EditNode): Set<string> {
  return new Set([...walkNodes(root)].map((node) => textOf(node, 'id')).filter(Boolean));
}

const longest = 64;

/** Returns `preferred`, or `preferred_2`, `preferred_3` … if it is in use. */
export function freshId(preferred: string, taken: ReadonlySet<string>): string {
  if (!taken.has(preferred)) return preferred;
  const stem = preferred.replace(/_\d+$/, '');
  for (let number = 2; ; number += 1) {
    const id = `${stem.slice(0, longest - 1 - String(number).length)}_${number}`;
    if (!taken.has(id)) return id;
  }
}

/** Derives an id from a label: `Full name` gives `full_name`. Undefined if no character can be used. */
export function idFromLabel(label: string): string | undefined {
  const words = label
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[_\d]+/, '')
    .slice(0, longest)
    .replace(/_+$/, '');
  return isElementId(words) ? words : undefined;
}
