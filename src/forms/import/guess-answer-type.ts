import type { ElementType } from '#ast/form/elements.ts';
import { isEmail, isUrl } from '#ast/rules/text-formats.ts';

/** The types that a value can prove, the strictest first. A value of a table is at most one of them. */
const proofs: readonly (readonly [ElementType, (value: string) => boolean])[] = [
  ['email', (value) => value.includes('@') && isEmail(value)],
  ['url', isUrl],
  ['yes_no', (value) => /^(?:yes|no|true|false|ja|nein)$/i.test(value)],
  ['datetime', (value) => /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(value)],
  ['date', (value) => /^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})$/.test(value)],
  ['time', (value) => /^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?$/i.test(value)],
  ['number', (value) => /^[+-]?(?:\d+|\d{1,3}(?:[ ,.]\d{3})+)(?:[.,]\d+)?$/.test(value)],
  ['phone', (value) => /^\+?[\d ()./-]{6,25}$/.test(value)],
];

/** A question with this many different values or fewer may be a choice. */
const mostOptions = 12;
const longestOption = 60;

export type GuessedAnswers = { readonly type: ElementType; readonly options?: readonly string[] };

/**
 * Returns the type that the values of a column have, with the options if it is a choice. Undefined if the
 * column has no values.
 * @param guessed the type that the words of the heading suggest; it wins if the values allow it.
 */
export function guessAnswerType(guessed: ElementType, values: readonly string[]): GuessedAnswers | undefined {
  if (values.length === 0) return undefined;
  const proof = proofs.find(([type]) => type === guessed)?.[1];
  if (proof ? values.every(proof) || guessed === 'phone' : guessed !== 'text' && guessed !== 'radio')
    return { type: guessed };
  const proven = proofs.find(([, fits]) => values.every(fits))?.[0];
  if (proven) return { type: proven };
  if (values.some((value) => value.length > 100 || value.includes('\n'))) return { type: 'textarea' };
  const options = [...new Set(values)];
  const repeats = values.length >= options.length * 2 && options.length > 1;
  const isChoice =
    repeats && options.length <= mostOptions && options.every((each) => each.length <= longestOption);
  return isChoice ? { type: 'radio', options } : { type: 'text' };
}
