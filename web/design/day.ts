/* Calendar days as `YYYY-MM-DD` in the reader's time zone. A day is not always 24 hours long. */

/** Returns the calendar day of a date. */
export function localDayOf(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the start of a day, or of a day `daysLater` days later, as a timestamp. */
export function startOfLocalDay(day: string, daysLater: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date + daysLater).toISOString();
}
