/** A language, its script and its region, as BCP-47 writes them: `de`, `pt-BR`, `zh-Hant`, `sr-Latn-RS`. */
const tagPattern = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/;

/** Whether a text is a language as forms name them. */
export const isLanguageTag = (text: string): boolean => tagPattern.test(text);

/** The same for the schema. */
export const languageTagSource = tagPattern.source;

/** The language of a tag without its script and region. */
export const primaryOf = (tag: string): string => tag.split('-', 1)[0]!.toLowerCase();

/**
 * The language of a form that a wish means (RFC 4647, look-up): itself, else what it begins with, else the first that is
 * of the same language: `pt-PT` for whoever wants `pt-BR`, where there is no other.
 */
export function matchLanguage(wish: string, languages: readonly string[]): string | undefined {
  const parts = wish.toLowerCase().split('-');
  for (let count = parts.length; count > 0; count -= 1) {
    const tag = parts.slice(0, count).join('-');
    const found = languages.find((language) => language.toLowerCase() === tag);
    if (found !== undefined) return found;
  }
  return languages.find((language) => primaryOf(language) === parts[0]);
}
