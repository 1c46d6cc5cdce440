/** Matches a BCP 47 tag of language, script and region: `de`, `pt-BR`, `zh-Hant`, `sr-Latn-RS`. */
const tagPattern = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/;

/** Returns whether a text is a language tag that forms accept. */
export const isLanguageTag = (text: string): boolean => tagPattern.test(text);

/** The pattern of language tags for the JSON schema. */
export const languageTagPatternSource = tagPattern.source;

/** Returns the language of a tag, without script and region. */
export const primaryLanguageOf = (tag: string): string => tag.split('-', 1)[0]!.toLowerCase();

/** Languages written from right to left. */
const rightToLeft = ['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'];

/** Returns the direction in which a language is written. */
export const directionOf = (tag: string): 'rtl' | 'ltr' =>
  rightToLeft.includes(primaryLanguageOf(tag)) ? 'rtl' : 'ltr';

/**
 * Finds the form language that fits a requested one best (RFC 4647, lookup): an exact match, otherwise a
 * prefix, otherwise the first with the same primary language, such as `pt-PT` for `pt-BR`.
 */
export function matchLanguage(requested: string, languages: readonly string[]): string | undefined {
  const parts = requested.toLowerCase().split('-');
  for (let count = parts.length; count > 0; count -= 1) {
    const tag = parts.slice(0, count).join('-');
    const found = languages.find((language) => language.toLowerCase() === tag);
    if (found !== undefined) return found;
  }
  return languages.find((language) => primaryLanguageOf(language) === parts[0]);
}

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
