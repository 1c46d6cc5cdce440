/** The languages that the public page speaks by itself, as BCP-47 tags (src/page/words has a file for each). */
export const locales = ['en', 'fr', 'de', 'es', 'pt', 'ar', 'ja', 'zh'] as const;
export type Locale = (typeof locales)[number];

/** `settings.locale`: one of them, or the one that the visitor's browser asks for. */
export const localeChoices = ['auto', ...locales] as const;
export type LocaleChoice = (typeof localeChoices)[number];

export function isLocale(value: unknown): value is Locale {
  return locales.some((locale) => locale === value);
}
