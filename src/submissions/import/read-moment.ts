import { memoizeByArguments } from '#ast/basics/memoize.ts';
import { isDate } from '#ast/rules/text-formats.ts';
import { type FormRegion, type MomentRead, readZonedMoment } from './time-zones.ts';

/** The date order of a column: `dmy` is 31.1.2026, `mdy` 1/31/2026, `ymd` 2026-1-31. */
export type DateOrder = 'ymd' | 'dmy' | 'mdy';

/** The parts of a text that is a date, a time or both, with no other text. */
export type MomentParts = {
  /** `YYYY-MM-DD`. */
  readonly date?: string;
  /** Milliseconds since midnight. */
  readonly time?: number;
  /** The text after the time: a time zone, not parsed yet. */
  readonly zone?: string;
};

type PartsRead = MomentParts | { readonly problem: string };

/** The maximum length; a longer text is not a date or time. */
const longest = 100;

/** Returns a text with plain spaces and digits, without invisible characters. */
export const plainCharacters = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .replaceAll('−', '-')
    .replaceAll(/\s+/g, ' ')
    .trim();

/* The supported times: `14:01`, `14:01:33.250`, `2:01 PM`, `2:01 p. m.`, `午後2:01`. */
const half = String.raw`a\.? ?m\b\.?|p\.? ?m\b\.?|午前|午後|上午|下午|ص|م`;
const times = new RegExp(
  String.raw`(?:(${half}) ?)?(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?![\d:])(?: ?(${half}))?(?: Uhr)?`,
  'iu',
);
const isAfternoon = (text: string): boolean => /^(?:p|午後|下午|م)/i.test(text);

/* The supported dates and the order of their parts. A month name has become its number: `<11>`. */
const dayFormats: readonly (readonly [RegExp, DateOrder | undefined])[] = [
  [/^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/, 'ymd'],
  [/^(\d{4})()(\d{2})(\d{2})$/, 'ymd'],
  [/^(\d{4})()年(\d{1,2})月(\d{1,2})日$/, 'ymd'],
  [/^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/, undefined],
  [/^(\d{1,2})([-/. ])<(\d+)>\2(\d{4}|\d{2})$/, 'dmy'],
  [/^(\d{4})([-/ ])<(\d+)>\2(\d{1,2})$/, 'ymd'],
  [/^<(\d+)>() (\d{1,2}) (\d{4})$/, 'mdy'],
];

/** Returns the date, time and zone of a text, or a message about the part that cannot be parsed. */
export function readMomentParts(cell: string, order: DateOrder, language: string): PartsRead {
  if (cell.length > longest) return { problem: 'This is too long for a date or time.' };
  const text = plainCharacters(cell).replace(/^(\d{8})T(\d{2})(\d{2})(\d{2})/, '$1T$2:$3:$4');
  const found = times.exec(text);
  if (!found) return readDay(text, order, language, cell);
  const time = readTime(found);
  if (time === undefined) return { problem: `"${found[0].trim()}" is not a valid time.` };
  const before = text.slice(0, found.index).replace(/(?:(?<=\d)T|(?:^| )(?:at|um|à|a las|às)|[ ,])+$/iu, '');
  const after = text.slice(found.index + found[0].length).trim();
  if (before === '') return readTimeFirst(time, after, order, language, cell);
  // `Fri Nov 20 14:01:33 CET 2026`: the year is last.
  const [, zone, year] = /\d{4}/.test(before) ? [] : (/^(.*?)\s?(\d{4})$/.exec(after) ?? []);
  const day = readDay(year === undefined ? before : `${before} ${year}`, order, language, cell);
  return 'problem' in day ? day : { ...day, time, ...zonePart(zone ?? after) };
}

const zonePart = (zone: string): Pick<MomentParts, 'zone'> => (zone === '' ? {} : { zone });

/** Reads `14:01 20 November 2026`, or a time alone, with or without a zone. */
function readTimeFirst(
  time: number,
  after: string,
  order: DateOrder,
  language: string,
  cell: string,
): PartsRead {
  if (after === '') return { time };
  const day = readDay(after.replace(/^[ ,]+|^on /, ''), order, language, cell);
  return 'problem' in day ? { time, zone: after } : { ...day, time };
}

/** Returns the milliseconds since midnight; undefined for an invalid time. */
function readTime(found: RegExpExecArray): number | undefined {
  const [, before, hour = '', minutes = '', seconds = '0', fraction = '', after] = found;
  const noon = before ?? after;
  const isFit = noon === undefined ? Number(hour) < 24 : Number(hour) >= 1 && Number(hour) <= 12;
  if (!isFit || (before && after) || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const hours = noon === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon(noon) ? 12 : 0);
  return (
    ((hours * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 +
    Number(fraction.padEnd(3, '0').slice(0, 3))
  );
}

function readDay(text: string, order: DateOrder, language: string, cell: string): PartsRead {
  const { weekday, rest } = withoutWeekday(text, language);
  const plain = withMonthNumber(rest, language);
  for (const [format, itsOrder = order] of dayFormats) {
    const found = format.exec(plain);
    if (!found) continue;
    const [, a = '', , b = '', c = ''] = found;
    const [year, month, day] = ({ ymd: [a, b, c], dmy: [c, b, a], mdy: [c, a, b] } as const)[itsOrder];
    const date = `${wholeYear(year)}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    if (!isDate(date)) return { problem: `"${text}" is not a valid date.` };
    const actual = new Date(`${date}T00:00Z`).getUTCDay();
    return weekday === undefined || weekday === actual
      ? { date }
      : { problem: `"${text}" has the wrong weekday: this date is a ${englishDays[actual]}.` };
  }
  return { problem: `"${cell.trim().slice(0, longest)}" cannot be read as a date or time.` };
}

/** Completes a two-digit year as spreadsheets do: years from 30 on are in the last century. */
const wholeYear = (year: string): string =>
  year.length === 2 ? `${Number(year) < 30 ? '20' : '19'}${year}` : year;

const englishDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

type Names = { readonly months: ReadonlyMap<string, number>; readonly weekdays: ReadonlyMap<string, number> };

/** Returns the long and short names of months and weekdays, in English and in another language. */
const namesIn = memoizeByArguments((language: string): Names => {
  const names = (count: number, options: Intl.DateTimeFormatOptions, momentOf: (index: number) => Date) =>
    ['en', language].flatMap((tag) =>
      (['long', 'short'] as const).flatMap((length) =>
        Array.from({ length: count }, (_, index): [string, number] => {
          const format = new Intl.DateTimeFormat(tag, { ...mapped(options, length), timeZone: 'UTC' });
          const part = format.formatToParts(momentOf(index)).find(({ type }) => type in options);
          return [nameKey(part?.value ?? ''), index];
        }),
      ),
    );
  return {
    // Formatted together with a day, because some languages write a month differently without one.
    months: new Map([
      ...names(12, { month: 'long', day: 'numeric' }, (month) => new Date(Date.UTC(2026, month, 15))),
      ...names(12, { month: 'long' }, (month) => new Date(Date.UTC(2026, month, 15))),
      ['sept', 8] as const,
    ]),
    weekdays: new Map(names(7, { weekday: 'long' }, (weekday) => new Date(Date.UTC(2026, 1, 1 + weekday)))),
  };
});

const mapped = (
  options: Intl.DateTimeFormatOptions,
  length: 'long' | 'short',
): Intl.DateTimeFormatOptions => ({
  ...options,
  ...(options.month && { month: length }),
  ...(options.weekday && { weekday: length }),
});

const nameKey = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** Removes a weekday from the start of a text, or in brackets from its end, and returns it. */
function withoutWeekday(text: string, language: string): { weekday?: number | undefined; rest: string } {
  const found = /^(\p{L}+)\.?(?:, ?| )(.*)$/u.exec(text);
  const [name, rest] = found ? [found[1]!, found[2]!] : [];
  const inBrackets = /^(.*?) ?\((\p{L}+)\)$/u.exec(text);
  const weekdays = namesIn(language).weekdays;
  const [weekday, bracketed] = [name, inBrackets?.[2]].map((each) => weekdays.get(nameKey(each ?? '')));
  if (weekday !== undefined) return { weekday, rest: rest! };
  return bracketed === undefined ? { rest: text } : { weekday: bracketed, rest: inBrackets![1]! };
}

/**
 * Replaces the name of a month with its number: `November 20th, 2026` becomes `<11> 20 2026`, `20 de
 * noviembre de 2026` becomes `20 <11> 2026`.
 */
function withMonthNumber(text: string, language: string): string {
  const { months } = namesIn(language);
  let isNamed = false;
  const named = text.replaceAll(/\p{L}{3,}\.?/gu, (word) => {
    const month = months.get(nameKey(word));
    if (month === undefined || isNamed) return word;
    isNamed = true;
    return `<${month + 1}>`;
  });
  if (!isNamed) return text;
  return named
    .replaceAll(/(?<=\d)(?:st|nd|rd|th|er|º|\.)(?=[ ,])/gi, '')
    .replace(/^(?:le|el|den) /i, '')
    .replaceAll(/ (?:de|of|del) /gi, ' ')
    .replaceAll(/, ?/g, ' ');
}

/** Reads the date format of spreadsheets: days since 1899-12-30, with the time as a fraction. */
export function parseSpreadsheetDate(cell: string | number): MomentParts | undefined {
  const text = String(cell).replace(',', '.');
  const isDays = /^\d{5}(?:\.\d+)?$/.test(text) || (typeof cell === 'number' && cell >= 61 && cell < 1e5);
  if (!isDays && !/^0?\.\d+(?:e-\d+)?$/.test(text)) return undefined;
  const [, fraction = ''] = text.split('.');
  // A serial with 5 decimals can be off by up to 0.43 s.
  const tolerance = Math.max(0.5, 43_200_000 / 10 ** fraction.length);
  const exact = Number(text) * 86_400_000;
  const unit =
    [60_000, 1_000].find((each) => Math.abs(exact - Math.round(exact / each) * each) <= tolerance) ?? 1;
  const rounded = Math.round(exact / unit) * unit;
  if (!isDays) return { time: rounded };
  const date = new Date(Date.UTC(1899, 11, 30) + rounded).toISOString().slice(0, 10);
  return { date, ...(fraction !== '' && { time: rounded % 86_400_000 }) };
}

/**
 * Returns the moment of a cell, in its own time zone, or else in the zone of its heading, or else in UTC.
 * @param heading the zone as written in the heading.
 */
export function readInstant(
  cell: string | number | boolean,
  { order, home, heading }: { order: DateOrder; home: FormRegion; heading?: string | undefined },
): MomentRead {
  const parts =
    (typeof cell === 'boolean' ? undefined : parseSpreadsheetDate(cell)) ??
    readMomentParts(String(cell), order, home.language);
  if ('problem' in parts) return parts;
  const { date, time = 0, zone = heading ?? 'UTC' } = parts;
  if (date === undefined) return { problem: `"${String(cell)}" does not contain a date.` };
  return readZonedMoment(Date.parse(`${date}T00:00Z`) + time, zone, home);
}

/** Returns the zone in brackets at the end of a heading: `Submit Date (UTC)`. */
export function zoneOfHeading(title: string): string | undefined {
  const [, text] = /\(([^()]+)\)$/.exec(title.trim()) ?? [];
  if (text === undefined) return undefined;
  return /^(?:[A-Z]{2,5}|(?:UTC|GMT)? ?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z_]+(?:\/[A-Za-z_]+)+)$/.test(text)
    ? text
    : undefined;
}

const minuteMs = 60_000;
/** The dates that spreadsheets add to a time without a date. */
const emptyDays: readonly string[] = ['1899-12-30', '1899-12-31'];

/**
 * Returns a cell as the answer of a `date`, `time` or `datetime` question, or a message about the part that
 * the question cannot store.
 */
export function readMomentAnswer(
  type: 'date' | 'time' | 'datetime',
  cell: string | number | boolean,
  order: DateOrder,
  language: string,
): { value: string } | { problem: string } {
  const parts =
    (typeof cell === 'boolean' ? undefined : parseSpreadsheetDate(cell)) ??
    readMomentParts(String(cell), order, language);
  if ('problem' in parts) return parts;
  const { date, time, zone } = parts;
  if (zone !== undefined)
    return {
      problem: `This question does not store a time zone, so "${zone}" in the cell would be lost. Remove it.`,
    };
  if (type !== 'time' && date === undefined) return { problem: 'The cell does not contain a date.' };
  if (type === 'time' && date !== undefined && !emptyDays.includes(date))
    return {
      problem:
        'This question stores a time without a date, so the date in the cell would be lost. Remove it.',
    };
  if (type === 'date') {
    if (!time) return { value: date! };
    return {
      problem:
        'This question stores a date without a time, so the time in the cell would be lost. Remove it.',
    };
  }
  if (time === undefined) return { problem: 'The cell does not contain a time.' };
  if (time % minuteMs !== 0)
    return {
      problem:
        'This question stores only hours and minutes, so the seconds in the cell would be lost. Remove them.',
    };
  const clock = new Date(time).toISOString().slice(11, 16);
  return { value: type === 'time' ? clock : `${date}T${clock}` };
}
