/**
 * Counts the characters that must be escaped in HTML: `&`, `<`, `>` and quotes. Uses a loop, because a list
 * of half a million matches takes longer than escaping them.
 */
export function countMarkup(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34 || code === 38 || code === 39 || code === 60 || code === 62) count += 1;
  }
  return count;
}
