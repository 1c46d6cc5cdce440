/**
 * Returns whether PostgreSQL and every JSON reader can store the text. It must contain no NUL (rejected by
 * `text` and `jsonb`) and no lone surrogate (not Unicode). docs/rules.md 13.
 */
export function isCleanText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Counts the characters (code points) of a text. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    // The second half of a surrogate pair is not counted. An unpaired half counts as a character.
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800)
      count -= 1;
  }
  return count;
}

/** Returns the length in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Returns whether the text fits into a number of UTF-8 bytes. Counts them only if necessary. */
export function fitsBytes(text: string, max: number): boolean {
  // A UTF-16 unit takes one to three bytes in UTF-8, so only lengths in between need counting.
  if (text.length > max) return false;
  return text.length * 3 <= max || byteLength(text) <= max;
}

/** Returns the longest start of the text within a number of UTF-8 bytes. Never splits a character. */
export function cutToBytes(text: string, max: number): string {
  if (fitsBytes(text, max)) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max));
  return text.slice(0, read);
}

/** Characters below this one are the same in every Unicode normalization form. */
const mayCompose = /[\u0300-\uffff]/;
/**
 * No language has more combining marks in a row than the limit of Unicode's stream-safe format (UAX #15).
 * Normalizing more takes quadratic time: 200,000 marks took 30 s.
 */
const endlessMarks = /(?:^|\P{M})\p{M}{31}/u;

/** Only a file inside a JSON body is longer, and the code that reads it normalizes each cell. */
const longestText = 1024 * 1024;

/**
 * Returns the text in NFC, the form in which text is stored and compared: `Zoe` with U+0308 and `Zoë` are the
 * same name. A text with more than 30 combining marks in a row is not changed.
 */
export function normalizeText(text: string): string {
  if (text.length > longestText) return text;
  return mayCompose.test(text) && !endlessMarks.test(text) ? text.normalize('NFC') : text;
}

/** Returns the text with at most 30 combining marks in a row, so that it can be normalized. */
export const cutMarks = (text: string): string => text.replaceAll(/(\p{M}{30})\p{M}+/gu, '$1');

/** U+2800 and the annotation marks U+FFF9 to U+FFFB are invisible, but no Unicode property covers them. */
const seen = String.raw`[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb]`;
const visible = new RegExp(seen, 'u');
/**
 * Matches the text from its first to its last visible character, including a final variation selector or flag
 * tags.
 */
const shown = new RegExp(
  String.raw`(?=${seen}).*(?:\u{1F3F4}[\u{E0030}-\u{E007F}]+|${seen}\p{Variation_Selector}?)`,
  'su',
);
/** Checks reject text that contains NUL, so trimming must not remove it. */
const nul = '\u0000';

/** Returns whether a text consists only of white space and characters without a glyph. */
export function isInvisible(text: string): boolean {
  return !visible.test(text) && !text.includes(nul);
}

/**
 * Returns the text without invisible characters around it. Joiners and selectors inside it stay, because
 * emoji and Persian need them.
 */
export function trimText(text: string): string {
  return text.includes(nul) ? text : (shown.exec(text)?.[0] ?? '');
}

/** Returns whether an answer is missing, null, invisible or an empty list (docs/rules.md 10). */
export function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return isInvisible(value);
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
