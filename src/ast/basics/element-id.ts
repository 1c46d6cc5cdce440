import { answerLimits } from './limits.ts';
import { pageNames } from './page-names.ts';

/** A letter, digit or `_`, then letters with their marks, digits, `_`, `-`, `.` and `:`, of any script. */
export const elementIdSource = String.raw`[\p{L}\p{Nd}_][\p{L}\p{M}\p{Nd}_.:-]{0,${answerLimits.elementId - 1}}`;
const elementId = new RegExp(`^${elementIdSource}$`, 'u');

/** Names of JavaScript objects themselves: libraries of clients stumble over them. */
const objectNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** What no element can be called. */
export const reservedIds: readonly string[] = [...objectNames, ...pageNames];

/** What is wrong with an element id, as the end of a sentence about it. */
export function elementIdProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (reservedIds.includes(value)) return `must not be the reserved word "${value}"`;
  if (!elementId.test(value))
    return `must have 1 to ${answerLimits.elementId} letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_"`;
  // Two ids that look the same would be two questions: the composed spelling is the one that keyboards write.
  return value.normalize('NFC') === value ? undefined : 'must be in the Unicode normal form NFC';
}

/** Whether the text can be an element id (docs/rules.md 13). */
export const isElementId = (text: string): boolean => elementIdProblem(text) === undefined;
