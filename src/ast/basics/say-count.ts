import { sayNumber } from './say-number.ts';

/** The word for a number of things: "form" for one, "forms" otherwise. `many` if the plural is not `one` with an s. */
export const wordFor = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** "1 submission", "1,204 submissions". */
export const sayCount = (count: number, one: string, many?: string): string =>
  `${sayNumber(count)} ${wordFor(count, one, many)}`;
