import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '#ast/settings.ts';
import { includesOrigin, isOrigin } from '#ast/settings-by-condition.ts';
import type { LiveForm, LiveForms } from '#forms/live-form.ts';
import { now, uuidPattern } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Vault } from '#kit/vault.ts';
import { repeatEarlierResult } from '#submissions/repeat.ts';
import type { SpamReason } from '#submissions/spam.ts';
import { readSubmissionKey } from '#submissions/submission-keys.ts';
import { checkSubmission, submitAnswers } from '#submissions/submit.ts';
import type { SubmitRequest, SubmitResult, SubmitServices } from '#submissions/submit-request.ts';
import { enforceRateLimit } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

/**
 * The site that a post comes from, and whether the form's `embed_origins` lists it. `own`: this service, or
 * not a browser. `any`: another site, and the form has no list, so every site can post. `origin` is `null` if
 * the browser hides it.
 */
export type PostSource =
  | { readonly kind: 'own' }
  | { readonly kind: 'named' | 'any' | 'unlisted'; readonly origin: string };

/** Dependencies for checking the source of a post. */
export type PostSourceServices = {
  readonly liveForms: LiveForms;
  readonly config: { readonly publicUrl: string };
};

/** Returns the source of a post, based on headers that a page cannot set. */
export function getPostSource(
  request: FastifyRequest,
  { embed_origins: list }: Settings,
  publicUrl: string,
): PostSource {
  const origin = otherOrigin(request, publicUrl);
  if (origin === undefined) return { kind: 'own' };
  if (list === undefined) return { kind: 'any', origin };
  return { kind: includesOrigin(list, origin) ? 'named' : 'unlisted', origin };
}

/**
 * Returns the origin of another site. Our own pages send no referrer, so without a script their origin is
 * also `null`.
 */
function otherOrigin({ headers, host }: FastifyRequest, publicUrl: string): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined || origin === publicUrl || site === 'same-origin') return undefined;
  if (!isOrigin(origin)) return site === 'cross-site' ? 'null' : undefined;
  return new URL(origin).host === host ? undefined : origin;
}

/** Whether a browser shows the response as its next page. Otherwise, a script reads it. */
const isPageLoad = ({ headers }: FastifyRequest): boolean =>
  (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' && /\btext\/html\b/.test(headers.accept ?? '');

/**
 * Checks the source before the body of a post is read. A script of an unlisted site is refused; a script of
 * any other site can read the response, including errors. A page load from an unlisted site is accepted as
 * spam, because its visitor would otherwise lose the answers.
 */
export const checkPostSource =
  ({ liveForms, config }: PostSourceServices) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const live = otherOrigin(request, config.publicUrl) && (await findForm(liveForms, request));
    if (!live) return;
    const source = getPostSource(request, live.settings, config.publicUrl);
    if (source.kind === 'unlisted' && !isPageLoad(request)) throw unlisted(source.origin);
    if (source.kind === 'any' || source.kind === 'named') reply.headers(readableBy(source));
  };

/** CORS headers that let a page of another site read the response. Cookies are neither needed nor allowed. */
const readableBy = ({ kind, origin }: Extract<PostSource, { origin: string }>) => ({
  'Access-Control-Allow-Origin': kind === 'any' ? '*' : origin,
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
  Vary: 'Origin',
});

/**
 * Answers the preflight request that a browser sends before another site can post JSON. @throws ApiError
 * forbidden.
 */
export function sendPreflight(
  { settings }: LiveForm,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): FastifyReply {
  const source = getPostSource(request, settings, publicUrl);
  if (source.kind === 'unlisted') throw unlisted(source.origin);
  if (source.kind !== 'own')
    reply.headers({
      ...readableBy(source),
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
      'Access-Control-Max-Age': '600',
    });
  return reply.code(204).header('Allow', 'GET, HEAD, POST, OPTIONS').send();
}

const unlisted = (origin: string): ApiError =>
  new ApiError(
    'forbidden',
    `Pages from ${origin} cannot submit this form. Add the origin to the form's embed_origins setting.`,
  );

/** Finds the form in the URL; undefined if it does not exist or was never published. */
async function findForm(liveForms: LiveForms, request: FastifyRequest): Promise<LiveForm | undefined> {
  const { id } = request.params as { id: string };
  const live = uuidPattern.test(id) ? await liveForms.find(id.toLowerCase()) : undefined;
  return live && (live.status !== 'draft' || live.wasPublished) ? live : undefined;
}

/** Dependencies for screening. */
export type ScreeningServices = SubmitServices & {
  requestCounter: RequestCounter;
  config: Pick<Config, 'limits'>;
};

/** What a post reveals about its sender, beyond the answers. */
export type PostSender = {
  /** The sender's address, as returned by ipRateLimitKey. */
  address: string;
  source: PostSource;
  /** The value of the control `_key`, which is also the challenge of the proof of work. */
  page: string | undefined;
  /** The control `_website`, which visitors do not see. */
  website: string | undefined;
  /** The control `_proof`: a number for which hasProofOfWork returns true. */
  proof: string | undefined;
};

/**
 * Leading zero bits of a proof of work: 131,000 hashes on average. The page's own SHA-256 takes about a
 * second on a phone and a fifth of a second on a desktop.
 */
export const proofBits = 17;

/** Whether the SHA-256 of `<page key>:<number>` has the required leading zero bits. */
export function hasProofOfWork(page: string, proof: string, bits: number = proofBits): boolean {
  if (!/^\d{1,16}$/.test(proof)) return false;
  const digest = createHash('sha256').update(`${page}:${proof}`).digest();
  return Math.clz32(digest.readUInt32BE(0)) >= bits;
}

/**
 * Submits a visitor's answers. Suspicious answers get the normal response and go to the spam box; above a
 * limit they are refused. The same answers under the same key get the same response again, even if the limits
 * have changed.
 * @throws ApiError rate_limit_exceeded, and the errors of submitAnswers.
 */
export async function submitScreenedAnswers(
  context: ScreeningServices,
  request: SubmitRequest,
  sender: PostSender,
): Promise<SubmitResult> {
  const { live } = request;
  try {
    await countSubmitAttempt(context, live, sender.address);
  } catch (error) {
    // Looked up only after a failure, because most submits neither exceed a limit nor repeat another.
    const repeated = error instanceof ApiError ? await repeatEarlierResult(context, request) : undefined;
    if (!repeated) throw error;
    return repeated;
  }
  const reason = findReason(context.vault, live, sender);
  if (reason) {
    const address = context.vault.sign('sender addresses', [live.workspaceId, live.id, sender.address]);
    const origin = reason === 'other_site' && sender.source.kind !== 'own' ? sender.source.origin : undefined;
    return submitAnswers(context, request, { reason, address: Buffer.from(address, 'base64url'), origin });
  }
  if (!isScreened(live.settings)) return submitAnswers(context, request);
  // Only new, valid submissions count toward the hourly limits, not invalid or repeated ones. If a spam
  // submission is repeated later under its key, it stays spam, even if it is no longer too fast.
  const checked = checkSubmission(request);
  const repeated = await repeatEarlierResult(context, request);
  if (repeated) return repeated;
  if (!checked.ok) return checked;
  await countSubmission(context.requestCounter, live.id, live.settings, sender.address);
  return submitAnswers(context, request);
}

/**
 * Returns the first reason to treat answers as spam. The honeypot is on every page; the form's settings add
 * the other checks. `min_seconds` needs a page key, which says when our page was served. Sites listed in
 * `embed_origins` are trusted. The proof of work is required from every other source, because authors turn it
 * on when they are under attack.
 */
function findReason(
  vault: Vault,
  live: LiveForm,
  { page, website, proof, source }: PostSender,
): SpamReason | undefined {
  const { min_seconds, proof_of_work } = live.settings;
  if (website) return 'honeypot';
  if (source.kind === 'named') return undefined;
  const key = page === undefined ? undefined : readSubmissionKey(vault, live, page);
  // Our own page in a sandboxed frame also sends the origin `null`.
  if (source.kind === 'unlisted' && !(key && source.origin === 'null')) return 'other_site';
  if (!key) {
    if (proof_of_work) return source.kind === 'any' ? 'other_site' : 'no_page';
    return min_seconds !== undefined && page !== undefined ? 'no_page' : undefined;
  }
  if (min_seconds !== undefined && now().getTime() - key.servedAt.getTime() < min_seconds * 1_000)
    return 'too_fast';
  return proof_of_work && !hasProofOfWork(page!, proof ?? '') ? 'no_proof' : undefined;
}

/** Whether the form's settings can reject a submission or treat it as spam. */
const isScreened = ({ min_seconds, proof_of_work, limit_per_address, limit_per_form }: Settings): boolean =>
  proof_of_work === true ||
  [min_seconds, limit_per_address, limit_per_form].some((limit) => limit !== undefined);

/**
 * Counts every submit, whatever its result, toward the limits of the instance. @throws ApiError
 * rate_limit_exceeded.
 */
async function countSubmitAttempt(
  { requestCounter, config: { limits } }: ScreeningServices,
  { id, workspaceId }: SubmitRequest['live'],
  address: string,
): Promise<void> {
  const counted: [key: string, most: number][] = [
    [`all submissions from ${address}`, limits.submitsPerAddress],
    [`all submissions of ${id}`, limits.submitsPerForm],
    [`all submissions in ${workspaceId}`, limits.submitsPerWorkspace],
  ];
  // The counters run in parallel, so that they reach another process or Valkey in one batch.
  const limited = counted.filter(([, most]) => most > 0);
  await Promise.all(limited.map(([key, most]) => enforceRateLimit(requestCounter, key, most)));
}

const hourSeconds = 3_600;

/**
 * Counts a submission before accepting it, so that limits are exact even for parallel submits (docs/rules.md
 * T29, T31).
 */
async function countSubmission(
  counter: RequestCounter,
  formId: string,
  { limit_per_address, limit_per_form }: Settings,
  address: string,
): Promise<void> {
  const limits: [key: string, most: number | undefined][] = [
    [`submissions of ${formId} from ${address}`, limit_per_address],
    [`submissions of ${formId}`, limit_per_form],
  ];
  for (const [key, most] of limits) {
    if (most === undefined) continue;
    await enforceRateLimit(counter, key, most, { seconds: hourSeconds });
  }
}

/** Saves per address per minute: a page saves whenever the visitor pauses typing. */
const savesPerMinute = 120;

/** Limits how often an address saves answers. @throws ApiError rate_limit_exceeded. */
export async function limitSaves(counter: RequestCounter, formId: string, address: string): Promise<void> {
  await enforceRateLimit(counter, `saves of ${formId} from ${address}`, savesPerMinute);
}
