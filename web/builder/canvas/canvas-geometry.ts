import { type EditNode, type NodeKey, walkNodes } from '../model/edit-node.ts';
import type { Box, Zone } from '../model/drop-place.ts';
import { mayHold } from '../model/places.ts';

/** The element of a node on the canvas. */
export function elementOf(host: HTMLElement | null, key: NodeKey): HTMLElement | null {
  return host?.shadowRoot?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? null;
}

const besides = { ltr: 'right', rtl: 'left' } as const;

/** Everything that could take the nodes, measured: steps and composites with what they hold. */
export function measureZones(host: HTMLElement, root: EditNode, nodes: readonly EditNode[]): Zone[] {
  const zones: Zone[] = [];
  const drawn = elementsByKey(host);
  const moving = new Set(nodes.flatMap((node) => [...walkNodes(node)]).map(({ key }) => key));
  for (const parent of walkNodes(root)) {
    if (parent.type !== 'step' && parent.type !== 'composite') continue;
    if (moving.has(parent.key) || !nodes.every((node) => mayHold(root, parent.key, node))) continue;
    const element = drawn.get(parent.key);
    if (!element) continue;
    zones.push({
      key: parent.key,
      box: element.getBoundingClientRect(),
      flow: isSideBySide(drawn, parent)
        ? besides[getComputedStyle(element).direction as 'ltr' | 'rtl']
        : 'down',
      items: itemsOf(drawn, parent),
    });
  }
  return zones;
}

/**
 * The one zone for steps, measured in the canvas or in the list of steps: whatever shows all of them, each under its
 * key. None while one of them is not drawn.
 */
export function measureStepZones(place: ParentNode | null, root: EditNode): Zone[] {
  const items = root.children.flatMap(
    ({ key }) => place?.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect() ?? [],
  );
  const [first] = items;
  if (!first || items.length < root.children.length) return [];
  const box = { left: first.left, right: first.right, top: first.top, bottom: items.at(-1)!.bottom };
  return [{ key: root.key, box, flow: 'down', items }];
}

/** Each step of the list as a zone without items: what is dropped on it goes to its end. */
export function measureStepItems(place: ParentNode, root: EditNode, nodes: readonly EditNode[]): Zone[] {
  return root.children.flatMap((step): Zone[] => {
    const box = place.querySelector(`[data-key="${step.key}"]`)?.getBoundingClientRect();
    const mayTake = nodes.every((node) => mayHold(root, step.key, node));
    return box && mayTake ? [{ key: step.key, box, flow: 'down', items: [], end: step.children.length }] : [];
  });
}

type Drawn = ReadonlyMap<NodeKey, HTMLElement>;

/** All elements at once: to look for each of 200 alone would go through the whole form 200 times. */
export function elementsByKey(host: HTMLElement): Drawn {
  const found = host.shadowRoot?.querySelectorAll<HTMLElement>('[data-key]') ?? [];
  return new Map([...found].map((element) => [element.dataset['key']!, element]));
}

function itemsOf(drawn: Drawn, parent: EditNode): Box[] {
  return parent.children.flatMap(({ key }) => drawn.get(key)?.getBoundingClientRect() ?? []);
}

/** Whether two neighbours stand side by side at the canvas's width; one alone counts by its layout. */
function isSideBySide(drawn: Drawn, parent: EditNode): boolean {
  const layout = parent.attrs['layout'];
  if (layout === undefined || layout === 'stack') return false;
  const boxes = itemsOf(drawn, parent);
  return boxes.length < 2 || boxes.some((box, index) => index > 0 && box.top < boxes[index - 1]!.bottom);
}
