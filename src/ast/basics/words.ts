import type { Locale } from './language-tags.ts';

/** Fills the `{names}` in a sentence. Names without a value stay unchanged. */
export function fillTemplate(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : written,
  );
}

/**
 * Formats a day in a person's language: `February 1, 2026`.
 * @param timeZone the time zone of the day.
 */
export const formatDay = (moment: Date, locale: Locale, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(moment);

/**
 * Formats a time in a person's language, to the minute and with its time zone: `November 30, 2026 at 9:00 AM
 * GMT+1`.
 */
export const formatDateTime = (moment: Date, locale: Locale, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(moment);
