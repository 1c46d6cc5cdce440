import { primaryOf } from './match-language.ts';

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

const byTag = new Map<string, Language>(
  Object.entries(languages).map(([name, tag]) => [tag, name as Language]),
);
/** Norwegian is written in two ways, of which neither is `no`. */
const norwegian = ['nb', 'nn'];

/**
 * How the words of answers in a language are stemmed: in a language that search does not know, not at all. Where a form
 * names no languages, its settings say so.
 * @param tag BCP-47
 */
export function searchLanguage(settings: { readonly language?: Language }, tag: string | null): Language {
  if (tag === null) return settings.language ?? defaultLanguage;
  const primary = primaryOf(tag);
  return byTag.get(norwegian.includes(primary) ? 'no' : primary) ?? 'simple';
}

/**
 * Every language in which submissions of a form will be searched.
 * @param settings undefined where they stay as they are: that language is known.
 */
export const searchLanguages = (
  settings: { readonly language?: Language } | undefined,
  tags: readonly string[],
): Language[] => [
  ...new Set([...(settings ? [null] : []), ...tags].map((tag) => searchLanguage(settings ?? {}, tag))),
];

/** What a form without `settings.language` is searched in (docs/rules.md 11). */
export const defaultLanguage: Language = 'english';

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}
