import { now } from '#kit/clock.ts';

/** However often it is used, a session ends so long after its sign-in; one that is not used ends after a week. */
const longestSessionMs = 30 * 86_400_000;

/** A sign-in whose second step is not taken by then begins anew. */
const secondStepMs = 10 * 60_000;

type Found = {
  session: { createdAt: Date; secondFactorAt?: Date | null | undefined };
  user: { secondFactor?: boolean | null | undefined };
};

/** Whether the second step of the sign-in has yet to be taken. */
export const awaitsSecondStep = ({ session, user }: Found): boolean =>
  user.secondFactor === true && !session.secondFactorAt;

export const isSessionOver = (found: Found): boolean =>
  now().getTime() - found.session.createdAt.getTime() >=
  (awaitsSecondStep(found) ? secondStepMs : longestSessionMs);

/** Until when a person's temporary password opens its own change; undefined where they chose theirs. */
export const temporaryUntil = (user: object): Date | undefined =>
  'temporaryUntil' in user && user.temporaryUntil instanceof Date ? user.temporaryUntil : undefined;

/** Whether it opens nothing any more: neither a sign-in, nor what was signed in to with it. */
export function isTemporaryOver(user: object): boolean {
  const until = temporaryUntil(user);
  return until !== undefined && until <= now();
}
