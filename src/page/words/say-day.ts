import type { Locale } from '#ast/locales.ts';

/** A day for a person, as their language writes it: `February 1, 2026`. The day is that of UTC. */
export function sayDay(moment: Date, locale: Locale): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(moment);
}
