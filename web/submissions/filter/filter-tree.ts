import type { ConditionGroup, FilterCondition, GroupPart, UngroupedCondition } from './conditions.ts';

/** The position of a condition: an index in each group from the outermost. */
export type Path = readonly number[];

/** The conditions of a view as one group, and the conditions beside it, which always apply. */
export type FilterTree = { root: ConditionGroup; ungrouped: readonly UngroupedCondition[] };

const canBeInGroup = (condition: FilterCondition): condition is GroupPart =>
  condition.on === 'answer' || condition.on === 'reference' || condition.on === 'group';

/** Reads the conditions of a view as a tree. A single group is the outermost group. */
export function readTree(where: readonly FilterCondition[]): FilterTree {
  const parts = where.filter(canBeInGroup);
  const [first] = parts;
  return {
    // `writeTree` never writes an outermost group of one condition, so this is a group inside it.
    root:
      parts.length === 1 && first?.on === 'group' && first.parts.length > 1
        ? first
        : { on: 'group', op: 'all', parts },
    ungrouped: where.filter((condition) => !canBeInGroup(condition)),
  };
}

/** Converts the tree back to the conditions of the view. */
export const writeTree = ({ root, ungrouped }: FilterTree): readonly FilterCondition[] => [
  ...(root.op === 'any' && root.parts.length > 1 ? [root] : root.parts),
  ...ungrouped,
];

/** The groups of a group join their conditions with the other word. */
export const otherJoiner = ({ op }: ConditionGroup): ConditionGroup['op'] => (op === 'all' ? 'any' : 'all');

/** Swaps "and" and "or" at every level. */
export const swapJoiners = (group: ConditionGroup): ConditionGroup => ({
  ...group,
  op: otherJoiner(group),
  parts: group.parts.map((part) => (part.on === 'group' ? swapJoiners(part) : part)),
});

/**
 * Replaces, adds or removes the condition at a path. A missing group is created, and an empty one is
 * removed.
 * @param changed undefined removes the condition.
 */
export function changePart(
  group: ConditionGroup,
  [index = 0, ...rest]: Path,
  changed: GroupPart | undefined,
): ConditionGroup {
  const before = group.parts[index];
  let part = changed;
  if (rest.length > 0) {
    const inner: ConditionGroup =
      before?.on === 'group' ? before : { on: 'group', op: otherJoiner(group), parts: [] };
    const next = changePart(inner, rest, changed);
    part = next.parts.length > 0 ? next : undefined;
  }
  const parts = [...group.parts.slice(0, index), ...(part ? [part] : []), ...group.parts.slice(index + 1)];
  return { ...group, parts };
}

/** Counts the conditions at all levels. */
export const countConditions = (conditions: readonly FilterCondition[]): number =>
  conditions.reduce(
    (count, condition) => count + (condition.on === 'group' ? countConditions(condition.parts) : 1),
    0,
  );
