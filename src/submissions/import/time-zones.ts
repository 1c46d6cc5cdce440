/** A time zone: minutes ahead of UTC, or the name of a zone of the IANA database. */
export type TimeZone = { readonly minutes: number } | { readonly name: string };

/** A day and a time on a clock, in milliseconds as if the clock showed UTC. */
type ClockTime = number;

/** The form's own zone and language, which tell what a short name such as `EST` means. */
export type Home = { readonly timeZone: string; readonly language: string };

/** A moment in milliseconds, or the sentence that says why the text names none. */
export type MomentRead = { readonly at: number } | { readonly problem: string };

const minute = 60_000;
const day = 24 * 60 * minute;

/** Short names with one meaning, and their minutes ahead of UTC. `EST`, `IST` and the like name several zones. */
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

/** Returns the zone that a text names by an offset, a short name with one meaning or an IANA name. */
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

/** A formatter costs a hundred times what it formats, and a file has 10,000 lines. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string, style: 'longOffset' | 'short' = 'longOffset', locale = 'en-US') {
  const key = `${timeZone} ${style} ${locale}`;
  const made =
    formatters.get(key) ??
    new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: style, year: 'numeric' });
  formatters.set(key, made);
  return made;
}

const zoneNameAt = (at: number, formatter: Intl.DateTimeFormat): string =>
  formatter.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** Minutes that the clocks of a zone are ahead of UTC at a moment. */
function minutesAt(name: string, at: number): number {
  const text = zoneNameAt(at, formatterOf(name)).slice('GMT'.length);
  const zone = text === '' ? { minutes: 0 } : parseTimeZone(text);
  return zone && 'minutes' in zone ? zone.minutes : 0;
}

/** The moments at which the clocks of a zone show a time: none where they are set forward, two where they are set back. */
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
    return { problem: `There is no such time in ${zone.name}: the clocks were set forward.` };
  if (second !== undefined)
    return {
      problem: `In ${zone.name} the clocks showed this time twice. Write the time zone as an offset such as +01:00.`,
    };
  return { at: first };
}

/** Languages in which people write short names of zones; `EST` is one in the United States, `IST` in India. */
const namingLocales = ['en-US', 'en-GB', 'en-IN', 'en-AU'] as const;

/** Returns the moment for a short name that the form's own zone has at that time. */
function momentAtHome(name: string, clock: ClockTime, { timeZone, language }: Home): MomentRead | undefined {
  const at = momentsIn(timeZone, clock).find((moment) =>
    [...namingLocales, language].some(
      (locale) => zoneNameAt(moment, formatterOf(timeZone, 'short', locale)) === name,
    ),
  );
  return at === undefined ? undefined : { at };
}

/**
 * Returns the moment that a clock time and the text after it name: a zone, and perhaps its name again in brackets, as
 * `+01:00[Europe/Berlin]` or `GMT+0100 (Central European Standard Time)`.
 */
export function readZonedMoment(clock: ClockTime, text: string, home: Home): MomentRead {
  const [, first = '', , inSquare, inRound] = /^(.*?)\s*(\[(.*)\]|\((.*)\))?$/.exec(text) ?? [];
  const second = inSquare ?? inRound;
  if (first === '' || second === undefined) return readOneZone(clock, first || (second ?? ''), home);
  const moment = readOneZone(clock, first, home);
  if ('problem' in moment) return moment;
  // What JavaScript writes after an offset: the same zone in words.
  if (/^(?:[A-Z][\p{L}.]* )+Time$/u.test(second)) return moment;
  const again = readOneZone(clock, second, home);
  if ('problem' in again) return again;
  if (again.at === moment.at) return moment;
  return { problem: `The time zones "${first}" and "${second}" do not agree.` };
}

function readOneZone(clock: ClockTime, text: string, home: Home): MomentRead {
  const zone = parseTimeZone(text);
  if (zone) return momentIn(zone, clock);
  const isShortName = /^[A-Z]{2,5}$/.test(text);
  const atHome = isShortName ? momentAtHome(text, clock, home) : undefined;
  if (atHome) return atHome;
  return {
    problem: isShortName
      ? `The time zone "${text}" can mean several. Write it as an offset such as +01:00, or set the form's time zone to the one that is meant.`
      : `The time zone "${text}" is not known. Write it as an offset such as +01:00, or by a name such as Europe/Berlin.`,
  };
}
