import { tidyChoices } from '../basics/options.ts';
import { spendWork, type WorkBudget } from '../basics/work.ts';
import type { InputRules } from '../types/rules.ts';
import { inputRules } from './input-rules.ts';
import type { InputElement } from './tree.ts';

/**
 * The cost of a character of a single-line text, of a character of a multi-line text, and of a choice, in
 * steps of work (work.ts).
 */
const steps = { character: 0.25, characterOfLines: 1, choice: 10 } as const;

/**
 * Returns the answer in the form in which it is stored, so that conditions and rules use that form too.
 * @throws TooMuchWork
 */
export function tidyAnswer(input: InputElement, value: unknown, work: WorkBudget): unknown {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const { kind, format, tidy: tidyOwn } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  if (tidyOwn) return tidyOwn(value, work, input.attrs);
  if (typeof value === 'string')
    spendWork(work, value.length * (value.includes('\r') ? steps.characterOfLines : steps.character));
  if (typeof value === 'string' && format) return format.tidy(value);
  if (kind !== 'choice' && kind !== 'choices' && kind !== 'order') return value;
  if (Array.isArray(value)) spendWork(work, value.length * steps.choice);
  return tidyChoices(input.attrs, value);
}
