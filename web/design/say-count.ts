/** The word for so many: "form" for one, "forms" for all else. `many` where that is not `one` with an s. */
export const wordFor = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** "1 submission", "1,204 submissions": a count with its word, which every count of the console is said by. */
export const sayCount = (count: number, one: string, many?: string): string =>
  `${count.toLocaleString()} ${wordFor(count, one, many)}`;
