import { isRecord, own } from '#ast/json.ts';

/** One comparison as it is edited: what is asked, how, and with what. It may be incomplete. */
export type Leaf = {
  readonly kind: 'leaf';
  /** `row` is the id of a row of the matrix that is named. */
  readonly subject: { readonly of: 'element' | 'reference'; readonly name: string; readonly row?: string };
  readonly is: string;
  readonly value?: unknown;
};

/** How the parts of a group decide together. */
export const groupModes = ['all', 'any', 'none', 'not_all'] as const;
export type GroupMode = (typeof groupModes)[number];

export type Group = { readonly kind: 'group'; readonly mode: GroupMode; readonly parts: readonly Part[] };
export type Part = Leaf | Group;

/** The way from the outermost group to a part: an index for each level; empty for the group itself. */
export type PartPath = readonly number[];

/**
 * A stored condition as a tree to edit, whose outermost part is always a group. `not` becomes a mode of a group, so
 * that whoever edits reads "none of these" instead of a negation. Undefined for what is no condition.
 */
export function readCondition(condition: unknown): Group | undefined {
  const part = readPart(condition);
  return part?.kind === 'leaf' ? { kind: 'group', mode: 'all', parts: [part] } : part;
}

function readPart(condition: unknown): Part | undefined {
  if (!isRecord(condition)) return undefined;
  const negated = own(condition, 'not');
  if (negated !== undefined) return negate(readPart(negated));
  for (const mode of ['all', 'any'] as const) {
    const list = own(condition, mode);
    if (list !== undefined) return readGroup(mode, list);
  }
  return readLeaf(condition);
}

const opposite: Readonly<Record<GroupMode, GroupMode>> = {
  all: 'not_all',
  not_all: 'all',
  any: 'none',
  none: 'any',
};

function negate(part: Part | undefined): Group | undefined {
  if (!part) return undefined;
  return part.kind === 'group'
    ? { ...part, mode: opposite[part.mode] }
    : { kind: 'group', mode: 'none', parts: [part] };
}

function readGroup(mode: GroupMode, list: unknown): Group | undefined {
  if (!Array.isArray(list)) return undefined;
  const parts = list.map(readPart).filter((part) => part !== undefined);
  return parts.length === list.length ? { kind: 'group', mode, parts } : undefined;
}

function readLeaf(condition: Readonly<Record<string, unknown>>): Leaf | undefined {
  const is = own(condition, 'is');
  if (typeof is !== 'string') return undefined;
  const value = own(condition, 'value');
  for (const kind of ['element', 'reference'] as const) {
    const name = own(condition, kind);
    const row = own(condition, 'row');
    const subject = { of: kind, name: String(name), ...(typeof row === 'string' && { row }) };
    if (typeof name === 'string') return { kind: 'leaf', subject, is, ...(value !== undefined && { value }) };
  }
  return undefined;
}

/** The tree as it is stored: `{all: [...]}`, `{any: [...]}`, `{not: ...}` or a comparison (#ast/logic/condition.ts). */
export function writeCondition(part: Part): object {
  if (part.kind === 'leaf') {
    const { subject, is, value } = part;
    const { of, name, row } = subject;
    return { [of]: name, ...(row !== undefined && { row }), is, ...(value !== undefined && { value }) };
  }
  const parts = part.parts.map(writeCondition);
  const written: Readonly<Record<GroupMode, object>> = {
    all: { all: parts },
    any: { any: parts },
    none: { not: { any: parts } },
    not_all: { not: { all: parts } },
  };
  return written[part.mode];
}

/** The tree with the part at a path made into another; undefined takes it away. Empty groups go with it. */
export function changePart(
  group: Group,
  path: PartPath,
  change: (part: Part) => Part | undefined,
): Group | undefined {
  const changed = changeAt(group, path, change);
  return changed?.kind === 'group' ? changed : undefined;
}

function changeAt(part: Part, path: PartPath, change: (part: Part) => Part | undefined): Part | undefined {
  const [index, ...more] = path;
  if (index === undefined) return change(part);
  const child = part.kind === 'group' ? part.parts[index] : undefined;
  if (!child || part.kind !== 'group') return part;
  const changed = changeAt(child, more, change);
  if (changed) return { ...part, parts: part.parts.with(index, changed) };
  return part.parts.length === 1 ? undefined : { ...part, parts: part.parts.toSpliced(index, 1) };
}

/** The tree without the comparisons that are not kept; undefined when nothing is left. */
export function keepLeaves(group: Group, isKept: (leaf: Leaf) => boolean): Group | undefined {
  const parts = group.parts.flatMap((part): Part[] => {
    if (part.kind === 'leaf') return isKept(part) ? [part] : [];
    const kept = keepLeaves(part, isKept);
    return kept ? [kept] : [];
  });
  return parts.length === 0 ? undefined : { ...group, parts };
}

/** The tree with every comparison made into another. */
export function mapLeaves(group: Group, change: (leaf: Leaf) => Leaf): Group {
  const parts = group.parts.map((part) => (part.kind === 'leaf' ? change(part) : mapLeaves(part, change)));
  return { ...group, parts };
}

/** Every comparison, in reading order. */
export function leavesOf(group: Group): Leaf[] {
  return group.parts.flatMap((part) => (part.kind === 'leaf' ? [part] : leavesOf(part)));
}
