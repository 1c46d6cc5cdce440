/** Pairs of attributes that are the lower and upper limit of one value. */
const ranges = [
  ['min_length', 'max_length'],
  ['min', 'max'],
  ['min_choices', 'max_choices'],
  ['min_files', 'max_files'],
] as const;

/**
 * Returns why attributes that are valid on their own together exclude every answer, as the end of a sentence
 * without its period. Skips relative days, which change daily.
 * @param attrs the attributes of the element that are valid on their own.
 */
export function impossibleRangeProblem(attrs: Readonly<Record<string, unknown>>): string | undefined {
  for (const [least, most] of ranges)
    if (isOver(attrs[least], attrs[most])) return `has a "${least}" greater than its "${most}"`;
  const { options, min_choices: least, other } = attrs;
  const choices = Array.isArray(options) ? options.length + Number(other === true) : undefined;
  return choices !== undefined && isOver(least, choices)
    ? 'has a "min_choices" greater than the number of its options'
    : undefined;
}

function isOver(least: unknown, most: unknown): boolean {
  if (typeof least === 'number' && typeof most === 'number') return least > most;
  const isText = typeof least === 'string' && typeof most === 'string';
  return isText && !least.startsWith('today') && !most.startsWith('today') && least > most;
}
