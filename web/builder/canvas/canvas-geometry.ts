import { type EditNode, findNode, type NodeKey, walkNodes } from '../model/edit-node.ts';
import type { Box, Zone } from '../model/drop-place.ts';
import { mayHold } from '../model/places.ts';

/** The element of a node on the canvas. */
export function elementOf(host: HTMLElement | null, key: NodeKey): HTMLElement | null {
  return host?.shadowRoot?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? null;
}

/** Everything that could take the node, measured: steps and composites with what they hold. */
export function measureZones(host: HTMLElement, root: EditNode, node: EditNode): Zone[] {
  const zones: Zone[] = [];
  const moving = findNode(root, node.key)
    ? new Set([...walkNodes(node)].map(({ key }) => key))
    : new Set<NodeKey>();
  for (const parent of walkNodes(root)) {
    if (parent.type !== 'step' && parent.type !== 'composite') continue;
    if (moving.has(parent.key) || !mayHold(root, parent.key, node)) continue;
    const element = elementOf(host, parent.key);
    if (!element) continue;
    zones.push({
      key: parent.key,
      box: element.getBoundingClientRect(),
      isRow: isSideBySide(host, parent),
      items: itemsOf(host, parent),
    });
  }
  return zones;
}

function itemsOf(host: HTMLElement, parent: EditNode): Box[] {
  return parent.children.flatMap(({ key }) => elementOf(host, key)?.getBoundingClientRect() ?? []);
}

/** Whether two neighbours stand side by side at the canvas's width; one alone counts by its layout. */
function isSideBySide(host: HTMLElement, parent: EditNode): boolean {
  const layout = parent.attrs['layout'];
  if (layout === undefined || layout === 'stack') return false;
  const boxes = itemsOf(host, parent);
  return boxes.length < 2 || boxes.some((box, index) => index > 0 && box.top < boxes[index - 1]!.bottom);
}
