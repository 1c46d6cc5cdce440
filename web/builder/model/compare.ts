import { isRecord, isSameJson, own } from '#ast/basics/json.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { sayCount } from '#ast/basics/say-count.ts';
import { elements, isElementType } from '#ast/form/elements.ts';
import { readOptions } from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { sayRule } from './say-logic.ts';
import { specsOf } from './say-problem.ts';

/**
 * A difference between two forms, in words. `key` is the node in the second form, if it still exists there.
 */
export type Difference = {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  /** `“Your email” (Email)` */
  readonly subject: string;
  /** One sentence for each change. Empty if the node was added, removed or moved. */
  readonly details: readonly string[];
  readonly key?: NodeKey;
};

type Placed = { readonly node: EditNode; readonly parent: Placed | undefined };
type Pair = { readonly before: Placed; readonly after: Placed };

/**
 * Lists all differences between `before` and `after` in reading order of `after`, with removed nodes last.
 */
export function compareForms(before: EditNode, after: EditNode): readonly Difference[] {
  const old = placeNodes(before);
  const fresh = placeNodes(after);
  const pairs = pairNodes(old, fresh);
  const moved = findMoved(pairs, old, fresh);
  const kept = new Set([...pairs.values()].map((pair) => pair.before));
  return [
    ...fresh.flatMap((placed): Difference[] => {
      const pair = pairs.get(placed);
      return pair
        ? tellPair(pair, moved.has(placed), { before, after })
        : tellWhole('added', placed, fresh, (other) => !pairs.has(other));
    }),
    ...old.flatMap((placed) =>
      kept.has(placed) ? [] : tellWhole('removed', placed, old, (other) => !kept.has(other)),
    ),
  ];
}

/** Both forms, because the text of a rule depends on the elements it refers to. */
type Roots = { readonly before: EditNode; readonly after: EditNode };

function tellPair({ before, after }: Pair, isMoved: boolean, roots: Roots): Difference[] {
  const { node } = after;
  const subject = sayNode(node);
  const details = compareAttributes(before.node, node, roots);
  const told: Difference[] = [];
  if (details.length > 0) told.push({ kind: 'changed', subject, details, key: node.key });
  if (isMoved) told.push({ kind: 'moved', subject, details: [], key: node.key });
  return told;
}

/** Describes an added or removed node together with its children. */
function tellWhole(
  kind: 'added' | 'removed',
  placed: Placed,
  all: readonly Placed[],
  isAlike: (other: Placed) => boolean,
): Difference[] {
  const { node, parent } = placed;
  if (parent && isAlike(parent)) return [];
  const inside = all.filter((other) => isInside(other, placed) && isAlike(other));
  const details =
    inside.length === 0 ? [] : [`With ${inside.map((other) => sayNode(other.node)).join(', ')}`];
  return [{ kind, subject: sayNode(node), details, ...(kind === 'added' && { key: node.key }) }];
}

function isInside({ parent }: Placed, outer: Placed): boolean {
  return parent !== undefined && (parent === outer || isInside(parent, outer));
}

/** Returns the title of a node type: `Email`, `Step`, `Form`. */
export function titleOf(type: string): string {
  if (isElementType(type)) return elements[type].title;
  if (type === 'step') return 'Step';
  return type === 'form' ? 'Form' : `Unknown type “${type}”`;
}

/** Describes a node by its label or title in quotes, and its type. */
export function sayNode(node: EditNode): string {
  const name = textOf(node, 'label') || textOf(node, 'title') || textOf(node, 'name');
  return name ? `“${name}” (${titleOf(node.type)})` : titleOf(node.type);
}

/** Describes one node, or counts several. */
export const sayNodes = (nodes: readonly EditNode[]): string =>
  nodes.length === 1 ? sayNode(nodes[0]!) : sayCount(nodes.length, 'part');

/** Lists every node with its parent. */
function placeNodes(root: EditNode): Placed[] {
  const placed: Placed[] = [];
  const visit = (node: EditNode, parent: Placed | undefined): void => {
    const own = { node, parent };
    placed.push(own);
    for (const child of node.children) visit(child, own);
  };
  visit(root, undefined);
  return placed;
}

/**
 * Matches the nodes of two forms by id, then by type and text, then by type in order. A rewritten paragraph
 * therefore matches its old version.
 */
function pairNodes(old: readonly Placed[], fresh: readonly Placed[]): Map<Placed, Pair> {
  const pairs = new Map<Placed, Pair>();
  const taken = new Set<Placed>();
  // A step may get its id late, when a jump first refers to it. It must still match.
  const isNamed = ({ type, attrs }: EditNode): boolean => type !== 'step' && Boolean(attrs['id']);
  const rules = [
    ({ node }: Placed) =>
      textOf(node, 'id') ? `${node.type === 'step' ? 'step' : 'element'} ${textOf(node, 'id')}` : undefined,
    ({ node }: Placed) =>
      isNamed(node) ? undefined : `${node.type} ${textOf(node, 'label') || textOf(node, 'title')}`,
    ({ node }: Placed) => (isNamed(node) ? undefined : node.type),
  ];
  for (const identify of rules) {
    const waiting = Map.groupBy(
      old.filter((placed) => !taken.has(placed) && identify(placed)),
      identify,
    );
    for (const after of fresh) {
      if (pairs.has(after)) continue;
      const before = waiting.get(identify(after))?.shift();
      if (!before || identify(after) === undefined) continue;
      taken.add(before);
      pairs.set(after, { before, after });
    }
  }
  return pairs;
}

/** Finds moved nodes: those with another parent, and the fewest that explain a changed order. */
function findMoved(
  pairs: ReadonlyMap<Placed, Pair>,
  old: readonly Placed[],
  fresh: readonly Placed[],
): Set<Placed> {
  const position = new Map(old.map((placed, index) => [placed, index]));
  const all = fresh.flatMap((placed) => pairs.get(placed) ?? []);
  const isInSame = ({ before, after }: Pair): boolean =>
    (after.parent && pairs.get(after.parent)?.before) === before.parent;
  const stayed = all.filter(isInSame);
  const inOrder = longestRise(stayed.map(({ before }) => position.get(before)!));
  const kept = new Set(stayed.filter((_, index) => inOrder.has(index)));
  return new Set(all.filter((pair) => !kept.has(pair)).map(({ after }) => after));
}

/** Returns the indexes of the longest rising subsequence. */
function longestRise(numbers: readonly number[]): Set<number> {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    const found = ends.findIndex((end) => numbers[end]! >= number);
    const length = found === -1 ? ends.length : found;
    before[index] = ends[length - 1];
    ends[length] = index;
  }
  const series = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = before[index]) series.add(index);
  return series;
}

function compareAttributes(before: EditNode, after: EditNode, roots: Roots): string[] {
  const names = new Set([...Object.keys(before.attrs), ...Object.keys(after.attrs)]);
  const details =
    before.type === after.type ? [] : [`Type: ${titleOf(before.type)} → ${titleOf(after.type)}`];
  for (const name of names) {
    const old = before.attrs[name];
    const fresh = after.attrs[name];
    if (JSON.stringify(old) === JSON.stringify(fresh)) continue;
    const title = attributeTitle(after.type, name);
    const rules = [sayRule(roots.before, before, name), sayRule(roots.after, after, name)] as const;
    if (name === 'translations') details.push(...sayTranslations(title, old, fresh));
    else if (rules.some((rule) => rule !== undefined))
      details.push(`${title}: ${rules.map((rule) => rule || 'nothing').join(' → ')}`);
    else if (name === 'options' || name === 'rows')
      details.push(...sayOptionsChange(title, readOptions(old), readOptions(fresh)));
    else details.push(...sayChange(title, old, fresh));
  }
  return details;
}

/** Counts the changed translations of a node by language. */
export function sayTranslations(title: string, old: unknown, fresh: unknown): string[] {
  const [before, after] = [flatTexts(old), flatTexts(fresh)];
  const counts = new Map<string, number>();
  for (const place of new Set([...before.keys(), ...after.keys()])) {
    const [language] = JSON.parse(place) as [string];
    if (before.get(place) !== after.get(place)) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const said = [...counts].map(([language, count]) => `${language} (${sayCount(count, 'text')})`);
  return said.length === 0 ? [] : [`${title && `${title}: `}${said.join(', ')}`];
}

/** Flattens translations by path: language, attribute, option. */
function flatTexts(translations: unknown, place: readonly string[] = []): Map<string, unknown> {
  if (!isRecord(translations))
    return new Map(place.length === 0 ? [] : [[JSON.stringify(place), translations]]);
  return new Map(
    Object.entries(translations).flatMap(([name, value]) => [...flatTexts(value, [...place, name])]),
  );
}

/** Returns the title of an attribute, or its name if it is unknown. */
function attributeTitle(type: string, name: string): string {
  const specs = specsOf({ type });
  return Object.hasOwn(specs, name) ? specs[name]!.title : name;
}

/** Describes a change. Without a title, the text continues the heading above. */
export function sayChange(title: string, old: unknown, fresh: unknown): string[] {
  if (Array.isArray(old) && Array.isArray(fresh)) return sayListChange(title, old, fresh);
  return [`${title && `${title}: `}${sayValue(old)} → ${sayValue(fresh)}`];
}

function sayListChange(title: string, old: readonly unknown[], fresh: readonly unknown[]): string[] {
  const added = fresh.filter((entry) => !old.includes(entry));
  const removed = old.filter((entry) => !fresh.includes(entry));
  const parts = [
    added.length > 0 && `added ${added.map(sayValue).join(', ')}`,
    removed.length > 0 && `removed ${removed.map(sayValue).join(', ')}`,
    added.length === 0 && removed.length === 0 && 'reordered',
  ].filter(Boolean);
  return [`${title && `${title}: `}${parts.join('; ')}`];
}

/** Compares options by the id that answers store, so a changed label is a renamed option. */
function sayOptionsChange(
  title: string,
  old: readonly ChoiceOption[],
  fresh: readonly ChoiceOption[],
): string[] {
  const before = new Map(old.map((option) => [option.id, option]));
  const kept = fresh.flatMap((option) => {
    const was = before.get(option.id);
    return was ? [{ was, option }] : [];
  });
  const renamed = kept.filter(({ was, option }) => was.label !== option.label);
  const details = kept.flatMap(({ was, option }) =>
    [...new Set([...Object.keys(was), ...Object.keys(option)])]
      .filter((name) => name !== 'label')
      .filter((name) => !isSameJson(own<unknown>(was, name), own<unknown>(option, name)))
      .map(
        (name) =>
          `${name} of ${sayValue(option.label)}: ${sayValue(own<unknown>(was, name))} → ${sayValue(own<unknown>(option, name))}`,
      ),
  );
  const calls = new Map(fresh.map(({ id, label }) => [id, label]));
  const isSame = old.length === fresh.length && old.every(({ id }, index) => id === fresh[index]!.id);
  return [
    ...renamed.map(
      ({ was, option }) => `${title}: renamed ${sayValue(was.label)} to ${sayValue(option.label)}`,
    ),
    ...details.map((detail) => `${title}: ${detail}`),
    ...(isSame
      ? []
      : sayListChange(
          title,
          old.map(({ id, label }) => calls.get(id) ?? label),
          fresh.map(({ label }) => label),
        )),
  ];
}

const longestShown = 60;

function sayValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
