import { spendWork, type WorkBudget } from '../../basics/work.ts';

/** For up to this many pairs of characters, the built-in search is fast even in the worst case. */
const fewPairs = 100_000;

/** The cost of a character in the built-in search and in this one, in steps of work (work.ts). */
const steps = { character: 0.35, ownCharacter: 1.5 } as const;

/**
 * Returns whether the text contains the part, in time that is linear in the text. The built-in search scans
 * some texts once for each character of the part.
 * @throws TooMuchWork
 */
export function includesText(text: string, part: string, work: WorkBudget): boolean {
  if (text.length * part.length <= fewPairs) {
    spendWork(work, text.length * steps.character);
    return text.includes(part);
  }
  spendWork(work, (text.length + part.length) * steps.ownCharacter);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    while (matched > 0 && text.charCodeAt(at) !== part.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (text.charCodeAt(at) === part.charCodeAt(matched)) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** Returns the border lengths of all prefixes of the part (Knuth, Morris and Pratt). */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at += 1) {
    while (matched > 0 && part.charCodeAt(at) !== part.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (part.charCodeAt(at) === part.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
