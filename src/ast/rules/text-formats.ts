import { trimText } from '../basics/text.ts';
import type { RuleName } from './problem.ts';

/** How a format of text answers is normalized and checked, and which rule a text in another format breaks. */
export type TextFormat = {
  readonly tidy: (text: string) => string;
  readonly accepts: (text: string) => boolean;
  readonly rule: RuleName;
};

// The regular expressions of the HTML standard, so that server and browser agree. Before the @, letters and
// digits of any script are also allowed (RFC 6531). Repeats are limited to the 63 characters of a DNS label,
// so matching is linear in the text.
const localPattern = /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const domainPattern = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/**
 * Returns whether the text is an email address by the HTML standard, of at most 254 characters (RFC 5321).
 * The domain and the part before the @ can use any script. The domain has a dot, because `hr@acme` is nearly
 * always a mistake. The only exception is `localhost`, a mail server on the same machine.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return (
    text.length <= 254 && localPattern.test(text.slice(0, Math.max(0, at))) && isDomain(text.slice(at + 1))
  );
}

/** Returns whether a domain is complete and valid in DNS. `URL` converts other scripts to Punycode. */
function isDomain(domain: string): boolean {
  const url = `http://${domain}`;
  const isOther = !domainPattern.test(domain) && /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain) && URL.canParse(url);
  const name = isOther ? new URL(url).hostname : domain.toLowerCase();
  return domainPattern.test(name) && (name.includes('.') || name === 'localhost');
}

/** Returns whether the text is an `http` or `https` URL without white space. */
export function isUrl(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/**
 * Returns whether the text has 3 to 20 digits, with spaces and `( ) - . /` between them, an optional leading
 * `+` and an optional extension.
 */
function isPhone(text: string): boolean {
  if (text.length > 40) return false;
  const [number = '', extension] = text.split(' ext. ');
  const digits = number.replaceAll(/\D/g, '').length;
  const isNumber = digits >= 3 && digits <= 20 && /^\+?[0-9() ./-]+$/.test(number);
  return isNumber && (extension === undefined || /^\d{1,8}$/.test(extension));
}

/**
 * Normalizes a phone number: digits of any script to ASCII, full-width signs to narrow ones, and dashes to
 * `-`. An extension (`x12`, `ext 12`, `#12`) becomes ` ext. 12`.
 */
function tidyPhone(text: string): string {
  if (text.length > 80) return trimText(text);
  return trimText(text)
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .replaceAll(/[\u2010-\u2015\u2212ー]/g, '-')
    .replaceAll(/[\u00a0\u2009\u202f]/g, ' ')
    .replace(/[\s,;]*(?:ext(?:ension)?\.?|x|#)[ :]?(\d{1,8})\s*$/i, ' ext. $1')
    .trim();
}

/** Normalizes a URL: adds `https://` to a text that begins with a host name (`example.com/a`). */
function tidyUrl(text: string): string {
  const given = trimText(text);
  return /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?::\d{1,5})?(?:[/?#]\S*)?$/i.test(given)
    ? `https://${given}`
    : given;
}

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/**
 * Returns whether the text is a calendar day, `YYYY-MM-DD`, in the year 0001 or later. False for 2026-02-30.
 */
export function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (!year || !month || !day) return false;
  return month <= 12 && day <= daysInMonth(year, month);
}

/** Returns whether the text is a time of day, `HH:MM`. */
export function isTime(text: string): boolean {
  return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

/** Returns whether the text is a day and time without zone, `YYYY-MM-DDTHH:MM`. */
export function isDateTime(text: string): boolean {
  return text[10] === 'T' && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

/** The formats of text answers (docs/rules.md 10). */
export const textFormats = {
  line: { tidy: trimText, accepts: (text) => !/[\r\n]/.test(text), rule: 'line' },
  // HTML forms submit CRLF, and JSON clients mostly send LF. Only one of them is stored.
  lines: {
    tidy: (text) => trimText(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')),
    accepts: () => true,
    rule: 'text',
  },
  email: { tidy: trimText, accepts: isEmail, rule: 'email' },
  phone: { tidy: tidyPhone, accepts: isPhone, rule: 'phone' },
  url: { tidy: tidyUrl, accepts: isUrl, rule: 'url' },
  date: { tidy: trimText, accepts: isDate, rule: 'date' },
  time: { tidy: trimText, accepts: isTime, rule: 'time' },
  datetime: { tidy: trimText, accepts: isDateTime, rule: 'datetime' },
} as const satisfies Record<string, TextFormat>;
