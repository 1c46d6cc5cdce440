import type { ReactElement } from 'react';
import { spacelessLetter } from '#rules/search-rules.ts';

/**
 * A text in which the words that a search found are highlighted. The server returns these words as they are
 * spelled in the text.
 */
export function HighlightedText({
  text,
  hits,
  limit,
}: {
  text: string;
  hits: readonly string[];
  limit?: number;
}): ReactElement {
  const pattern = wholeWordPattern(hits);
  const shown = limit === undefined ? text : excerpt(text, limit, pattern);
  if (!pattern) return <>{shown}</>;
  // Splitting by a capturing group puts every match at an odd index.
  return (
    <>
      {shown.split(pattern).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </>
  );
}

/**
 * Returns a pattern that matches whole words only: "run" does not match in "brunch". Words of scripts without
 * spaces match anywhere.
 */
export function wholeWordPattern(hits: readonly string[]): RegExp | undefined {
  const words = hits
    .filter((hit) => hit !== '')
    .map((hit) => hit.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  return words.length === 0
    ? undefined
    : new RegExp(
        String.raw`(?:(?<![\p{L}\p{N}])|(?=${spacelessLetter}))(${words.join('|')})(?:(?![\p{L}\p{N}])|(?<=${spacelessLetter}\p{M}*))`,
        'gu',
      );
}

/** The number of characters kept before the first match. */
const before = 24;

/** Returns the beginning of a long text, or the part around the first match. */
function excerpt(text: string, limit: number, pattern: RegExp | undefined): string {
  const first = pattern ? text.search(pattern) : -1;
  const start = first > limit / 2 ? first - before : 0;
  const end = start + limit;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
