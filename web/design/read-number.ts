/** The number that a text says, with a comma or a point; undefined for any other text. */
export function readNumber(text: string, isWhole: boolean): number | undefined {
  const tidy = text.trim().replace(',', '.');
  if (!(isWhole ? /^\d{1,15}$/ : /^-?\d{1,15}(?:\.\d{1,10})?$/).test(tidy)) return undefined;
  return Number(tidy);
}
