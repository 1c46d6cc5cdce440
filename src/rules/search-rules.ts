/**
 * The number of the rules by which src/submissions/search-text turns a text into terms of the index. A change
 * of these rules increases it, and tasks then rebuild the index (src/submissions/rebuild-index.ts). Searches
 * find the documents of both rules meanwhile.
 */
export const searchRules = 2;

const scripts = ['Han', 'Hira', 'Kana', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');

/**
 * A pattern, with the flag `u`, for a letter of a script without spaces between words: Chinese, Japanese, Thai,
 * Lao, Khmer and Burmese. Korean has spaces, but adds particles to its words. Marks are letters only after such
 * a letter, because many scripts share them.
 */
export const spacelessLetter = String.raw`(?!\p{M})[${scripts}]`;
/** A pattern for a run of such letters with their marks. */
export const spacelessRun = String.raw`${spacelessLetter}[${scripts}\p{M}]*`;
