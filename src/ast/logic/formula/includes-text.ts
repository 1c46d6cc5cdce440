import { spend, type Work } from '../../basics/work.ts';

/** Up to so many pairs of characters the platform's own search is quick in the worst case too. */
const fewPairs = 100_000;

/** What a character costs in that search, and in ours, in the steps of work.ts. */
const steps = { character: 0.35, ownCharacter: 1.5 } as const;

/**
 * Whether the text holds the part, in time linear in the text: the platform's search looks at some texts once for each
 * character of the part. @throws TooMuchWork
 */
export function includesText(text: string, part: string, work: Work): boolean {
  if (text.length * part.length <= fewPairs) {
    spend(work, text.length * steps.character);
    return text.includes(part);
  }
  spend(work, (text.length + part.length) * steps.ownCharacter);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    while (matched > 0 && text.charCodeAt(at) !== part.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (text.charCodeAt(at) === part.charCodeAt(matched)) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each beginning of the part, how much of its end is the part's beginning again (Knuth, Morris and Pratt). */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at += 1) {
    while (matched > 0 && part.charCodeAt(at) !== part.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (part.charCodeAt(at) === part.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
