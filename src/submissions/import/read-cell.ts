import { factOf } from '#ast/fact-of.ts';
import { isDate } from '#ast/rules/text-formats.ts';
import { type InputElement, kindOf, optionsOf, takesSeveralInRow } from '#ast/tree.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { plain } from './mapping.ts';
import type { Cell } from './table.ts';

/** How the file writes days and numbers: `dmy` is 31.1.2026, `mdy` 1/31/2026, `ymd` 2026-1-31. */
export type Writing = { dates: 'ymd' | 'dmy' | 'mdy'; decimal: '.' | ',' };

/** A cell as the answer that a program would send, checked by nobody yet; undefined for a blank one. */
export function readCell(input: InputElement, cell: Cell, writing: Writing): unknown {
  if (typeof cell === 'string' && cell.trim() === '') return undefined;
  return readers[kindOf(input)](input, cell, writing);
}

const readers: Readonly<Record<AnswerKind, (input: InputElement, cell: Cell, writing: Writing) => unknown>> =
  {
    text: (_input, cell) => String(cell),
    moment: ({ type }, cell, { dates }) => readMoment(type, String(cell), dates),
    number: (_input, cell, { decimal }) => readNumber(cell, decimal),
    boolean: (_input, cell) => readFlag(cell),
    consent: (_input, cell) => readFlag(cell),
    choice: (input, cell) => optionOf(input, String(cell)),
    choices: (input, cell) => readChoices(input, String(cell)),
    order: (input, cell) => readChoices(input, String(cell)),
    grid: (input, cell) =>
      takesSeveralInRow(input) ? readChoices(input, String(cell)) : optionOf(input, String(cell)),
    files: () => undefined,
  };

/** Words of the languages that pages speak, and what programs write. */
const yes: readonly string[] = [
  'yes',
  'true',
  '1',
  'y',
  'x',
  'ja',
  'oui',
  'sí',
  'si',
  'sim',
  'نعم',
  'はい',
  '是',
];
const no: readonly string[] = ['no', 'false', '0', 'n', 'nein', 'non', 'não', 'nao', 'لا', 'いいえ', '否'];

function readFlag(cell: Cell): unknown {
  const word = plain(String(cell));
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : cell;
}

/** Between the digits of a number stand such marks before every three of them (in India before every two). */
const numbers: Readonly<Record<Writing['decimal'], RegExp>> = {
  '.': /^[+-]?\s?(?:\d+|\d{1,3}(?:[\s',]\d{2,3})*[\s',]\d{3})(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  ',': /^[+-]?\s?(?:\d+|\d{1,3}(?:[\s'.]\d{2,3})*[\s'.]\d{3})(?:,\d+)?(?:e[+-]?\d+)?$/i,
};

/** What is written otherwise stays, and is refused by the check: `3,14` is not 314. */
function readNumber(cell: Cell, decimal: Writing['decimal']): unknown {
  if (typeof cell === 'number') return cell;
  const text = String(cell).trim();
  if (!numbers[decimal].test(text)) return cell;
  return Number(text.replace(decimal === ',' ? /[\s'.]/g : /[\s',]/g, '').replace(',', '.'));
}

/** An option by its label or its id; what is neither stays as it is, and may be an answer of one's own. */
function optionOf(input: InputElement, text: string): string {
  return optionIds(input).get(plain(text)) ?? text.trim();
}

/** The ids of the options by what they may be called: labels win. Thousands of lines choose from hundreds of options. */
const optionIds = factOf(
  (input: InputElement): ReadonlyMap<string, string> =>
    new Map([
      ...optionsOf(input).map(({ id }) => [plain(id), id] as const),
      ...optionsOf(input).map(({ id, label }) => [plain(label), id] as const),
    ]),
);

/** Between semicolons or line breaks; between commas where that gives options only. */
function readChoices(input: InputElement, text: string): string[] {
  const ids = new Set(optionIds(input).values());
  const whole = optionOf(input, text);
  if (ids.has(whole)) return [whole];
  const split = (separator: RegExp): string[] =>
    text
      .split(separator)
      .filter((part) => part.trim() !== '')
      .map((part) => optionOf(input, part));
  const byComma = split(/[,;\n]/);
  return byComma.every((part) => ids.has(part)) ? byComma : split(/[;\n]/);
}

const pad = (digits: string): string => digits.padStart(2, '0');

/** A day or a time as answers have it; what is neither stays, and is refused by the check. */
function readMoment(type: string, text: string, dates: Writing['dates']): string {
  const [, day = '', time = ''] =
    /^([\d./-]*?)(?:[T ,]*(\d{1,2}:\d{2}.*))?$/.exec(text.trim().slice(0, 100)) ?? [];
  const date = readDay(day, dates);
  const clock = readTime(time);
  if (type === 'time') return clock ?? text;
  if (type === 'date') return date ?? text;
  return date && (clock ?? (time === '' ? '00:00' : undefined)) ? `${date}T${clock ?? '00:00'}` : text;
}

function readDay(text: string, dates: Writing['dates']): string | undefined {
  const parts = text.split(/[./-]/);
  if (parts.length !== 3 || !parts.every((part) => /^\d{1,4}$/.test(part))) return undefined;
  const [a = '', b = '', c = ''] = parts;
  const order = a.length === 4 ? 'ymd' : dates;
  const [year, month, day] = { ymd: [a, b, c], dmy: [c, b, a], mdy: [c, a, b] }[order] as [
    string,
    string,
    string,
  ];
  return `${wholeYear(year)}-${pad(month)}-${pad(day)}`;
}

/** As spreadsheets read two digits: from 30 on they are of the last century. */
const wholeYear = (year: string): string =>
  year.length === 2 ? `${Number(year) < 30 ? '20' : '19'}${year}` : year;

/** One with a zone stays as it is, and is refused: an answer says none, and without it the time would be another. */
function readTime(text: string): string | undefined {
  const found = /^(\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)? ?(am|pm|a\.m\.|p\.m\.)?$/i.exec(text);
  if (!found) return undefined;
  const [, hour = '', minute = '', half] = found;
  const isAfternoon = half?.toLowerCase().startsWith('p');
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0);
  return `${pad(String(hours))}:${minute}`;
}

/** The moment of a submission: with a zone as it says, else in UTC; undefined where it is none, or before there were any. */
export function readInstant(cell: Cell, dates: Writing['dates']): Date | undefined {
  const text = String(cell).trim();
  const zoned = /[T ]\d{2}:\d{2}.*(?:Z|[+-]\d{2}:\d{2})$/.test(text)
    ? text
    : `${readMoment('datetime', text, dates)}Z`;
  // To JavaScript the 31st of February is a day in March.
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(zoned) ?? [];
  if (day !== undefined && !isDate(day)) return undefined;
  const time = new Date(zoned);
  return time.getTime() >= 0 ? time : undefined;
}

/** How the file probably writes its days: in which order they can all be. */
export function guessDates(cells: readonly Cell[]): Writing['dates'] {
  const days = cells.flatMap((cell) => {
    const found = /^(\d{1,2})[./-](\d{1,2})[./-]\d{2,4}\b/.exec(String(cell).trim());
    return found ? [found] : [];
  });
  if (days.length === 0) return 'ymd';
  if (days.some(([, , second]) => Number(second) > 12)) return 'mdy';
  const hasSlash = days.every(([text]) => text.includes('/'));
  return days.some(([, first]) => Number(first) > 12) || !hasSlash ? 'dmy' : 'mdy';
}

/** How it probably writes its numbers. */
export function guessDecimal(cells: readonly Cell[]): Writing['decimal'] {
  const texts = cells.filter((cell) => typeof cell === 'string').map((cell) => cell.trim());
  const hasComma = texts.some((text) => /^[+-]?[\d.]*\d,\d{1,2}$|^[+-]?\d{1,3}(\.\d{3})+,\d+$/.test(text));
  return hasComma && !texts.some((text) => /^[+-]?[\d,]*\d\.\d{1,2}$/.test(text)) ? ',' : '.';
}
