/* Days as people write them, `YYYY-MM-DD`, where the reader is. They are not always 24 hours long. */

/** The day of a moment. */
export function dayOf(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The first moment of a day, or of one some days later, as a timestamp. */
export function startOf(day: string, daysLater: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date + daysLater).toISOString();
}
