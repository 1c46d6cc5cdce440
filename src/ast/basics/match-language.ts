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
