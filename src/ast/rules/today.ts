import { memoizeByArguments } from '../basics/memoize.ts';

const formatterOf = memoizeByArguments(
  (timeZone: string) =>
    new Intl.DateTimeFormat('en', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    }),
);

/** Returns whether the text is the name of a time zone (IANA), such as `UTC` or `Europe/Berlin`. */
export function isTimeZone(text: string): boolean {
  // `Intl` also accepts offsets like +01:00, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return formatterOf(text) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * Returns the day, YYYY-MM-DD, in a time zone at a point in time.
 * @throws RangeError for an unknown zone.
 */
export function todayIn(timeZone: string, now: Date): string {
  if (timeZone === 'UTC') return now.toISOString().slice(0, 10);
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}
