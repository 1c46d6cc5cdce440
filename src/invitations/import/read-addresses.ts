import { readMailAddress } from '#kit/outbox/address.ts';

/** What was pasted, piece by piece, with the line that each is on, from 1. */
type PastedAddress = { line: number; email: string; name: string };

/**
 * Splits pasted addresses: one on a line, or several between commas or semicolons, with or without names
 * (`Ada Lovelace <ada@example.org>`). What is no address comes back as the `email` that it was meant to be.
 */
export function readAddresses(text: string): PastedAddress[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((line, index) =>
      splitOutsideQuotes(line)
        .map((piece) => piece.trim())
        .filter((piece) => piece !== '')
        .map((piece) => {
          const read = readMailAddress(piece);
          return { line: index + 1, email: read?.address ?? piece, name: read?.name ?? '' };
        }),
    );
}

/** A comma in `"Lovelace, Ada" <ada@example.org>` separates nothing. */
function splitOutsideQuotes(line: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (line[at] === ',' || line[at] === ';')) {
      pieces.push(line.slice(start, at));
      start = at + 1;
    }
  }
  return [...pieces, line.slice(start)];
}
