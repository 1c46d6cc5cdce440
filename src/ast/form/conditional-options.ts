import type { Condition } from '../basics/condition.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import type { BrokenRule } from '../rules/problem.ts';
import type { PlainAnswer } from '../types/rules.ts';
import type { GroupRow } from './fields.ts';
import {
  type Element,
  type Form,
  type InputElement,
  inputAllowsOther,
  inputOptionsById,
  isInput,
  optionsOf,
  walkElements,
} from './tree.ts';

/** Evaluates a condition with the other answers. A missing condition counts as true. */
export type ConditionTest = (condition: Condition | undefined, row: GroupRow | undefined) => boolean;

/**
 * Returns whether an option ID can be chosen. Free text always can.
 * @throws TooMuchWork
 */
export const isOptionOffered = (
  input: InputElement,
  option: unknown,
  holds: ConditionTest,
  row: GroupRow | undefined,
): boolean => holds(inputOptionsById(input).get(option)?.show_when, row);

export const hasConditionalOptions = (element: Element): boolean =>
  inputOptionsById(element)
    .values()
    .some(({ show_when: when }) => when !== undefined);

export const formHasConditionalOptions = memoizeByObject((form: Form): boolean =>
  walkElements(form).some(({ element }) => hasConditionalOptions(element)),
);

/** Conditional options (docs/decisions/0067). Each function accepts any element. */
export const conditionalOptionFunctions = {
  hasConditionalOptions,
  /**
   * Returns whether any option can be chosen. Otherwise, the question is not asked.
   * @throws TooMuchWork
   */
  hasOffer: (element: Element, holds: ConditionTest, row: GroupRow | undefined): boolean =>
    !hasConditionalOptions(element) ||
    !isInput(element) ||
    inputAllowsOther(element) ||
    optionsOf(element).some(({ id }) => isOptionOffered(element, id, holds, row)),
  /**
   * Returns the parts of an answer that are still offered.
   * @throws TooMuchWork
   */
  offeredOf(input: InputElement, answer: unknown, holds: ConditionTest, row: GroupRow | undefined): unknown {
    if (!hasConditionalOptions(input)) return answer;
    const isIn = (option: unknown): boolean => isOptionOffered(input, option, holds, row);
    if (Array.isArray(answer)) return answer.filter(isIn);
    return isIn(answer) ? answer : undefined;
  },
  /**
   * Returns the rule that a valid answer breaks if one of its options is not offered.
   * @throws TooMuchWork
   */
  withdrawn(
    input: InputElement,
    answer: PlainAnswer,
    holds: ConditionTest,
    row: GroupRow | undefined,
  ): BrokenRule | undefined {
    if (!hasConditionalOptions(input)) return undefined;
    const chosen: readonly unknown[] = [answer].flat();
    const gone = optionsOf(input).find(
      ({ id }) => chosen.includes(id) && !isOptionOffered(input, id, holds, row),
    );
    return gone && { rule: 'withdrawn', values: { option: gone.label } };
  },
} as const;
