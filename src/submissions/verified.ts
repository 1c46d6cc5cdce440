import { type AnswerError, type Answers, toAnswerError } from '#ast/answers/check-answers.ts';
import { getProperty } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { type Form, type InputElement, walkElements } from '#ast/form/tree.ts';

/** When the visitor verified the address of each email element, by element id, in ISO 8601. */
export type VerifiedAddresses = Readonly<Record<string, string>>;

/** Lists the email elements whose address must be verified by a code. */
export const listVerifiedElements = memoizeByObject((form: Form): readonly InputElement[] =>
  [...walkElements(form)].flatMap(({ element }) =>
    element.type === 'email' && element.attrs.verify === true ? [element] : [],
  ),
);

/** Returns an error for each address that is not verified. An address equal to the stored one needs no code. */
export const findUnverified = (
  form: Form,
  answers: Answers,
  verified: VerifiedAddresses,
  stored: Answers = {},
): AnswerError[] =>
  listVerifiedElements(form).flatMap((element) => {
    const { id, label } = element.attrs;
    const answer = getProperty(answers, id);
    if (answer === undefined || Object.hasOwn(verified, id) || answer === getProperty(stored, id)) return [];
    return [toAnswerError(form, { field: id, problem: { rule: 'unverified', label } })];
  });

/** Returns the times to store, as JSON: those of the answers. */
export function formatVerified(verified: VerifiedAddresses | undefined, answers: Answers): string | null {
  const times = Object.entries(verified ?? {}).filter(([id]) => Object.hasOwn(answers, id));
  return times.length === 0 ? null : JSON.stringify(Object.fromEntries(times));
}

type Verifiable = { readonly answers: Answers; readonly verified: VerifiedAddresses | null };

/** Returns the times after a change: those of unchanged addresses, and those that are new. */
export function keepVerified(after: Verifiable, before: Verifiable): VerifiedAddresses | null {
  const times = Object.entries(after.verified ?? {}).filter(
    ([id, time]) =>
      getProperty(after.answers, id) === getProperty(before.answers, id) ||
      time !== getProperty(before.verified ?? {}, id),
  );
  return times.length === 0 ? null : Object.fromEntries(times);
}
