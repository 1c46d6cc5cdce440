import { formLimits } from '../../basics/limits.ts';
import { parseFormula } from './parse.ts';
import type { FormulaProblem } from './program.ts';

/** Returns what is wrong with a formula on its own, as the end of a sentence, with the position. */
export function formulaProblem(text: string): string | undefined {
  if (text.length > formLimits.formulaCharacters)
    return `must have at most ${formLimits.formulaCharacters} characters`;
  const parsed = parseFormula(text);
  return parsed.ok ? undefined : formatFormulaProblem(parsed.problem);
}

/**
 * Returns the position that a sentence about a formula mentions, in characters from 0. Undefined if it
 * mentions none.
 */
export function problemPosition(message: string): number | undefined {
  const [, place] = /\(character (\d+)\)/.exec(message) ?? [];
  return place === undefined ? undefined : Number(place) - 1;
}

/** Formats a problem with its position, counted from 1. */
export const formatFormulaProblem = ({ message, at }: FormulaProblem): string =>
  `${message} (character ${at + 1})`;
