import { primaryLanguageOf } from './language-tags.ts';

/**
 * The languages for which search can stem words: PostgreSQL text search configuration to BCP 47 tag.
 * PostgreSQL 15, the oldest supported version, includes these 29 (`select cfgname from pg_ts_config`).
 * `simple` does not stem and fits any language.
 */
export const searchLanguageTags = {
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

export type SearchLanguage = keyof typeof searchLanguageTags;

const byTag = new Map<string, SearchLanguage>(
  Object.entries(searchLanguageTags).map(([name, tag]) => [tag, name as SearchLanguage]),
);
/** Norwegian has two written languages, and neither has the tag `no`. */
const norwegian = ['nb', 'nn'];

/**
 * Returns the search configuration for answers in a language, or `simple` for languages that search cannot
 * stem. Without a tag, the settings of the form decide.
 * @param tag BCP 47
 */
export function chooseSearchLanguage(
  settings: { readonly language?: SearchLanguage },
  tag: string | null,
): SearchLanguage {
  if (tag === null) return settings.language ?? defaultSearchLanguage;
  const primary = primaryLanguageOf(tag);
  return byTag.get(norwegian.includes(primary) ? 'no' : primary) ?? 'simple';
}

/**
 * Lists the languages in which submissions of a form will be searched.
 * @param settings undefined if they stay unchanged and their language is already known.
 */
export const listSearchLanguages = (
  settings: { readonly language?: SearchLanguage } | undefined,
  tags: readonly string[],
): SearchLanguage[] => [
  ...new Set([...(settings ? [null] : []), ...tags].map((tag) => chooseSearchLanguage(settings ?? {}, tag))),
];

/** The search language of a form without `settings.language` (docs/rules.md 11). */
export const defaultSearchLanguage: SearchLanguage = 'english';
