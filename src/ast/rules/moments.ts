import { isDate, isDateTime, isTime } from './text-formats.ts';

/** The inputs whose answers are a place in time, as text that sorts like the time it names. */
export type MomentFormat = 'date' | 'datetime' | 'time';

const isOfFormat: Readonly<Record<MomentFormat, (text: string) => boolean>> = {
  date: isDate,
  datetime: isDateTime,
  time: isTime,
};

const relative = /^today(?:([+-]\d{1,5}))?$/;

/** Whether the text is a limit for answers of the format: a moment, or for days also `today`, `today+30`. */
export function isMoment(format: MomentFormat, text: string): boolean {
  return isOfFormat[format](text) || (format !== 'time' && relative.test(text));
}

/**
 * Puts an answer and a moment of an author (`today-18`, `2026-01-31`) beside each other: both as text that sorts.
 * A day limits a date and time by its day: until `today` means until the end of it.
 * @param today YYYY-MM-DD in the form's time zone.
 */
export function alignMoments(answer: string, moment: string, today: string): [answer: string, limit: string] {
  const [isRelative, days] = relative.exec(moment) ?? [];
  if (isRelative === undefined) return [answer, moment];
  const limit = addDays(today, Number(days ?? 0));
  return [answer.slice(0, limit.length), limit];
}

/** The day so many days later. */
export function addDays(day: string, days: number): string {
  const time = Date.parse(`${day}T00:00:00Z`) + days * 86_400_000;
  return new Date(time).toISOString().slice(0, 10);
}

// A formatter costs a hundred times what it formats.
const examples = new Map<string, string>();

/**
 * The moment of the examples in our sentences as people write it: what a browser's own control of that type shows.
 * @param language the browser's own when it is left out.
 */
export function exampleOf(format: MomentFormat | 'datetime-local', language?: string): string {
  const name = `${format} ${language}`;
  const known = examples.get(name);
  if (known !== undefined) return known;
  const day = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  const made = new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    calendar: 'gregory',
    numberingSystem: 'latn',
    ...(format !== 'time' && day),
    ...(format !== 'date' && time),
  }).format(Date.UTC(2026, 0, 31, 14, 30));
  examples.set(name, made);
  return made;
}

/** A moment of an answer for a person, as their language writes it: `November 22, 2026`, or a time, or both. */
export function sayMoment(text: string, language: string): string {
  const hasDay = text.length >= 10;
  return new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    calendar: 'gregory',
    numberingSystem: 'latn',
    ...(hasDay && { dateStyle: 'long' as const }),
    ...(text.length !== 10 && { timeStyle: 'short' as const }),
  }).format(new Date(hasDay ? `${text}${text.length === 10 ? 'T00:00' : ''}Z` : `2026-01-01T${text}Z`));
}
