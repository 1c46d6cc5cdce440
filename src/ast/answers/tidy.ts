import { inputRules } from '../input-rules.ts';
import { type InputElement, takesOther } from '../tree.ts';
import type { InputRules } from '../types/rules.ts';
import { spend, type Work } from '../work.ts';
import { optionsById } from './options.ts';

/** What it costs to tidy a character of a text, where lines end in it too, and a choice, in the steps of work.ts. */
const steps = { character: 0.25, characterOfLines: 1, choice: 10 } as const;

/** The answer as it is stored: conditions and rules see the same text, however it was sent. @throws TooMuchWork */
export function tidyAnswer(input: InputElement, value: unknown, work: Work): unknown {
  const { format, tidy: tidyOwn }: InputRules = inputRules[input.type];
  if (tidyOwn) return tidyOwn(value, work);
  if (typeof value === 'string') {
    spend(work, value.length * (value.includes('\r') ? steps.characterOfLines : steps.character));
  }
  if (typeof value === 'string' && format) return format.tidy(value);
  if (!takesOther(input)) return value;
  const tidy = (choice: unknown): unknown =>
    typeof choice === 'string' && !optionsById(input.attrs).has(choice) ? choice.trim() : choice;
  if (!Array.isArray(value)) return tidy(value);
  spend(work, value.length * steps.choice);
  return value.map(tidy);
}
