import { formLimits } from '../basics/limits.ts';
import { countCharacters } from '../basics/text.ts';
import { countPatternStates } from './pattern.ts';

/** Tokens of a valid regular expression that the subset excludes. Skips whole classes and escapes. */
const construct = /\[(?:\\.|[^\]\\])*\]|\\(?:[1-9]|[bBk])|\(\?(?!:)[<a-zA-Z=!-]{0,2}|\\.|./gsu;

/** Returns what is wrong with a pattern, as the end of a sentence about the attribute. */
export function patternProblem(source: string): string | undefined {
  if (source === '' || countCharacters(source) > formLimits.patternLength)
    return `must have 1 to ${formLimits.patternLength} characters`;
  if (!isRegularExpression(source)) return 'must be a regular expression';
  for (const [part] of source.matchAll(construct)) {
    if (/^\\[1-9bBk]$/.test(part))
      return `must not use ${part}: backreferences and word boundaries are not supported`;
    if (part.startsWith('(?')) return `must not use "${part}": only the groups (…) and (?:…) are supported`;
  }
  if (countPatternStates(source) > formLimits.patternPlaces)
    return `must be simpler: at most ${formLimits.patternPlaces} states after repeats are expanded (use the length limits for long answers)`;
  return undefined;
}

/** Returns whether the JavaScript engine accepts the pattern. It is never used for matching. */
function isRegularExpression(source: string): boolean {
  try {
    RegExp(source, 'u');
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
