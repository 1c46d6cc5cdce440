/** Formats a whole number in English, `200,000`. `Intl` would delay the start by 11 ms. */
export const formatWholeNumber = (number: number): string =>
  String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** Returns the singular or plural of a noun. Pass `many` for irregular plurals. */
export const pluralize = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** Formats a count: "1 submission", "1,204 submissions". */
export const formatCount = (count: number, one: string, many?: string): string =>
  `${formatWholeNumber(count)} ${pluralize(count, one, many)}`;
