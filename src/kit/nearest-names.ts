/** Words of at least this many letters may have two typos, shorter words one. */
const longWord = 8;

/** Returns how many letters of a word may be wrong, missing, extra, or swapped with a neighbor. */
export const allowedTypos = (word: string): number => (word.length >= longWord ? 2 : 1);

/**
 * Returns the number of letters to change, add, remove or swap with a neighbor to turn one word into the
 * other (Damerau-Levenshtein).
 */
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

/**
 * Returns the names that a misspelled one may mean, closest first.
 * @param most the maximum number of typos in a name.
 */
export function findNearestNames(
  given: string,
  names: readonly string[],
  most = (name: string): number => Math.max(2, Math.floor(name.length / 4)),
): string[] {
  return names
    .map((name) => ({ name, far: mistakesBetween(given, name) }))
    .filter(({ name, far }) => far <= most(name))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ name }) => name);
}
