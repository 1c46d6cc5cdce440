/** Parses a number with a decimal comma or decimal point. Returns undefined for any other text. */
export function readNumber(text: string, isWhole: boolean): number | undefined {
  const tidy = text.trim().replace(',', '.');
  if (!(isWhole ? /^\d{1,15}$/ : /^-?\d{1,15}(?:\.\d{1,10})?$/).test(tidy)) return undefined;
  return Number(tidy);
}
