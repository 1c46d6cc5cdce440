import { answerLimits } from './limits.ts';
import { reservedPageNames } from './page-names.ts';

/** A letter, digit or `_`, then letters with marks, digits, `_`, `-`, `.` and `:`, of any script. */
export const elementIdPatternSource = String.raw`[\p{L}\p{Nd}_][\p{L}\p{M}\p{Nd}_.:-]{0,${answerLimits.elementId - 1}}`;
const elementId = new RegExp(`^${elementIdPatternSource}$`, 'u');

/** Names that have a meaning in JavaScript objects and would break client libraries. */
const objectNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Names that no element ID can use. */
const reservedIds: readonly string[] = [...objectNames, ...reservedPageNames];

/** Returns what is wrong with an element ID, as the end of a sentence about the ID. */
export function elementIdProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (reservedIds.includes(value)) return `must not be the reserved word "${value}"`;
  if (!elementId.test(value))
    return `must have 1 to ${answerLimits.elementId} letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_"`;
  // Otherwise, two IDs that look equal could be two questions. Keyboards produce the composed form.
  return value.normalize('NFC') === value ? undefined : 'must be in Unicode normalization form NFC';
}

/** Returns whether a text is a valid element ID (docs/rules.md 13). */
export const isElementId = (text: string): boolean => elementIdProblem(text) === undefined;
