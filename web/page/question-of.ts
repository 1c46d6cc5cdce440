import { otherChoice } from '#ast/answers/other-choice.ts';

/** The name of the question that a control belongs to: its own, or that of the options beside which it stands. */
export function questionOf(name: string): string {
  return name.startsWith(`${otherChoice}[`) ? name.slice(otherChoice.length + 1, -1) : name;
}
