import { isElementId } from '#ast/attributes/attributes.ts';
import { type EditNode, textOf, walkNodes } from './edit-node.ts';

/** Every element id of the tree. */
export function idsOf(root: EditNode): Set<string> {
  return new Set([...walkNodes(root)].map((node) => textOf(node, 'id')).filter(Boolean));
}

const longest = 64;

/** `wish`, or `wish_2`, `wish_3` … when it is taken. */
export function freshId(wish: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wish)) return wish;
  const stem = wish.replace(/_\d+$/, '');
  for (let number = 2; ; number += 1) {
    const id = `${stem.slice(0, longest - 1 - String(number).length)}_${number}`;
    if (!taken.has(id)) return id;
  }
}

/** An id that says what the label says: `Full name` gives `full_name`. Undefined when nothing of it can be an id. */
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
