import { memoizeByArguments } from './memoize.ts';

const formatOf = memoizeByArguments(
  (unit: string, language: string | undefined) =>
    new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 }),
);
const units = ['kilobyte', 'megabyte', 'gigabyte'] as const;

/**
 * Formats a file size for people, in units of 1024: `1.2 MB`, `340 ko`. The minimum is `1 kB`.
 * @param language by default the language of the browser.
 */
export function formatFileSize(bytes: number, language?: string): string {
  let [size, power] = [Math.ceil(bytes / 1024), 0];
  for (; size >= 1024 && power < units.length - 1; power += 1) size /= 1024;
  return formatOf(units[power]!, language).format(size);
}
