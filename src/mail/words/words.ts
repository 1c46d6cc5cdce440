import { isLocale, type Locale, type LocaleChoice } from '#ast/locales.ts';
import { english, type MailWords } from './english.ts';
import { translations } from './translations.ts';

/** The words of a language; English for a form that speaks its visitor's, where that is not known. */
export function mailWords(choice: LocaleChoice | undefined): { locale: Locale; words: MailWords } {
  const locale = isLocale(choice) ? choice : 'en';
  return { locale, words: locale === 'en' ? english : translations[locale] };
}
