import { isDate } from './text-formats.ts';

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
