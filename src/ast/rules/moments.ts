import { memoizeByArguments } from '../basics/memoize.ts';
import { isDate, isDateTime, isTime } from './text-formats.ts';

/** The formats of date and time answers. As text, these answers sort chronologically. */
export type MomentFormat = 'date' | 'datetime' | 'time';

const isOfFormat: Readonly<Record<MomentFormat, (text: string) => boolean>> = {
  date: isDate,
  datetime: isDateTime,
  time: isTime,
};

const relative = /^today(?:([+-]\d{1,5}))?$/;

/** Returns whether the text is a valid limit: a date or time, or, for days, `today` or `today+30`. */
export function isMomentLimit(format: MomentFormat, text: string): boolean {
  return isOfFormat[format](text) || (format !== 'time' && relative.test(text));
}

/**
 * Converts an answer and an author's limit (`today-18`, `2026-01-31`) to strings that can be compared. If the
 * limit is a day and the answer has a time, the day counts to its end: until `today` means until the end of
 * today.
 * @param today YYYY-MM-DD in the form's time zone.
 */
export function toComparableMoments(
  answer: string,
  moment: string,
  today: string,
): [answer: string, limit: string] {
  const [isRelative, days] = relative.exec(moment) ?? [];
  if (isRelative === undefined) return [answer, moment];
  const limit = addDays(today, Number(days ?? 0));
  return [answer.slice(0, limit.length), limit];
}

/** Returns the day that is the given number of days after `day`. */
export function addDays(day: string, days: number): string {
  const time = Date.parse(`${day}T00:00:00Z`) + days * 86_400_000;
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Formats the example date or time that messages show, as a browser's control displays it.
 * @param language by default the language of the browser.
 */
export const formatExampleMoment = memoizeByArguments(
  (format: MomentFormat | 'datetime-local', language?: string): string => {
    const day = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    const time = { hour: '2-digit', minute: '2-digit' } as const;
    return new Intl.DateTimeFormat(language, {
      timeZone: 'UTC',
      calendar: 'gregory',
      numberingSystem: 'latn',
      ...(format !== 'time' && day),
      ...(format !== 'date' && time),
    }).format(Date.UTC(2026, 0, 31, 14, 30));
  },
);

/** Formats a date, a time or both for a person in their language: `November 22, 2026`. */
export function formatMoment(text: string, language: string): string {
  const hasDay = text.length >= 10;
  return new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    calendar: 'gregory',
    numberingSystem: 'latn',
    ...(hasDay && { dateStyle: 'long' as const }),
    ...(text.length !== 10 && { timeStyle: 'short' as const }),
  }).format(new Date(hasDay ? `${text}${text.length === 10 ? 'T00:00' : ''}Z` : `2026-01-01T${text}Z`));
}

const pattern =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:(Z)|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Returns an RFC 3339 timestamp in UTC, as it is stored: `2026-01-31T15:30:00+01:00` becomes
 * `2026-01-31T14:30:00.000Z`. A UTC timestamp stays as written. Undefined for invalid timestamps, such as
 * February 30 or a leap second, and for years outside 1 to 9999 in UTC.
 */
export function toUtcTimestamp(text: string): string | undefined {
  const [, day, isUtc] = pattern.exec(text) ?? [];
  if (day === undefined || !isDate(day)) return undefined;
  if (isUtc) return text.toUpperCase();
  const moment = new Date(text.toUpperCase()).toISOString();
  return isDate(moment.slice(0, 10)) ? moment : undefined;
}
