import { urlProblem } from '#rules/url-problem.ts';
import { bareHost, openAddressGuard, portOf } from '../address-guard.ts';
import { resolveName } from '../resolve-name.ts';
import { addressesToDial, BlockedTarget, type ResolveName } from './addresses.ts';

export type TargetOptions = {
  /** CIDRs that are let through although they are not public. */
  allowNetworks: readonly string[];
  /** Where this service itself is reached. */
  ownUrls?: readonly string[];
  /** Every address of a name; DNS when left out. */
  resolve?: ResolveName;
};

/** The one sentence about every address that is refused, whatever stands behind it. */
export const blockedTarget = 'This address is not allowed: a receiver must be publicly reachable.';

/**
 * Says what is wrong with a URL that somebody wants to save, in a sentence. Every blocked target has the same
 * sentence, so that it does not tell what lies behind. A name that cannot be resolved is accepted: its DNS may be
 * set up later, and every connection is checked again.
 */
export async function checkTarget(url: string, options: TargetOptions): Promise<string | undefined> {
  const problem = textProblem(url);
  if (problem !== undefined) return problem;
  const { allowNetworks, ownUrls, resolve = resolveName } = options;
  const target = new URL(url);
  try {
    const guard = openAddressGuard(allowNetworks, ownUrls);
    await addressesToDial(guard, resolve, bareHost(target.hostname), portOf(target));
    return undefined;
  } catch (error) {
    return error instanceof BlockedTarget ? blockedTarget : undefined;
  }
}

/** What is wrong with a URL by its text alone. Port 0 cannot be dialled. */
export const textProblem = (text: string): string | undefined =>
  urlProblem(text) ?? (URL.parse(text)?.port === '0' ? blockedTarget : undefined);
