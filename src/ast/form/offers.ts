import type { Condition } from '../basics/condition.ts';
import { factOf } from '../basics/fact-of.ts';
import type { BrokenRule } from '../rules/problem.ts';
import type { PlainAnswer } from '../types/rules.ts';
import type { Row } from './fields.ts';
import {
  type Element,
  type Form,
  type InputElement,
  isInput,
  optionsIn,
  optionsOf,
  takesOther,
  walkElements,
} from './tree.ts';

/** Evaluates a condition with the other answers. A missing condition is true. */
export type Holds = (condition: Condition | undefined, row: Row | undefined) => boolean;

/**
 * Returns whether an option ID can be chosen. A free text always can.
 * @throws TooMuchWork
 */
export const isOffered = (
  input: InputElement,
  option: unknown,
  holds: Holds,
  row: Row | undefined,
): boolean => holds(optionsIn(input).get(option)?.show_when, row);

export const offersByCondition = (element: Element): boolean =>
  optionsIn(element)
    .values()
    .some(({ show_when: when }) => when !== undefined);

export const offersIn = factOf((form: Form): boolean =>
  walkElements(form).some(({ element }) => offersByCondition(element)),
);

/** Conditional options (docs/decisions/0067). Each function accepts any element. */
export const offers = {
  offersByCondition,
  /**
   * Returns whether any option can be chosen. A question without one is not asked.
   * @throws TooMuchWork
   */
  hasOffer: (element: Element, holds: Holds, row: Row | undefined): boolean =>
    !offersByCondition(element) ||
    !isInput(element) ||
    takesOther(element) ||
    optionsOf(element).some(({ id }) => isOffered(element, id, holds, row)),
  /**
   * Returns the part of an answer that is still offered.
   * @throws TooMuchWork
   */
  offeredOf(input: InputElement, answer: unknown, holds: Holds, row: Row | undefined): unknown {
    if (!offersByCondition(input)) return answer;
    const isIn = (option: unknown): boolean => isOffered(input, option, holds, row);
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
    holds: Holds,
    row: Row | undefined,
  ): BrokenRule | undefined {
    if (!offersByCondition(input)) return undefined;
    const chosen: readonly unknown[] = [answer].flat();
    const gone = optionsOf(input).find(({ id }) => chosen.includes(id) && !isOffered(input, id, holds, row));
    return gone && { rule: 'withdrawn', values: { option: gone.label } };
  },
} as const;
