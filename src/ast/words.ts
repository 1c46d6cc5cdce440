import type { Locale } from './locales.ts';

/** A sentence with its `{names}` filled in. A name that is not among `values` stays as it is written. */
export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : written,
  );
}

/** A day for a person, as their language writes it: `February 1, 2026`. @param timeZone whose day it is. */
export const sayDay = (moment: Date, locale: Locale, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(moment);
