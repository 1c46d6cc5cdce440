import { isDate } from '#ast/rules/text-formats.ts';
import { type Home, type MomentRead, readZonedMoment } from './time-zones.ts';

/** The order in which a column writes days: `dmy` is 31.1.2026, `mdy` 1/31/2026, `ymd` 2026-1-31. */
export type DateOrder = 'ymd' | 'dmy' | 'mdy';

/** The parts of a text that names a day, a time or both: the whole text, with nothing left over. */
export type MomentParts = {
  /** `YYYY-MM-DD`. */
  readonly date?: string;
  /** Milliseconds since midnight. */
  readonly time?: number;
  /** What follows the time: a time zone, not read yet. */
  readonly zone?: string;
};

type PartsRead = MomentParts | { readonly problem: string };

/** A longer text names no moment. */
const longest = 100;

/** Returns a text with plain spaces and digits, and without marks that do not show. */
export const plainCharacters = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .replaceAll('−', '-')
    .replaceAll(/\s+/g, ' ')
    .trim();

/* The times that are read: `14:01`, `14:01:33.250`, `2:01 PM`, `2:01 p. m.`, `午後2:01`. */
const half = String.raw`a\.? ?m\b\.?|p\.? ?m\b\.?|午前|午後|上午|下午|ص|م`;
const times = new RegExp(
  String.raw`(?:(${half}) ?)?(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?![\d:])(?: ?(${half}))?(?: Uhr)?`,
  'iu',
);
const isAfternoon = (text: string): boolean => /^(?:p|午後|下午|م)/i.test(text);

/* The days that are read, with the name of a month as `<11>`, and how the found parts are ordered. */
const dayFormats: readonly (readonly [RegExp, DateOrder | undefined])[] = [
  [/^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/, 'ymd'],
  [/^(\d{4})()(\d{2})(\d{2})$/, 'ymd'],
  [/^(\d{4})()年(\d{1,2})月(\d{1,2})日$/, 'ymd'],
  [/^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/, undefined],
  [/^(\d{1,2})([-/. ])<(\d+)>\2(\d{4}|\d{2})$/, 'dmy'],
  [/^(\d{4})([-/ ])<(\d+)>\2(\d{1,2})$/, 'ymd'],
  [/^<(\d+)>() (\d{1,2}) (\d{4})$/, 'mdy'],
];

/** Returns the day, the time and the zone that a text names, or which part of it is not understood. */
export function readMomentParts(cell: string, order: DateOrder, language: string): PartsRead {
  if (cell.length > longest) return { problem: 'This is too long for a day or a time.' };
  const text = plainCharacters(cell).replace(/^(\d{8})T(\d{2})(\d{2})(\d{2})/, '$1T$2:$3:$4');
  const found = times.exec(text);
  if (!found) return readDay(text, order, language, cell);
  const time = readTime(found);
  if (time === undefined) return { problem: `"${found[0].trim()}" is not a time.` };
  const before = text.slice(0, found.index).replace(/(?:(?<=\d)T|(?:^| )(?:at|um|à|a las|às)|[ ,])+$/iu, '');
  const after = text.slice(found.index + found[0].length).trim();
  if (before === '') return readTimeFirst(time, after, order, language, cell);
  // `Fri Nov 20 14:01:33 CET 2026`: the year comes last.
  const [, zone, year] = /\d{4}/.test(before) ? [] : (/^(.*?)\s?(\d{4})$/.exec(after) ?? []);
  const day = readDay(year === undefined ? before : `${before} ${year}`, order, language, cell);
  return 'problem' in day ? day : { ...day, time, ...zonePart(zone ?? after) };
}

const zonePart = (zone: string): Pick<MomentParts, 'zone'> => (zone === '' ? {} : { zone });

/** `14:01 20 November 2026`, or a time alone, with or without a zone. */
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

/** Milliseconds since midnight; undefined for what no clock shows. */
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
    if (!isDate(date)) return { problem: `There is no such day as "${text}".` };
    const actual = new Date(`${date}T00:00Z`).getUTCDay();
    return weekday === undefined || weekday === actual
      ? { date }
      : { problem: `"${text}" is not the weekday that it says: it is a ${englishDays[actual]}.` };
  }
  return { problem: `"${cell.trim().slice(0, longest)}" is not a day or a time that can be read.` };
}

/** As spreadsheets read two digits: from 30 on they are of the last century. */
const wholeYear = (year: string): string =>
  year.length === 2 ? `${Number(year) < 30 ? '20' : '19'}${year}` : year;

const englishDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

type Names = { readonly months: ReadonlyMap<string, number>; readonly weekdays: ReadonlyMap<string, number> };
const namesByLanguage = new Map<string, Names>();

/** The names of months and weekdays in English and in a language, long and short. */
function namesIn(language: string): Names {
  const known = namesByLanguage.get(language);
  if (known) return known;
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
  const made = {
    // With a day beside it, as some languages write a month otherwise by itself.
    months: new Map([
      ...names(12, { month: 'long', day: 'numeric' }, (month) => new Date(Date.UTC(2026, month, 15))),
      ...names(12, { month: 'long' }, (month) => new Date(Date.UTC(2026, month, 15))),
      ['sept', 8] as const,
    ]),
    weekdays: new Map(names(7, { weekday: 'long' }, (weekday) => new Date(Date.UTC(2026, 1, 1 + weekday)))),
  };
  namesByLanguage.set(language, made);
  return made;
}

const mapped = (
  options: Intl.DateTimeFormatOptions,
  length: 'long' | 'short',
): Intl.DateTimeFormatOptions => ({
  ...options,
  ...(options.month && { month: length }),
  ...(options.weekday && { weekday: length }),
});

const nameKey = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** A text without the weekday that it begins with, or has in brackets, and which one that is. */
function withoutWeekday(text: string, language: string): { weekday?: number | undefined; rest: string } {
  const found = /^(\p{L}+)\.?(?:, ?| )(.*)$/u.exec(text);
  const [name, rest] = found ? [found[1]!, found[2]!] : [];
  const inBrackets = /^(.*?) ?\((\p{L}+)\)$/u.exec(text);
  const weekdays = namesIn(language).weekdays;
  const [weekday, bracketed] = [name, inBrackets?.[2]].map((each) => weekdays.get(nameKey(each ?? '')));
  if (weekday !== undefined) return { weekday, rest: rest! };
  return bracketed === undefined ? { rest: text } : { weekday: bracketed, rest: inBrackets![1]! };
}

/** `November 20th, 2026` as `<11> 20 2026`, `20 de noviembre de 2026` as `20 <11> 2026`. */
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

/** A number of days since 1899-12-30, as spreadsheets keep a day, and the time of the day as its fraction. */
export function readSerial(cell: string | number): MomentParts | undefined {
  const text = String(cell).replace(',', '.');
  const isDays = /^\d{5}(?:\.\d+)?$/.test(text) || (typeof cell === 'number' && cell >= 61 && cell < 1e5);
  if (!isDays && !/^0?\.\d+(?:e-\d+)?$/.test(text)) return undefined;
  const [, fraction = ''] = text.split('.');
  // A cell that was cut to 5 decimals is up to 0.43 s away from the time that was meant.
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
 * Returns the moment that a cell names: in its own zone, else in the one that its heading names, else in UTC.
 * @param heading the zone of the heading, as it is written there.
 */
export function readInstant(
  cell: string | number | boolean,
  { order, home, heading }: { order: DateOrder; home: Home; heading?: string | undefined },
): MomentRead {
  const parts =
    (typeof cell === 'boolean' ? undefined : readSerial(cell)) ??
    readMomentParts(String(cell), order, home.language);
  if ('problem' in parts) return parts;
  const { date, time = 0, zone = heading ?? 'UTC' } = parts;
  if (date === undefined) return { problem: `"${String(cell)}" does not name a day.` };
  return readZonedMoment(Date.parse(`${date}T00:00Z`) + time, zone, home);
}

/** Returns the zone that a heading names in brackets at its end: `Submit Date (UTC)`. */
export function zoneOfHeading(title: string): string | undefined {
  const [, text] = /\(([^()]+)\)$/.exec(title.trim()) ?? [];
  if (text === undefined) return undefined;
  return /^(?:[A-Z]{2,5}|(?:UTC|GMT)? ?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z_]+(?:\/[A-Za-z_]+)+)$/.test(text)
    ? text
    : undefined;
}

const minuteMs = 60_000;
/** Days that spreadsheets put before a time that has none. */
const emptyDays: readonly string[] = ['1899-12-30', '1899-12-31'];

/** Returns a cell as the answer of a `date`, `time` or `datetime` question, or which part of it the question cannot hold. */
export function readMomentAnswer(
  type: 'date' | 'time' | 'datetime',
  cell: string | number | boolean,
  order: DateOrder,
  language: string,
): { value: string } | { problem: string } {
  const parts =
    (typeof cell === 'boolean' ? undefined : readSerial(cell)) ??
    readMomentParts(String(cell), order, language);
  if ('problem' in parts) return parts;
  const { date, time, zone } = parts;
  if (zone !== undefined)
    return { problem: `The answer has no time zone, and "${zone}" in the cell would be lost. Remove it.` };
  if (type !== 'time' && date === undefined) return { problem: 'The cell does not name a day.' };
  if (type === 'time' && date !== undefined && !emptyDays.includes(date))
    return {
      problem: 'The answer is a time without a day, and the day in the cell would be lost. Remove it.',
    };
  if (type === 'date') {
    if (!time) return { value: date! };
    return {
      problem: 'The answer is a day without a time of day, and the one in the cell would be lost. Remove it.',
    };
  }
  if (time === undefined) return { problem: 'The cell does not name a time of day.' };
  if (time % minuteMs !== 0)
    return {
      problem: 'The answer has hours and minutes, and the seconds in the cell would be lost. Remove them.',
    };
  const clock = new Date(time).toISOString().slice(11, 16);
  return { value: type === 'time' ? clock : `${date}T${clock}` };
}
