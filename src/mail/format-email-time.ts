/** Formats a time for an email. It includes the time zone, because the reader may be in another. */
export const formatEmailTime = (date: Date, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone }).format(date) +
  ` (${timeZone})`;
