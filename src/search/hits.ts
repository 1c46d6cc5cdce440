import { cutToBytes } from '#ast/text.ts';
import type { Queryable } from '#kit/statement.ts';
import { markHits } from './queries.ts';

/** Marks that no answer is expected to hold: private use. A text that holds one loses it. */
const [begin, end] = ['\uE000', '\uE001'];
const options = `StartSel=${begin}, StopSel=${end}, HighlightAll=true`;

/** The beginning of a text in which hits are looked for: longer ones cost time, and nobody reads on for them. */
const readBytes = 20_000;
/** No byte less: a character is one at least. */
export const readCharacters = readBytes;

/**
 * Which words of each text a question finds, as they are written there: "runs" finds "Running". For showing, on the
 * few texts of a page; what matches is decided by the search itself.
 * @returns for each text its distinct words, the longest first, so that a shorter one inside it does not split it.
 */
export async function findHits(
  database: Queryable,
  question: { language: string; q: string },
  texts: readonly string[],
): Promise<string[][]> {
  const plain = texts.map((text) =>
    cutToBytes(text.slice(0, readCharacters).replaceAll(/[\uE000\uE001]/g, ' '), readBytes),
  );
  const rows = await markHits(database, { ...question, texts: plain, options });
  return rows.map(({ marked }) => {
    const words = [...marked.matchAll(/\uE000([^\uE001]*)\uE001/g)].map((match) => match[1]!);
    return [...new Set(words)].sort((a, b) => b.length - a.length);
  });
}
