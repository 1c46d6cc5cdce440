import { primaryLanguageOf } from './match-language.ts';

/** The languages of the public page, as BCP 47 tags. src/page/words has a file for each of them. */
export const locales = ['en', 'fr', 'de', 'es', 'pt', 'nl', 'ar', 'ja', 'zh'] as const;
export type Locale = (typeof locales)[number];

/** The values of `settings.locale`: a language, or `auto` for the language of the visitor's browser. */
export const localeChoices = ['auto', ...locales] as const;
export type LocaleChoice = (typeof localeChoices)[number];

/** The name of each choice; languages are in their own language. */
export const localeNames = {
  auto: 'Visitor’s browser language',
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
  nl: 'Nederlands',
  ar: 'العربية',
  ja: '日本語',
  zh: '中文',
} as const satisfies Record<LocaleChoice, string>;

/** Returns the language of the page for a form's language (BCP 47), if the page supports it. */
export function localeOf(tag: string | undefined): Locale | undefined {
  const primary = tag === undefined ? undefined : primaryLanguageOf(tag);
  return isLocale(primary) ? primary : undefined;
}

export function isLocale(value: unknown): value is Locale {
  return locales.some((locale) => locale === value);
}
