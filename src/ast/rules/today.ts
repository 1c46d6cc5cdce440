// A formatter costs a hundred times what it formats; there are some 600 time zones.
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Whether the text is the name of a time zone (IANA), such as `UTC` or `Europe/Berlin`. */
export function isTimeZone(text: string): boolean {
  // `Intl` also takes offsets like +01:00, which know no summer time.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return formatterOf(text) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The day, YYYY-MM-DD, that it is in a time zone at a point in time. @throws RangeError for an unknown zone. */
export function todayIn(timeZone: string, now: Date): string {
  if (timeZone === 'UTC') return now.toISOString().slice(0, 10);
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  formatters.set(timeZone, made);
  return made;
}
