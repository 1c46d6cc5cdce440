import { getProperty, isRecord } from '../basics/json.ts';
import { otherChoice } from '../basics/options.ts';
import { isBlank } from '../basics/text.ts';
import { inputRules } from '../form/input-rules.ts';
import { type InputElement, inputOptionsById, matrixRowsOf } from '../form/tree.ts';
import { formatMoment } from '../rules/moments.ts';
import { formatNumber } from '../rules/written-numbers.ts';
import type { InputRules } from '../types/rules.ts';

/** How answers are formatted for people. */
export type AnswerFormat = {
  /** The BCP 47 tag of the reader's language. */
  readonly language: string;
  readonly numberLocale: string;
  readonly words: { readonly yes: string; readonly no: string };
};

/**
 * Formats a sent or stored answer for people, on the page and in emails: dates and numbers in the reader's
 * language, options by label. Returns one string for each choice or matrix row, and none for a blank answer.
 */
export function formatAnswerParts(input: InputElement, value: unknown, format: AnswerFormat): string[] {
  const rows = formatMatrixRows(input, value, format);
  return rows?.map(([label, answer]) => `${label}: ${answer}`) ?? partsOf(input, value, format);
}

/** Formats the answer of a matrix as label and answer of each answered row; undefined for other answers. */
export function formatMatrixRows(
  input: InputElement,
  value: unknown,
  format: AnswerFormat,
): [label: string, answer: string][] | undefined {
  if (inputRules[input.type].kind !== 'grid' || !isRecord(value)) return undefined;
  return matrixRowsOf(input).flatMap(({ id, label }): [string, string][] => {
    const parts = partsOf(input, getProperty(value, id), format);
    return parts.length === 0 ? [] : [[label, parts.join(', ')]];
  });
}

function partsOf(input: InputElement, value: unknown, format: AnswerFormat): string[] {
  const { type, attrs } = input;
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const rule = inputRules[type] as InputRules<InputElement['attrs']>;
  const formatPart = (one: unknown): string => {
    if (rule.kind === 'consent') return format.words.yes;
    if (typeof one === 'boolean') return format.words[one ? 'yes' : 'no'];
    if (typeof one === 'number')
      return rule.formatNumber?.(attrs, one, format.numberLocale) ?? formatNumber(one, format.numberLocale);
    const text = inputOptionsById(input).get(one)?.label ?? String(one);
    return rule.kind === 'moment' && rule.format?.accepts(text) ? formatMoment(text, format.language) : text;
  };
  return [value].flat().flatMap((one) => (isBlank(one) || one === otherChoice ? [] : [formatPart(one)]));
}
