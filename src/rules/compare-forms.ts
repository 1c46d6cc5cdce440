import { getProperty, isRecord, isSameJson } from '#ast/basics/json.ts';

/** A node of a form that may be incomplete or invalid, with its parent node. */
export type ComparedNode<Node> = {
  readonly node: Node;
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly parent: ComparedNode<Node> | undefined;
};

/** The values of one name before and after; undefined if there is none. */
export type ValueChange = { readonly name: string; readonly before: unknown; readonly after: unknown };

export type NodeChange<Node> =
  | { readonly kind: 'added'; readonly after: ComparedNode<Node> }
  | { readonly kind: 'removed'; readonly before: ComparedNode<Node> }
  | {
      /** The part is in both forms, whether it changed or not. */
      readonly kind: 'kept';
      readonly before: ComparedNode<Node>;
      readonly after: ComparedNode<Node>;
      readonly isMoved: boolean;
      readonly attributes: readonly ValueChange[];
    };

type Comparison<Node> = {
  /** The parts of each form in reading order. */
  readonly before: readonly ComparedNode<Node>[];
  readonly after: readonly ComparedNode<Node>[];
  /** In the reading order of the later form, followed by the removed parts. */
  readonly changes: readonly NodeChange<Node>[];
};

/** Compares two forms. Each can be any structure, even an invalid one. */
export function compareForms<Node>(one: Node, other: Node): Comparison<Node> {
  const [before, after] = [listParts(one), listParts(other)];
  const pairs = pairParts(before, after);
  const moved = findMoved(pairs, before, after);
  const kept = new Set(pairs.values());
  return {
    before,
    after,
    changes: [
      ...after.map((part): NodeChange<Node> => {
        const old = pairs.get(part);
        if (!old) return { kind: 'added', after: part };
        const attributes = compareValues(old.attrs, part.attrs);
        return { kind: 'kept', before: old, after: part, isMoved: moved.has(part), attributes };
      }),
      ...before.flatMap((part): NodeChange<Node>[] =>
        kept.has(part) ? [] : [{ kind: 'removed', before: part }],
      ),
    ],
  };
}

/** Returns the values that differ between two records. */
export const compareValues = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly ValueChange[] =>
  Object.keys({ ...before, ...after })
    .map((name) => ({ name, before: getProperty(before, name), after: getProperty(after, name) }))
    .filter((change) => !isSameJson(change.before, change.after));

/**
 * Lists every node with its parent, in reading order. It uses a list instead of recursion, because an invalid
 * structure can be deep.
 */
function listParts<Node>(root: Node): ComparedNode<Node>[] {
  const parts: ComparedNode<Node>[] = [];
  const open: { node: unknown; parent: ComparedNode<Node> | undefined }[] = [
    { node: root, parent: undefined },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, parent } = next;
    if (!isRecord(node)) continue;
    const { type, attrs, children } = node;
    // The children of a node are nodes of its kind.
    const part = { node: node as Node, type: String(type), attrs: isRecord(attrs) ? attrs : {}, parent };
    parts.push(part);
    const inside = Array.isArray(children) ? (children as unknown[]) : [];
    for (const child of inside.toReversed()) open.push({ node: child, parent: part });
  }
  return parts;
}

const textOf = ({ attrs }: ComparedNode<unknown>, name: string): string => {
  const text = getProperty(attrs, name);
  return typeof text === 'string' ? text : '';
};

/**
 * An element with an id is identified by its id. A step gets an id only when a jump first names it, and stays
 * the same step.
 */
const isNamed = (part: ComparedNode<unknown>): boolean => part.type !== 'step' && textOf(part, 'id') !== '';

/** What two parts have in common if they are the same part. The first rule that finds a pair counts. */
const identities: readonly ((part: ComparedNode<unknown>) => string | undefined)[] = [
  (part) => {
    const id = textOf(part, 'id');
    return id === '' ? undefined : `${part.type === 'step' ? 'step' : 'element'} ${id}`;
  },
  (part) => (isNamed(part) ? undefined : `${part.type} ${textOf(part, 'label') || textOf(part, 'title')}`),
  // A paragraph that was rewritten counts as the same paragraph.
  (part) => (isNamed(part) ? undefined : part.type),
];

/** Returns the earlier part for each later part that has one. */
function pairParts<Node>(
  before: readonly ComparedNode<Node>[],
  after: readonly ComparedNode<Node>[],
): Map<ComparedNode<Node>, ComparedNode<Node>> {
  const pairs = new Map<ComparedNode<Node>, ComparedNode<Node>>();
  const used = new Set<ComparedNode<Node>>();
  for (const identify of identities) {
    // Reversed, so that `pop` returns the first match.
    const waiting = Map.groupBy(
      before.filter((part) => !used.has(part) && identify(part) !== undefined).toReversed(),
      identify,
    );
    for (const part of after) {
      const identity = pairs.has(part) ? undefined : identify(part);
      const old = identity === undefined ? undefined : waiting.get(identity)?.pop();
      if (!old) continue;
      used.add(old);
      pairs.set(part, old);
    }
  }
  return pairs;
}

/**
 * Returns the moved parts: those with another parent, and the smallest set of siblings whose move explains
 * the new order.
 */
function findMoved<Node>(
  pairs: ReadonlyMap<ComparedNode<Node>, ComparedNode<Node>>,
  before: readonly ComparedNode<Node>[],
  after: readonly ComparedNode<Node>[],
): Set<ComparedNode<Node>> {
  const position = new Map(before.map((part, index) => [part, index]));
  const kept = after.filter((part) => pairs.has(part));
  const stayed = kept.filter((part) => (part.parent && pairs.get(part.parent)) === pairs.get(part)!.parent);
  const inOrder = [...Map.groupBy(stayed, ({ parent }) => parent).values()].flatMap((siblings) => {
    const rise = longestRise(siblings.map((part) => position.get(pairs.get(part)!)!));
    return siblings.filter((_, index) => rise.has(index));
  });
  return new Set(kept).difference(new Set(inOrder));
}

/** Returns the indexes of the longest rising subsequence. */
function longestRise(numbers: readonly number[]): Set<number> {
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    const found = ends.findIndex((end) => numbers[end]! >= number);
    const length = found === -1 ? ends.length : found;
    previous[index] = ends[length - 1];
    ends[length] = index;
  }
  const series = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) series.add(index);
  return series;
}
