/**
 * The number of the rules by which src/submissions/search-text turns a text into terms of the index. A change
 * of these rules increases it, and tasks then rebuild the index (src/submissions/rebuild-index.ts). Searches
 * find the documents of both rules meanwhile.
 */
export const searchRules = 2;

/**
 * The letters of scripts without spaces between words, for a character class with the flag `u`: Chinese,
 * Japanese, Thai, Lao, Khmer and Burmese. Korean has spaces, but adds particles to its words.
 */
export const spacelessScripts = ['Han', 'Hira', 'Kana', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');
