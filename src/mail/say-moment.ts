/** A moment as a letter says it, with its time zone: who reads it may be in another. */
export const sayMoment = (date: Date, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone }).format(date) +
  ` (${timeZone})`;
