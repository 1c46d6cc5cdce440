import { sayNumber } from './say-number.ts';

/** Returns the singular or plural of a noun. Pass `many` for irregular plurals. */
export const wordFor = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** Formats a count: "1 submission", "1,204 submissions". */
export const sayCount = (count: number, one: string, many?: string): string =>
  `${sayNumber(count)} ${wordFor(count, one, many)}`;
