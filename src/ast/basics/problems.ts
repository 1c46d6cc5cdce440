/**
 * The first `limit` problems, and `more` as the last one when there are others.
 * The source is read lazily: a hostile input costs no more work once the list is full.
 */
export function firstProblems<Problem>(problems: Iterable<Problem>, limit: number, more: Problem): Problem[] {
  const found: Problem[] = [];
  for (const problem of problems) {
    if (found.length === limit) return [...found, more];
    found.push(problem);
  }
  return found;
}

/** Text from the input inside a message: in quotes, at most 64 characters, controls escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

/** A number of bytes for a person: `1 KB (1024 bytes)`. */
export function sayBytes(bytes: number): string {
  return `${bytes / 1024} KB (${bytes} bytes)`;
}
