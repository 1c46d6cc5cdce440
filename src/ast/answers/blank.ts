/** Nothing was answered: absent, null, white space only, or an empty list (docs/rules.md 10). */
export function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
