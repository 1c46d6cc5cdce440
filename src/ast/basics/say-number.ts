/** A whole number as English writes it, `200,000`: by the platform's table of languages it takes 11 ms the first time, which a start would wait for. */
export const sayNumber = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
