import { limits } from '../../basics/limits.ts';
import { parseFormula } from './parse.ts';
import type { FormulaProblem } from './program.ts';

/** What is wrong with a formula by itself, as the end of a sentence about the attribute, with the place. */
export function formulaProblem(text: string): string | undefined {
  if (text.length > limits.formulaCharacters)
    return `must have at most ${limits.formulaCharacters} characters`;
  const parsed = parseFormula(text);
  return parsed.ok ? undefined : sayFormulaProblem(parsed.problem);
}

/** The place that a sentence about a formula names, in characters from 0; undefined when it names none. */
export function placeOfProblem(message: string): number | undefined {
  const [, place] = /\(character (\d+)\)/.exec(message) ?? [];
  return place === undefined ? undefined : Number(place) - 1;
}

/** A problem with its place, as people count characters: from 1. */
export const sayFormulaProblem = ({ message, at }: FormulaProblem): string =>
  `${message} (character ${at + 1})`;
