/**
 * Returns the first `limit` problems, then `more` if there are others. Reads the source lazily, so that
 * hostile input causes no more work once the list is full.
 */
export function limitProblems<Problem>(problems: Iterable<Problem>, limit: number, more: Problem): Problem[] {
  const found: Problem[] = [];
  for (const problem of problems) {
    if (found.length === limit) return [...found, more];
    found.push(problem);
  }
  return found;
}

/** Quotes text from the input for a message: at most 64 characters, with control characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

/** Formats a number of bytes for a person: `1 KB (1024 bytes)`. */
export function formatExactBytes(bytes: number): string {
  return `${bytes / 1024} KB (${bytes} bytes)`;
}
