import { otherChoice } from '#ast/basics/options.ts';
import { parseMatrixRowName } from '#ast/form/fields.ts';

/**
 * Returns the name of the question that a control belongs to, including a control of an option or a matrix
 * row.
 */
export function questionOf(name: string): string {
  if (name.startsWith(`${otherChoice}[`)) return name.slice(otherChoice.length + 1, -1);
  return parseMatrixRowName(name)?.field ?? name;
}
