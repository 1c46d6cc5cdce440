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

/** Whether a condition holds beside the other answers; one that is not there does. */
export type Holds = (condition: Condition | undefined, row: Row | undefined) => boolean;

/** Whether an option can be chosen, by its id; a text of the visitor's own always can. @throws TooMuchWork */
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

/** Options by condition (docs/decisions/0067). Each function may be asked of any element. */
export const offers = {
  offersByCondition,
  /** Whether there is anything to choose: a question without it is not asked. @throws TooMuchWork */
  hasOffer: (element: Element, holds: Holds, row: Row | undefined): boolean =>
    !offersByCondition(element) ||
    !isInput(element) ||
    takesOther(element) ||
    optionsOf(element).some(({ id }) => isOffered(element, id, holds, row)),
  /** What of an answer counts. @throws TooMuchWork */
  offeredOf(input: InputElement, answer: unknown, holds: Holds, row: Row | undefined): unknown {
    if (!offersByCondition(input)) return answer;
    const isIn = (option: unknown): boolean => isOffered(input, option, holds, row);
    if (Array.isArray(answer)) return answer.filter(isIn);
    return isIn(answer) ? answer : undefined;
  },
  /** The first option of a right answer that is not offered. @throws TooMuchWork */
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
