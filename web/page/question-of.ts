import { otherChoice } from '#ast/basics/options.ts';
import { parseCellName } from '#ast/form/fields.ts';

/** The name of the question that a control belongs to: its own, or that of the options or rows among which it stands. */
export function questionOf(name: string): string {
  if (name.startsWith(`${otherChoice}[`)) return name.slice(otherChoice.length + 1, -1);
  return parseCellName(name)?.field ?? name;
}
