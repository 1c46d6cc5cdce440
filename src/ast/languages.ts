/**
 * The languages that search can stem: PostgreSQL text search configuration to BCP-47 tag.
 * These are the 29 that PostgreSQL 15, the oldest supported version, ships (`select cfgname from pg_ts_config`);
 * `simple` does not stem and fits any language.
 */
export const languages = {
  simple: 'und',
  arabic: 'ar',
  armenian: 'hy',
  basque: 'eu',
  catalan: 'ca',
  danish: 'da',
  dutch: 'nl',
  english: 'en',
  finnish: 'fi',
  french: 'fr',
  german: 'de',
  greek: 'el',
  hindi: 'hi',
  hungarian: 'hu',
  indonesian: 'id',
  irish: 'ga',
  italian: 'it',
  lithuanian: 'lt',
  nepali: 'ne',
  norwegian: 'no',
  portuguese: 'pt',
  romanian: 'ro',
  russian: 'ru',
  serbian: 'sr',
  spanish: 'es',
  swedish: 'sv',
  tamil: 'ta',
  turkish: 'tr',
  yiddish: 'yi',
} as const satisfies Record<string, string>;

export type Language = keyof typeof languages;

/** What a form without `settings.language` is searched in (docs/rules.md 11). */
export const defaultLanguage: Language = 'english';

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}
