/** How many there are of something, for a person: one of it is called otherwise. */
export const sayCount = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
