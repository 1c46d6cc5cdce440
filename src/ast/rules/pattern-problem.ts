import { limits } from '../basics/limits.ts';
import { countCharacters } from '../basics/text.ts';
import { countPlaces } from './pattern.ts';

/** What the subset leaves out, as tokens of a valid regular expression; classes and escapes are skipped whole. */
const construct = /\[(?:\\.|[^\]\\])*\]|\\(?:[1-9]|[bBk])|\(\?(?!:)[<a-zA-Z=!-]{0,2}|\\.|./gsu;

/** What is wrong with a pattern, as the end of a sentence about the attribute. */
export function patternProblem(source: string): string | undefined {
  if (source === '' || countCharacters(source) > limits.patternLength) {
    return `must have 1 to ${limits.patternLength} characters`;
  }
  if (!isRegularExpression(source)) return 'must be a regular expression';
  for (const [part] of source.matchAll(construct)) {
    if (/^\\[1-9bBk]$/.test(part))
      return `must not use ${part}: back references and word edges are not supported`;
    if (part.startsWith('(?')) {
      return `must not use "${part}": of the groups only (…) and (?:…) are supported`;
    }
  }
  if (countPlaces(source) > limits.patternPlaces) {
    return `must be simpler: with its repeats written out it may have at most ${limits.patternPlaces} places (use the length limits for long texts)`;
  }
  return undefined;
}

/** Whether the platform reads it; it is never asked to match with it. */
function isRegularExpression(source: string): boolean {
  try {
    RegExp(source, 'u');
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
