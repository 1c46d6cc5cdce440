/**
 * The letters of scripts without spaces between words, for a character class with the flag `u`: Chinese, Japanese, Thai,
 * Lao, Khmer and Burmese. Korean has spaces, but adds particles to its words.
 */
export const spacelessLetters = ['Han', 'Hira', 'Kana', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');
