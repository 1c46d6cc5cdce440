/** Formats a whole number in English, `200,000`. `Intl` would delay the start by 11 ms. */
export const formatWholeNumber = (number: number): string =>
  String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
