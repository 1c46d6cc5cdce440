const units = ['kilobyte', 'megabyte', 'gigabyte'] as const;

/** "1.4 MB", in the reader's language. Nobody counts single bytes: what is next to nothing is "0.1 kB". */
export function saySize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes) / 3) - 1));
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: units[power]!,
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(bytes === 0 ? 0 : Math.max(0.1, bytes / 1000 ** (power + 1)));
}
