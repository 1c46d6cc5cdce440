import { formLimits } from './limits.ts';
import { countMarkup } from './markup-characters.ts';
import { isCleanText } from './text.ts';

/** Returns whether the value is a JSON object: not null and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether two JSON values are equal. The order of keys and keys without a value are ignored. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, index) => isSameJson(entry, other[index]));
  if (!isRecord(one) || !isRecord(other)) return one === other;
  return Object.keys({ ...one, ...other }).every((key) =>
    isSameJson(getProperty(one, key), getProperty(other, key)),
  );
}

/**
 * Returns the value of an object's own key. Element IDs such as `toString` are allowed, so a plain lookup
 * could find `Object.prototype`.
 */
export function getProperty<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * Returns why a JSON value cannot be stored, as the end of a sentence: unclean text in a key or value, depth
 * over `limits.jsonDepth`, more than `limits.values` values or `limits.markupCharacters`. `tally` keeps the
 * counts of several calls. Uses a list instead of recursion, because the value can be nested without limit.
 */
export function jsonStorageProblem(
  root: unknown,
  tally: { values: number; markup: number },
): string | undefined {
  const uncleanText = 'contains a NUL character or an unpaired surrogate';
  const open: { holder: Readonly<Record<string, unknown>> | readonly unknown[]; depth: number }[] = [];
  // Of 250,000 values, most contain no others, so nothing is allocated for them.
  const problemOf = (value: unknown, depth: number): string | undefined => {
    if (isRecord(value) || Array.isArray(value)) open.push({ holder: value, depth });
    if (typeof value !== 'string') return undefined;
    if (!isCleanText(value)) return uncleanText;
    tally.markup += countMarkup(value);
    if (tally.markup <= formLimits.markupCharacters) return undefined;
    return `has too many of the characters & < > " and ' (at most ${formLimits.markupCharacters} in total)`;
  };
  let problem = problemOf(root, 0);
  for (let next = open.pop(); next && !problem; next = open.pop()) {
    const { holder, depth } = next;
    if (depth === formLimits.jsonDepth) return `is nested more than ${formLimits.jsonDepth} levels deep`;
    const names = isRecord(holder) ? Object.keys(holder) : [];
    // By name: `Object.values` takes three times as long for thousands of values.
    const values = isRecord(holder) ? names.map((name) => holder[name]) : holder;
    tally.values += values.length;
    if (tally.values > formLimits.values)
      return `has too many values (at most ${formLimits.values} in total)`;
    if (!names.every(isCleanText)) return uncleanText;
    for (const value of values) problem ??= problemOf(value, depth + 1);
  }
  return problem;
}

/**
 * Drops null members of objects, because typed clients send every member of conditions and options. Null
 * items of lists stay and are rejected where they are read.
 */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > formLimits.jsonDepth) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withoutNulls(item, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const members = Object.entries(value);
  const kept = members.flatMap(([name, member]): [string, unknown][] =>
    member === null ? [] : [[name, withoutNulls(member, depth + 1)]],
  );
  const isSame = kept.length === members.length && kept.every(([name, member]) => value[name] === member);
  return isSame ? value : Object.fromEntries(kept);
}
