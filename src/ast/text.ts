/**
 * Whether PostgreSQL and every JSON reader can hold the text:
 * no NUL (refused by `text` and `jsonb`) and no lone surrogate (not Unicode). docs/rules.md 13.
 */
export function isCleanText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Length as a person counts it: in characters (code points). */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    // The second half of a pair; a half alone is a character of its own.
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800)
      count -= 1;
  }
  return count;
}

/** Length in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Whether the text fits into so many UTF-8 bytes; counts only when the length alone cannot tell. */
export function fitsBytes(text: string, max: number): boolean {
  // A UTF-16 unit takes one to three bytes in UTF-8.
  if (text.length > max) return false;
  return text.length * 3 <= max || byteLength(text) <= max;
}

/** The longest beginning of the text that fits into so many UTF-8 bytes; no character is cut in two. */
export function cutToBytes(text: string, max: number): string {
  if (fitsBytes(text, max)) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max));
  return text.slice(0, read);
}
