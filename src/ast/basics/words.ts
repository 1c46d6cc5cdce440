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

/** A moment for a person, to the minute and with its zone: `November 30, 2026 at 9:00 AM GMT+1`. */
export const sayTime = (moment: Date, locale: Locale, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(moment);
