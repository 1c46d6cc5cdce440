const formats = new Map<string, Intl.NumberFormat>();
const units = ['kilobyte', 'megabyte', 'gigabyte'] as const;

/**
 * Formats a file size for people, in units of 1024: `1.2 MB`, `340 ko`. The minimum is `1 kB`.
 * @param language by default the language of the browser.
 */
export function formatFileSize(bytes: number, language?: string): string {
  let [size, power] = [Math.ceil(bytes / 1024), 0];
  for (; size >= 1024 && power < units.length - 1; power += 1) size /= 1024;
  const unit = units[power]!;
  const key = `${unit} ${language ?? ''}`;
  const format =
    formats.get(key) ?? new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 });
  formats.set(key, format);
  return format.format(size);
}
