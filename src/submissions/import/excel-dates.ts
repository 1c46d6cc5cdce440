/* Days and times in workbooks are numbers: days since 1900, or since 1904, with a cell format that shows them as days. */

const dayMs = 86_400_000;
/** 1900-01-01 is day 1. Excel believes that 1900 was a leap year: from day 61 on, numbers are one too high. */
const before1900 = Date.UTC(1899, 11, 31);
const leapDay = 60;
const first1904 = Date.UTC(1904, 0, 1);

/** Returns a day or a moment as ISO 8601; undefined for a number that is outside of the years 1 to 9999. */
export function readSerial(serial: number, from1904: boolean): string | undefined {
  const days = from1904 || serial <= leapDay ? serial : serial - 1;
  // A double is wrong by less than a microsecond here.
  const date = new Date((from1904 ? first1904 : before1900) + Math.round(days * dayMs));
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9_999) return undefined;
  return date
    .toISOString()
    .slice(0, 23)
    .replace(/\.000$/, '')
    .replace(/T00:00:00$/, '');
}

/** The formats of days and times that every workbook has (ECMA-376, 18.8.30). */
const builtIn: readonly [from: number, to: number][] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

export const isDateFormatId = (id: number): boolean => builtIn.some(([from, to]) => id >= from && id <= to);

/** Whether a format code shows days or times: `yyyy-mm-dd`, `[h]:mm`. Texts in it, colours and fill characters do not count. */
export function isDateFormat(code: string): boolean {
  // Excel allows 255 characters.
  const [first = ''] = code.slice(0, 1_024).split(';');
  const bare = first.replaceAll(/"[^"]*"|\\.|[_*]./g, '').replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '');
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}
