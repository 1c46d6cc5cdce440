/** How many letters are added, left out or changed between two words. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at += 1)
      next.push(Math.min(row[at + 1]! + 1, next[at]! + 1, row[at]! + (one[index] === other[at] ? 0 : 1)));
    row = next;
  }
  return row[other.length]!;
}

/** The names that a misspelt one may have meant, the likeliest first; none where it is like none of them. */
export function nearest(given: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, far: distance(given, name) }))
    .filter(({ name, far }) => far <= Math.max(2, Math.floor(name.length / 4)))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ name }) => name);
}
