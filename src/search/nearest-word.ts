/** So many letters a word has at least to be taken for another one that is written a little differently. */
export const leastMistaken = 4;
/** A word of so many letters may have two mistakes, a shorter one has one. */
const longWord = 8;

/** How many letters may be wrong, missing, too many, or exchanged with their neighbour. */
export const mostMistakes = (word: string): number => (word.length >= longWord ? 2 : 1);

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

/** How many letters are changed, added, taken away or exchanged with their neighbour to make one word of the other. */
export function mistakesBetween(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      let least = Math.min(last[at]! + 1, next[at - 1]! + 1, last[at - 1]! + Number(!isSame));
      if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
        least = Math.min(least, before[at - 2]! + 1);
      next.push(least);
    }
    [before, last] = [last, next];
  }
  return last.at(-1)!;
}
