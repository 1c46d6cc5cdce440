import { createHash } from 'node:crypto';
import { closures, findClosure, type LiveForm } from '#forms/live-form.ts';
import type { Arrival } from '#invitations/admission.ts';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { verifyPassword } from '#kit/password-hash.ts';
import type { Vault } from '#kit/vault.ts';
import { fullMessage, isFull } from '#submissions/response-limit.ts';
import { countUpTo } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

/**
 * Why a form does not admit a visitor. A form that was never published is as absent as one that does not exist (404);
 * one that was and no longer is, is gone (410; docs/rules.md 5).
 */
const refusals = {
  ...closures,
  full: ['gone', fullMessage],
  invited: ['forbidden', 'This form is open to invited people only.'],
  password: ['forbidden', 'This form is open to those who know its password.'],
  link: ['not_found', 'This link leads nowhere, or its time is over.'],
  used: ['gone', 'This invitation was answered already.'],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, string]>>;

export type RefusalReason = keyof typeof refusals;

/** What a visitor is told who is not admitted; a page says the reason in its own language. */
export type Refusal = { reason: RefusalReason; error: ApiError };

/** Those that the author's own words, `settings.closed_message`, stand for. */
const worded: ReadonlySet<RefusalReason> = new Set(['closed', 'early', 'full']);

/**
 * Whether the visitor may see and submit the form now; undefined: yes.
 * @param cookies the request's header `Cookie`.
 * @param came `arrival` of somebody who came by an invitation's link; `entry` that the address carries, of one in a frame.
 */
export async function findRefusal(
  { database, vault }: { database: Database; vault: Vault },
  live: LiveForm | undefined,
  cookies: string | undefined,
  { arrival, entry }: { arrival?: Arrival | undefined; entry?: string | undefined } = {},
): Promise<Refusal | undefined> {
  const reason = findReason(live, arrival);
  if (live === undefined) return refusal('absent');
  if (reason !== undefined) return refusal(reason, live);
  // Whoever does not know the password learns nothing else of the form.
  if (live.settings.access === 'password' && !hasEntered(vault, live, cookies, entry))
    return refusal('password');
  return (await isFull(database, live)) ? refusal('full', live) : undefined;
}

function findReason(live: LiveForm | undefined, arrival?: Arrival): RefusalReason | undefined {
  const closure = findClosure(live);
  if (live === undefined || closure !== undefined) return closure ?? 'absent';
  const { access = 'public' } = live.settings;
  if (arrival?.kind === 'void') return 'link';
  if (arrival?.kind === 'used') return 'used';
  // Without a password there is nothing that anybody could know.
  if ((access === 'invited' && !arrival) || (access === 'password' && live.passwordHash === null))
    return 'invited';
  return undefined;
}

function refusal(reason: RefusalReason, live?: LiveForm): Refusal {
  const [code, message] = refusals[reason];
  const own = worded.has(reason) ? live?.settings.closed_message : undefined;
  return { reason, error: new ApiError(code, own ?? message) };
}

/** Tries of a form's password in one minute, counted before it is looked at. */
const passwordTries = { ofAddress: 10, ofForm: 300 } as const;

/**
 * The parameter that admits a page in a frame on another site, where a browser may keep our cookie to itself. It is in
 * the address of the frame alone, and posts carry it on.
 */
export const entryParameter = '_entry';

/** For how long a visitor who gave the password is not asked again. */
const entrySeconds = 12 * 3_600;

/**
 * Tries a password.
 * @param attempt `address` as addressKey makes it; `publicUrl` decides whether the cookie is for https alone.
 * @returns the header `Set-Cookie` that admits this browser, and the same as the value of `_entry`; undefined when it
 * is not the password.
 * @throws ApiError rate_limit_exceeded.
 */
export async function enterPassword(
  { vault, requestCounter }: { vault: Vault; requestCounter: RequestCounter },
  live: LiveForm,
  attempt: { password: string; address: string; publicUrl: string },
): Promise<{ cookie: string; entry: string } | undefined> {
  await countUpTo(requestCounter, `password of ${live.id} from ${attempt.address}`, passwordTries.ofAddress);
  await countUpTo(requestCounter, `password of ${live.id}`, passwordTries.ofForm);
  const { passwordHash } = live;
  if (passwordHash === null || !(await verifyPassword(passwordHash, attempt.password))) return undefined;
  const expires = String(Math.floor(now().getTime() / 1000) + entrySeconds);
  const entry = `${expires}.${vault.sign('form passwords', entryParts(live, expires))}`;
  // An embedded form is a third party in its page; browsers send its cookie only so, and only by https.
  const isSecure = attempt.publicUrl.startsWith('https:');
  const site = isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax';
  const { plain, secure } = cookieNames(live);
  const cookie = `${isSecure ? secure : plain}=${entry}; Max-Age=${entrySeconds}; Path=/f/${live.id}; HttpOnly; ${site}`;
  return { cookie, entry };
}

/** `__Secure-`: no page that came by http can set it. `__Host-` would send it beyond its own form. */
const cookieNames = ({ id }: LiveForm) => ({
  plain: `formloom.form.${id}`,
  secure: `__Secure-formloom.form.${id}`,
});

/** Another password makes every entry void. */
const entryParts = ({ workspaceId, id, passwordHash }: LiveForm, expires: string): string[] => [
  workspaceId,
  id,
  expires,
  createHash('sha256').update(String(passwordHash)).digest('base64url'),
];

function hasEntered(vault: Vault, live: LiveForm, cookies = '', entry = ''): boolean {
  const names = Object.values(cookieNames(live)).map((name) => `${name}=`);
  const kept = cookies
    .split(/;\s*/)
    .flatMap((cookie) =>
      names.flatMap((name) => (cookie.startsWith(name) ? [cookie.slice(name.length)] : [])),
    );
  return [...kept, entry].some((given) => {
    const [expires = '', signature = ''] = given.split('.');
    return (
      vault.verify('form passwords', entryParts(live, expires), signature) &&
      Number(expires) >= now().getTime() / 1000
    );
  });
}
