import { mistakesBetween, mostMistakes } from '#kit/nearest.ts';

/** So many letters a word has at least to be taken for another one that is written a little differently. */
export const leastMistaken = 4;
/**
 * The word that is least different from the one that was asked for, among words that were written; of several the one that is
 * there most often. Undefined when all differ too much.
 */
export function nearestWord(asked: string, written: Iterable<string>): string | undefined {
  const most = mostMistakes(asked);
  const found = new Map<string, { mistakes: number; times: number }>();
  for (const word of written) {
    const known = found.get(word);
    if (known) known.times += 1;
    else if (Math.abs(word.length - asked.length) <= most && word !== asked)
      found.set(word, { mistakes: mistakesBetween(asked, word), times: 1 });
  }
  const near = [...found].filter(([, { mistakes }]) => mistakes <= most);
  return near.sort(([, a], [, b]) => a.mistakes - b.mistakes || b.times - a.times)[0]?.[0];
}
