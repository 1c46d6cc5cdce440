import { answerLimits } from './limits.ts';

/** A letter, digit or `_`, then letters with their marks, digits, `_`, `-`, `.` and `:`, of any script (docs/form-language.md). */
export const elementIdSource = String.raw`[\p{L}\p{Nd}_][\p{L}\p{M}\p{Nd}_.:-]{0,${answerLimits.elementId - 1}}`;
const elementId = new RegExp(`^${elementIdSource}$`, 'u');

/** Names of JavaScript objects themselves: libraries of clients stumble over them. */
const objectNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** The names of a form page's own controls, parameters and places: an element of such a name could not be told from them. */
const pageNames: readonly string[] = [
  '_add',
  '_changed',
  '_charset_',
  '_done',
  '_drop',
  '_embed',
  '_entry',
  '_file',
  '_form',
  '_go',
  '_invitation',
  '_key',
  '_known',
  '_lang',
  '_mail',
  '_numbers',
  '_other',
  '_password',
  '_problem',
  '_progress',
  '_proof',
  '_remove',
  '_review',
  '_row',
  '_scheme',
  '_seen',
  '_seen_at',
  '_step',
  '_visit',
  '_website',
];

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

/** Whether a name of an HTML form or an address is the page's own: `_key`, `_other[colour]`. */
export const isPageName = (name: string): boolean =>
  name.startsWith('_') && pageNames.includes(name.split('[', 1)[0]!);
