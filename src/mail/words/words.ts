import { isLocale, type Locale, type LocaleChoice } from '#ast/locales.ts';
import { english, type MailWords } from './english.ts';
import { translations } from './translations.ts';

/** The words of a language; English for a form that speaks its visitor's, where that is not known. */
export function mailWords(choice: LocaleChoice | undefined): { locale: Locale; words: MailWords } {
  const locale = isLocale(choice) ? choice : 'en';
  return { locale, words: locale === 'en' ? english : translations[locale] };
}

/** A sentence with its `{names}` filled in. */
export const fill = (sentence: string, values: Readonly<Record<string, string>>): string =>
  sentence.replaceAll(/\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : written,
  );

/** A day for a reader, in the form's time zone. */
export const sayDay = (date: Date, locale: Locale, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(date);
