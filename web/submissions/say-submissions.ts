/** "1 submission", "1,204 submissions". */
export const saySubmissions = (count: number): string =>
  `${count.toLocaleString()} ${count === 1 ? 'submission' : 'submissions'}`;
