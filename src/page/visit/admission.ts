import { createHash } from 'node:crypto';
import { fillTemplate } from '#ast/basics/words.ts';
import { closureErrors, findClosure, type LiveForm } from '#forms/live-form.ts';
import type { InvitationLinkResult } from '#invitations/admission.ts';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { verifyPassword } from '#kit/password-hash.ts';
import type { Vault } from '#kit/vault.ts';
import { isSubmissionKeyUsed } from '#submissions/repeat.ts';
import { formFullMessage, isFormFull } from '#submissions/response-limit.ts';
import { submissionKeyOfRespondent } from '#submissions/submission-keys.ts';
import { enforceRateLimit } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { cookieValues } from '#workspaces/sign-in/respondents.ts';
import type { Words } from '../words/words.ts';

/**
 * The reasons to refuse a visitor. A form that was never published returns 404, like a missing form. A form
 * that was published before and is not now returns 410 (docs/rules.md 5).
 */
const refusals = {
  ...closureErrors,
  full: ['gone', formFullMessage],
  invited: ['forbidden', 'This form is open to invited people only.'],
  password: ['forbidden', 'This form requires a password.'],
  link: ['not_found', 'This link is invalid or has expired.'],
  used: ['gone', 'This invitation has already been answered.'],
  signIn: ['unauthorized', 'This form requires you to sign in. Open its page in a browser.'],
  responded: ['gone', 'You have already responded to this form.'],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, string]>>;

export type RefusalReason = keyof typeof refusals;
export const refusalReasons = Object.keys(refusals) as readonly RefusalReason[];

/** Why a visitor is refused. The page shows the reason in its own language. */
export type Refusal = { reason: RefusalReason; error: ApiError };

/** Reasons for which the author's `settings.closed_message` replaces the default message. */
const worded: ReadonlySet<RefusalReason> = new Set(['closed', 'early', 'full']);

/**
 * Returns why the visitor cannot see or submit the form now, or undefined if they can.
 * @param cookies the `Cookie` header of the request.
 * @param came `arrival`: set if the visitor opened an invitation link; `entry`: the entry token in the URL of
 * an embedded page; `respondent`: the person who has signed in.
 */
export async function findRefusal(
  { database, vault }: { database: Database; vault: Vault },
  live: LiveForm | undefined,
  cookies: string | undefined,
  {
    arrival,
    entry,
    respondent,
  }: {
    arrival?: InvitationLinkResult | undefined;
    entry?: string | undefined;
    respondent?: Respondent | undefined;
  } = {},
): Promise<Refusal | undefined> {
  const reason = findReason(live, arrival);
  if (live === undefined) return refusal('absent');
  if (reason !== undefined) return refusal(reason, live);
  // Without the password, a visitor must not learn anything else about the form, for example that it is full.
  if (live.settings.access === 'password' && !hasEntered(vault, live, cookies, entry))
    return refusal('password');
  if (live.settings.access === 'organisation' && !respondent) return refusal('signIn');
  const key = keyOfRespondent(live, respondent);
  // Before the response limit, so that the person learns that their response was received.
  if (key !== undefined && (await isSubmissionKeyUsed(database, live, key))) return refusal('responded');
  if (live.settings.waiting_list) return undefined;
  return (await isFormFull(database, live)) ? refusal('full', live) : undefined;
}

/** Returns the key of the only submission of a respondent; undefined if they can respond several times. */
export const keyOfRespondent = (
  { id, settings }: Pick<LiveForm, 'id' | 'settings'>,
  respondent: Respondent | undefined,
): string | undefined =>
  respondent && settings.one_per_respondent ? submissionKeyOfRespondent(id, respondent.subject) : undefined;

function findReason(live: LiveForm | undefined, arrival?: InvitationLinkResult): RefusalReason | undefined {
  const closure = findClosure(live);
  if (live === undefined || closure !== undefined) return closure ?? 'absent';
  const { access = 'public' } = live.settings;
  if (arrival?.kind === 'void') return 'link';
  if (arrival?.kind === 'used') return 'used';
  // A form that requires a password but has none set refuses every visitor.
  if ((access === 'invited' && !arrival) || (access === 'password' && live.passwordHash === null))
    return 'invited';
  return undefined;
}

function refusal(reason: RefusalReason, live?: LiveForm): Refusal {
  const [code, message] = refusals[reason];
  const own = worded.has(reason) ? live?.settings.closed_message : undefined;
  return { reason, error: new ApiError(code, own ?? message) };
}

/** What a password protects: a form, or a link to its results. */
type Protected = Pick<LiveForm, 'workspaceId' | 'id' | 'passwordHash'>;

/** The limits of password attempts per minute. An attempt counts before the password is checked. */
const passwordTries = { ofAddress: 10, ofForm: 300 } as const;

/**
 * The parameter that admits a page embedded on another site, where browsers may block our cookie. Only the
 * URL of the frame has it; posts repeat it.
 */
export const embedAdmissionParameter = '_entry';

/** How long an entered password is remembered. */
const entrySeconds = 12 * 3_600;

/**
 * Verifies a password.
 * @param attempt `path` is where the cookie is sent; `address` as returned by ipRateLimitKey; `publicUrl` decides whether the cookie is for
 * https only.
 * @returns the `Set-Cookie` header that admits this browser, and its token as the value of `_entry`;
 * undefined if the password is wrong.
 * @throws ApiError rate_limit_exceeded.
 */
export async function verifyFormPassword(
  { vault, requestCounter }: { vault: Vault; requestCounter: RequestCounter },
  live: Protected,
  attempt: { password: string; path: string; address: string; publicUrl: string },
): Promise<{ cookie: string; entry: string } | undefined> {
  await enforceRateLimit(
    requestCounter,
    `password of ${live.id} from ${attempt.address}`,
    passwordTries.ofAddress,
  );
  await enforceRateLimit(requestCounter, `password of ${live.id}`, passwordTries.ofForm);
  const { passwordHash } = live;
  if (passwordHash === null || !(await verifyPassword(passwordHash, attempt.password))) return undefined;
  const expires = String(Math.floor(now().getTime() / 1000) + entrySeconds);
  const entry = `${expires}.${vault.sign('form passwords', entryParts(live, expires))}`;
  // An embedded form is third-party content. Browsers send its cookie only with these attributes, and only
  // over https.
  const isSecure = attempt.publicUrl.startsWith('https:');
  const site = isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax';
  const cookie = `${isSecure ? '__Secure-' : ''}${cookieName(live)}=${entry}; Max-Age=${entrySeconds}; Path=${attempt.path}; HttpOnly; ${site}`;
  return { cookie, entry };
}

export type WrongPassword = {
  readonly problem: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
};

/** Verifies a password as verifyFormPassword, and returns the problem in the words of the page. */
export async function tryPassword(
  context: { vault: Vault; requestCounter: RequestCounter },
  { live, words }: { live: Protected; words: Pick<Words, 'passwordWrong' | 'passwordLimited'> },
  attempt: Parameters<typeof verifyFormPassword>[2],
): Promise<{ readonly cookie: string; readonly entry: string } | WrongPassword> {
  try {
    const entered = await verifyFormPassword(context, live, attempt);
    return entered ?? { problem: words.passwordWrong, status: 403, headers: {} };
  } catch (error) {
    if (!(error instanceof ApiError) || error.retryAfter === undefined) throw error;
    const minutes = Math.ceil(error.retryAfter / 60);
    return {
      problem: fillTemplate(words.passwordLimited, { minutes }),
      status: error.status,
      headers: error.headers,
    };
  }
}

/** `__Secure-`: a page loaded over http cannot set it. `__Host-` would send it to other forms too. */
const cookieName = ({ id }: Protected): string => `formloom.form.${id}`;

/**
 * Returns the signed parts of an entry. They include the password hash, so changing the password invalidates
 * every entry.
 */
const entryParts = ({ workspaceId, id, passwordHash }: Protected, expires: string): string[] => [
  workspaceId,
  id,
  expires,
  createHash('sha256').update(String(passwordHash)).digest('base64url'),
];

/** Returns whether this browser has entered the password, by its cookies or the entry token in the URL. */
export function hasEntered(vault: Vault, live: Protected, cookies = '', entry = ''): boolean {
  return [...cookieValues(cookies, cookieName(live)), entry].some((given) => {
    const [expires = '', signature = ''] = given.split('.');
    return (
      vault.verify('form passwords', entryParts(live, expires), signature) &&
      Number(expires) >= now().getTime() / 1000
    );
  });
}
