import type { ReactElement } from 'react';

/** A text in which the words that a search found are marked. They come from the server, as they are written here. */
export function Marked({
  text,
  hits,
  limit,
}: {
  text: string;
  hits: readonly string[];
  limit?: number;
}): ReactElement {
  const pattern = patternOf(hits);
  const shown = limit === undefined ? text : excerpt(text, limit, pattern);
  if (!pattern) return <>{shown}</>;
  // Splitting by a group puts every hit at an odd place.
  return (
    <>
      {shown.split(pattern).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </>
  );
}

/** Finds any of the words, as whole words only: "run" is not in the middle of "brunch". */
export function patternOf(hits: readonly string[]): RegExp | undefined {
  const words = hits
    .filter((hit) => hit !== '')
    .map((hit) => hit.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  return words.length === 0
    ? undefined
    : new RegExp(String.raw`(?<![\p{L}\p{N}])(${words.join('|')})(?![\p{L}\p{N}])`, 'gu');
}

/** What stands before a hit that is far from the beginning. */
const before = 24;

/** The beginning of a long text, or the part of it where the first hit is. */
function excerpt(text: string, limit: number, pattern: RegExp | undefined): string {
  const first = pattern ? text.search(pattern) : -1;
  const start = first > limit / 2 ? first - before : 0;
  const end = start + limit;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
