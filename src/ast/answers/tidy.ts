import { type InputElement, optionsOf, takesOther } from '../tree.ts';
import { answerDefinitions } from './kinds.ts';

/** The answer as it is stored: conditions and rules see the same text, however it was sent. */
export function tidyAnswer(input: InputElement, value: unknown): unknown {
  const definition = answerDefinitions[input.type];
  if (typeof value === 'string' && definition.kind === 'text') return definition.format.tidy(value);
  if (!takesOther(input)) return value;
  const tidy = (choice: unknown): unknown =>
    typeof choice === 'string' && !optionsOf(input).includes(choice) ? choice.trim() : choice;
  return Array.isArray(value) ? value.map(tidy) : tidy(value);
}
