/** How one kind of text answer is tidied and checked. `remedy` completes the sentence "<label>: ...". */
export type TextFormat = {
  readonly tidy: (text: string) => string;
  readonly accepts: (text: string) => boolean;
  readonly remedy: string;
};

const trim = (text: string) => text.trim();
const asTyped = (text: string) => text;

// The HTML standard's own expression, so that server and browser agree. Its repeats are bounded by the
// 63 characters of a DNS label, so the time is linear in the text.
const emailPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** An email address by the HTML standard, of at most 254 characters (RFC 5321). */
export function isEmail(text: string): boolean {
  return text.length <= 254 && emailPattern.test(text);
}

/** A web address: `http` or `https`, without white space. */
export function isUrl(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** 3 to 20 digits, with spaces and `( ) - .` between them and perhaps a `+` first. */
export function isPhone(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  return text.length <= 40 && digits >= 3 && digits <= 20 && /^\+?[0-9() .-]+$/.test(text);
}

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** A day of the calendar, `YYYY-MM-DD`, from the year 0001: 2026-02-30 is none. */
export function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (!year || !month || !day) return false;
  return month <= 12 && day <= daysInMonth(year, month);
}

/** A time of day, `HH:MM`. */
export function isTime(text: string): boolean {
  return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

/** A day and time without zone, `YYYY-MM-DDTHH:MM`. */
export function isDateTime(text: string): boolean {
  return text[10] === 'T' && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

/** The formats of text answers (DESIGN 4.10). */
export const textFormats = {
  line: {
    tidy: asTyped,
    accepts: (text) => !/[\r\n]/.test(text),
    remedy: 'write the answer on a single line.',
  },
  lines: {
    // HTML submits CRLF, JSON clients mostly LF: one form is stored.
    tidy: (text) => text.replaceAll(/\r\n?/g, '\n'),
    accepts: () => true,
    remedy: 'write the answer as text.',
  },
  email: { tidy: trim, accepts: isEmail, remedy: 'enter an email address like name@example.com.' },
  phone: { tidy: trim, accepts: isPhone, remedy: 'enter a phone number like +1 555 010 0199.' },
  url: { tidy: trim, accepts: isUrl, remedy: 'enter a web address like https://example.com.' },
  date: { tidy: trim, accepts: isDate, remedy: 'enter a date of the calendar like 2026-01-31.' },
  time: { tidy: trim, accepts: isTime, remedy: 'enter a time from 00:00 to 23:59, like 14:30.' },
  datetime: { tidy: trim, accepts: isDateTime, remedy: 'enter a date and time like 2026-01-31T14:30.' },
} as const satisfies Record<string, TextFormat>;
