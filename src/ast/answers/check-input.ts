import { spendWork } from '../basics/work.ts';
import { type InputType, inputRules } from '../form/input-rules.ts';
import { tidyAnswer } from '../form/tidy.ts';
import type { InputElement } from '../form/tree.ts';
import type { RuleContext } from '../rules/check-rules.ts';
import { type CheckedAnswer, checkCosts, type InputRules, isListKind, refuseAnswer } from '../types/rules.ts';

type AttributesOf<Type extends InputType> = Extract<InputElement, { type: Type }>['attrs'];

const rulesOf: { readonly [Type in InputType]: InputRules<AttributesOf<Type>> } = inputRules;

/**
 * Checks one raw, non-blank value by the rules of its input's type (docs/rules.md 10) and by the author's
 * rules.
 * @throws TooMuchWork
 */
export function checkAnswer(input: InputElement, value: unknown, context: RuleContext): CheckedAnswer {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const { kind, check } = rulesOf[input.type] as InputRules<InputElement['attrs']>;
  if (!isListKind(kind) && Array.isArray(value) && value.length > 1) return refuseAnswer('once');
  spendWork(context.work, checkCosts.answer);
  return check(input.attrs, tidyAnswer(input, value, context.work), context);
}
