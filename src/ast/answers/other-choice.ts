/** The value of the choice that stands for an answer besides the options. */
export const otherChoice = '_other';

/** The name of the control for the text of that answer. */
export function otherName(name: string): string {
  return `${otherChoice}[${name}]`;
}
