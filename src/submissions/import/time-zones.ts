import { memoizeByArguments } from '#ast/basics/memoize.ts';

/** A time zone: minutes ahead of UTC, or an IANA name. */
export type TimeZone = { readonly minutes: number } | { readonly name: string };

/** A date and time shown by a clock, in milliseconds as if it were UTC. */
type ClockTime = number;

/** The form's time zone and language, which decide the meaning of a short name such as `EST`. */
export type FormRegion = { readonly timeZone: string; readonly language: string };

/** A moment in milliseconds, or a message that explains why the text has none. */
export type MomentRead = { readonly at: number } | { readonly problem: string };

const minute = 60_000;
const day = 24 * 60 * minute;

/**
 * Unambiguous abbreviations, with their minutes ahead of UTC. `EST`, `IST` and others are missing because
 * they stand for several zones.
 */
const abbreviations: Readonly<Record<string, number>> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  UT: 0,
  WET: 0,
  WEST: 60,
  CET: 60,
  MEZ: 60,
  CEST: 120,
  MESZ: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  JST: 540,
  AEST: 600,
  AEDT: 660,
  NZST: 720,
  NZDT: 780,
  PDT: -420,
};

const offset = /^(?:UTC|GMT|UT)?\s?([+-])(?:(\d{1,2})(?::(\d{2}))?|(\d{2})(\d{2}))$/i;

/** Clocks on Earth are at most 14 hours ahead of UTC and 12 hours behind it. */
const isOffset = (minutes: number): boolean => minutes >= -12 * 60 && minutes <= 14 * 60;

/** Parses a time zone: an offset, an unambiguous abbreviation or an IANA name. */
export function parseTimeZone(text: string): TimeZone | undefined {
  const known = abbreviations[text.toUpperCase()];
  if (known !== undefined) return { minutes: known };
  const found = offset.exec(text);
  if (found) {
    const [, sign, hours = found[4], rest = found[5] ?? '0'] = found;
    const minutes = (Number(hours) * 60 + Number(rest)) * (sign === '-' ? -1 : 1);
    return isOffset(minutes) && Number(rest) < 60 ? { minutes } : undefined;
  }
  return text.includes('/') && isZoneName(text) ? { name: text } : undefined;
}

function isZoneName(name: string): boolean {
  try {
    return formatterOf(name) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const formatterOf = memoizeByArguments(
  (timeZone: string, style: 'longOffset' | 'short' = 'longOffset', locale: string = 'en-US') =>
    new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: style, year: 'numeric' }),
);

const zoneNameAt = (at: number, formatter: Intl.DateTimeFormat): string =>
  formatter.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** Returns the minutes that a zone is ahead of UTC at a moment. */
function minutesAt(name: string, at: number): number {
  const text = zoneNameAt(at, formatterOf(name)).slice('GMT'.length);
  const zone = text === '' ? { minutes: 0 } : parseTimeZone(text);
  return zone && 'minutes' in zone ? zone.minutes : 0;
}

/**
 * Returns the moments at which clocks in a zone show a time: none if it is skipped when they are set forward,
 * two if it is repeated when they are set back.
 */
function momentsIn(name: string, clock: ClockTime): number[] {
  const offsets = new Set([clock - day, clock + day].map((near) => minutesAt(name, near)));
  return [...offsets]
    .map((minutes) => clock - minutes * minute)
    .filter((at) => at + minutesAt(name, at) * minute === clock);
}

/** Returns the moment at which clocks in a zone show a time, or why there is none or more than one. */
export function momentIn(zone: TimeZone, clock: ClockTime): MomentRead {
  if ('minutes' in zone) return { at: clock - zone.minutes * minute };
  const [first, second] = momentsIn(zone.name, clock);
  if (first === undefined)
    return {
      problem: `This time does not exist in ${zone.name}, because the clocks were set forward. Correct it.`,
    };
  if (second !== undefined)
    return {
      problem: `This time occurs twice in ${zone.name}. Write the time zone as an offset such as +01:00.`,
    };
  return { at: first };
}

/** Locales with their own zone abbreviations: `EST` is used in the United States, `IST` in India. */
const namingLocales = ['en-US', 'en-GB', 'en-IN', 'en-AU'] as const;

/** Returns the moment for an abbreviation that the form's own zone uses at that time. */
function momentAtHome(
  name: string,
  clock: ClockTime,
  { timeZone, language }: FormRegion,
): MomentRead | undefined {
  const at = momentsIn(timeZone, clock).find((moment) =>
    [...namingLocales, language].some(
      (locale) => zoneNameAt(moment, formatterOf(timeZone, 'short', locale)) === name,
    ),
  );
  return at === undefined ? undefined : { at };
}

/**
 * Returns the moment of a clock time and the text after it: a zone, optionally repeated in brackets, as in
 * `+01:00[Europe/Berlin]` or `GMT+0100 (Central European Standard Time)`.
 */
export function readZonedMoment(clock: ClockTime, text: string, home: FormRegion): MomentRead {
  const [, first = '', , inSquare, inRound] = /^(.*?)\s*(\[(.*)\]|\((.*)\))?$/.exec(text) ?? [];
  const second = inSquare ?? inRound;
  if (first === '' || second === undefined) return readOneZone(clock, first || (second ?? ''), home);
  const moment = readOneZone(clock, first, home);
  if ('problem' in moment) return moment;
  // JavaScript writes the name of the zone after the offset.
  if (/^(?:[A-Z][\p{L}.]* )+Time$/u.test(second)) return moment;
  const again = readOneZone(clock, second, home);
  if ('problem' in again) return again;
  if (again.at === moment.at) return moment;
  return { problem: `The time zones "${first}" and "${second}" differ. Write only one of them.` };
}

function readOneZone(clock: ClockTime, text: string, home: FormRegion): MomentRead {
  const zone = parseTimeZone(text);
  if (zone) return momentIn(zone, clock);
  const isShortName = /^[A-Z]{2,5}$/.test(text);
  const atHome = isShortName ? momentAtHome(text, clock, home) : undefined;
  if (atHome) return atHome;
  return {
    problem: isShortName
      ? `The time zone "${text}" is ambiguous. Write it as an offset such as +01:00, or set it as the form's time zone.`
      : `The time zone "${text}" is unknown. Write an offset such as +01:00, or a name such as Europe/Berlin.`,
  };
}
