import { now } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import {
  type AskProviderServices,
  askProvider,
  isFresh,
  personNameOf,
  readClaims,
  requireAllowedEmail,
  requireProvider,
} from './identity-provider.ts';
import type { Respondent } from './respondent-shape.ts';
import { limitAttempts } from './sign-in.ts';

/** The start of the OAuth state of respondents. It tells their callback from that of members. */
const statePrefix = 'form.';

/** The path to which the callback of the console passes the answer for a respondent. */
export const respondentCallbackPath = '/f/signed-in';

/** Returns where the callback of the console leads for a respondent; undefined for a member. */
export function respondentCallbackOf(url: string): string | undefined {
  const { pathname, search, searchParams } = new URL(url, 'http://form');
  return pathname === '/app/signed-in' && searchParams.get('state')?.startsWith(statePrefix)
    ? `${respondentCallbackPath}${search}`
    : undefined;
}

/** Per minute and address. Higher than for members, because a whole class or office may share one. */
const triesOfAddress = 300;
const stateCookie = 'formloom.respondent';
/** How long a respondent stays signed in to a form. */
const entrySeconds = 12 * 3_600;

type FormKey = { readonly workspaceId: string; readonly id: string };
type Entry = FormKey & { readonly respondent: Respondent; readonly until: number };
type SignInState = Parameters<typeof readClaims>[3] & FormKey & { readonly next: string };

const isSecure = ({ config }: AskProviderServices): boolean => config.publicUrl.startsWith('https:');

const cookieOf = (context: AskProviderServices, name: string, value: string, path: string, seconds: number) =>
  `${isSecure(context) ? '__Secure-' : ''}${name}=${value}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=Lax${isSecure(context) ? '; Secure' : ''}`;

/**
 * Returns the values of a cookie, also of the one for https (`__Secure-`). A browser may send several, one for each
 * path.
 */
export const cookieValues = (cookies: string | undefined, name: string): string[] =>
  (cookies ?? '').split(/;\s*/).flatMap((cookie) => {
    const [given, value = ''] = cookie.split('=', 2);
    return given === name || given === `__Secure-${name}` ? [value] : [];
  });

/** Returns the first value that we sealed and that has not expired. Cookies can have any other value. */
function unsealFirst(vault: Vault, values: readonly string[]): unknown {
  for (const value of values) {
    try {
      const found = JSON.parse(vault.unseal('respondents', Buffer.from(value, 'base64url'))) as Entry;
      if (isFresh(found)) return found;
    } catch {
      // Anyone can send a cookie with this name: one that was not sealed here counts as none.
      continue;
    }
  }
  return undefined;
}

const seal = (vault: Vault, value: SignInState | Entry): string =>
  vault.seal('respondents', JSON.stringify(value)).toString('base64url');

/**
 * Starts the sign-in of a respondent at the provider that members use.
 * @param next the path of the form to return to.
 * @throws ApiError as startProviderSignIn.
 */
export async function startRespondentSignIn(
  context: AskProviderServices,
  { workspaceId, id }: FormKey,
  { address, next }: { address: string; next: string },
): Promise<{ url: string; cookie: string }> {
  await limitAttempts(context, `respondent's question from ${address}`, triesOfAddress);
  const { url, signIn } = await askProvider(context, statePrefix);
  const value = seal(context.vault, { ...signIn, workspaceId, id, next });
  const seconds = Math.ceil((signIn.until - now().getTime()) / 1_000);
  return { url, cookie: cookieOf(context, stateCookie, value, respondentCallbackPath, seconds) };
}

/**
 * Identifies the respondent by the provider's answer. Creates no account and no session.
 * @param answer the query string of the callback.
 * @returns the form to return to, and the cookie that only this form gets.
 * @throws ApiError unauthorized, forbidden.
 */
export async function finishRespondentSignIn(
  context: AskProviderServices,
  { answer, cookies, address }: { answer: string; cookies: string | undefined; address: string },
): Promise<{ next: string; cookie: string }> {
  const provider = requireProvider(context);
  await limitAttempts(context, `respondent's answer from ${address}`, triesOfAddress);
  const signIn = unsealFirst(context.vault, cookieValues(cookies, stateCookie)) as SignInState | undefined;
  const claims = await readClaims(context, provider, answer, signIn);
  const email = requireAllowedEmail(provider, claims);
  const { workspaceId, id, next } = signIn!;
  const [formPath] = /^\/f\/[^/?#]+/.exec(next)!;
  const value = seal(context.vault, {
    workspaceId,
    id,
    respondent: { email, name: personNameOf(claims, email), subject: claims.sub },
    until: now().getTime() + entrySeconds * 1_000,
  });
  return { next, cookie: cookieOf(context, `${stateCookie}.${id}`, value, formPath, entrySeconds) };
}

/** Returns the respondent who signed in to this form in this browser; undefined if there is none. */
export function readRespondent(
  vault: Vault,
  { workspaceId, id }: FormKey,
  cookies: string | undefined,
): Respondent | undefined {
  const entry = unsealFirst(vault, cookieValues(cookies, `${stateCookie}.${id}`)) as Entry | undefined;
  return entry?.id === id && entry.workspaceId === workspaceId ? entry.respondent : undefined;
}
