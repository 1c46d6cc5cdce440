import { limits } from './limits.ts';
import { countMarkup } from './markup-characters.ts';
import { isCleanText } from './text.ts';

/** A JSON object: not null and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two JSON values say the same; the order of keys says nothing, and a key without a value is none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, index) => isSameJson(entry, other[index]));
  if (!isRecord(one) || !isRecord(other)) return one === other;
  return Object.keys({ ...one, ...other }).every((key) => isSameJson(own(one, key), own(other, key)));
}

/**
 * The value of an object's own key.
 * Element ids such as `toString` are allowed, so a plain lookup could find `Object.prototype` instead.
 */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * What keeps a JSON value from being stored and read again, as the end of a sentence: unclean text in any key or
 * value, depth over `limits.jsonDepth`, more than `limits.values` values or `limits.markupCharacters`. `tally` counts over several calls.
 * Walks with a list instead of calls, as the value may be nested without bound.
 */
export function storageProblem(root: unknown, tally: { values: number; markup: number }): string | undefined {
  const uncleanText = 'has a text with a NUL character or half a surrogate pair';
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') {
      if (!isCleanText(value)) return uncleanText;
      tally.markup += countMarkup(value);
      if (tally.markup > limits.markupCharacters)
        return `has too many of the characters & < > " and ' (at most ${limits.markupCharacters} in all)`;
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth === limits.jsonDepth) return `is nested more than ${limits.jsonDepth} deep`;
    const keys = Object.keys(value);
    tally.values += keys.length;
    if (tally.values > limits.values) return `has too many values (at most ${limits.values} in all)`;
    for (const key of keys) {
      if (!isCleanText(key)) return uncleanText;
      open.push({ value: (value as Record<string, unknown>)[key], depth: depth + 1 });
    }
  }
  return undefined;
}
