import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAnswers } from '#ast/answers.ts';
import type { Settings } from '#ast/settings.ts';
import { isOrigin, namesOrigin } from '#ast/settings-by-condition.ts';
import { answerContext, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import { now, uuidPattern } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Vault } from '#kit/vault.ts';
import { answerRepeat } from '#submissions/repeat.ts';
import type { SpamReason } from '#submissions/spam.ts';
import { readKey } from '#submissions/submission-keys.ts';
import { submitAnswers } from '#submissions/submit.ts';
import type { SubmitContext, SubmitRequest, SubmitResult } from '#submissions/submit-request.ts';
import { countUpTo } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

/**
 * Whose page a post comes from, and what the form's `embed_origins` says of it. `own`: this service's, or no browser's.
 * `any`: another site's, and there is no list, so that every site may send. `origin` is `null` where its browser keeps
 * it to itself.
 */
export type Source =
  | { readonly kind: 'own' }
  | { readonly kind: 'named' | 'any' | 'unlisted'; readonly origin: string };

/** What judging a post needs. */
export type SourceContext = {
  readonly liveForms: LiveForms;
  readonly config: { readonly publicUrl: string };
};

/** Where a post comes from, by the headers that a page cannot choose. */
export function sourceOf(
  request: FastifyRequest,
  { embed_origins: list }: Settings,
  publicUrl: string,
): Source {
  const origin = otherOrigin(request, publicUrl);
  if (origin === undefined) return { kind: 'own' };
  if (list === undefined) return { kind: 'any', origin };
  return { kind: namesOrigin(list, origin) ? 'named' : 'unlisted', origin };
}

/** The origin of another site. Our own pages send no referrer, so without script their origin is `null` as well. */
function otherOrigin({ headers, host }: FastifyRequest, publicUrl: string): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined || origin === publicUrl || site === 'same-origin') return undefined;
  if (!isOrigin(origin)) return site === 'cross-site' ? 'null' : undefined;
  return new URL(origin).host === host ? undefined : origin;
}

/** Whether a browser shows the answer as its next page. Everything else is a program of the page, which reads it. */
const isPageLoad = ({ headers }: FastifyRequest): boolean =>
  (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' && /\btext\/html\b/.test(headers.accept ?? '');

/**
 * Before the body of a post is read: a program of a site that the form does not list is refused, and one of any other
 * site may read what is answered, problems too. A page load of a site that is not listed goes on: its visitor would
 * lose what they wrote, so it is held (screening.ts).
 */
export const judgeSource =
  ({ liveForms, config }: SourceContext) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const live = otherOrigin(request, config.publicUrl) && (await findForm(liveForms, request));
    if (!live) return;
    const source = sourceOf(request, live.settings, config.publicUrl);
    if (source.kind === 'unlisted' && !isPageLoad(request)) throw unlisted(source.origin);
    if (source.kind === 'any' || source.kind === 'named') reply.headers(readableBy(source));
  };

/** What lets a page of another site read the answer. No cookie is needed, and none is taken. */
const readableBy = ({ kind, origin }: Extract<Source, { origin: string }>) => ({
  'Access-Control-Allow-Origin': kind === 'any' ? '*' : origin,
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
  Vary: 'Origin',
});

/** Answers what a browser asks before it lets a page of another site send JSON. @throws ApiError forbidden. */
export function answerPreflight(
  { settings }: LiveForm,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): FastifyReply {
  const source = sourceOf(request, settings, publicUrl);
  if (source.kind === 'unlisted') throw unlisted(source.origin);
  if (source.kind !== 'own') {
    reply.headers({
      ...readableBy(source),
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
      'Access-Control-Max-Age': '600',
    });
  }
  return reply.code(204).header('Allow', 'GET, HEAD, POST, OPTIONS').send();
}

const unlisted = (origin: string): ApiError =>
  new ApiError(
    'forbidden',
    `Pages of ${origin} may not send this form: its setting embed_origins does not name them.`,
  );

/** The form of the address; one that was never published is as absent as one that does not exist. */
async function findForm(liveForms: LiveForms, request: FastifyRequest): Promise<LiveForm | undefined> {
  const { id } = request.params as { id: string };
  const live = uuidPattern.test(id) ? await liveForms.find(id.toLowerCase()) : undefined;
  return live && (live.status !== 'draft' || live.wasPublished) ? live : undefined;
}

/** What screening needs. */
export type ScreeningContext = SubmitContext & {
  requestCounter: RequestCounter;
  config: Pick<Config, 'limits'>;
};

/** What a post tells of its sender, beside the answers. */
export type Sender = {
  /** The peer's address, as addressKey makes it. */
  address: string;
  source: Source;
  /** The text of the control `_key`, the same that the proof is of. */
  page: string | undefined;
  /** The control `_website`, which people do not see. */
  website: string | undefined;
  /** The control `_proof`: a number for which hasWorked holds. */
  proof: string | undefined;
};

/**
 * Leading zero bits of a proof of work: 131,000 hashes on average, which the page's own SHA-256 makes in about a
 * second on a phone and in a fifth of one on a desk.
 */
export const proofBits = 17;

/** Whether the number makes, behind the page's key and a colon, a SHA-256 of that many leading zero bits. */
export function hasWorked(page: string, proof: string, bits: number = proofBits): boolean {
  if (!/^\d{1,16}$/.test(proof)) return false;
  const digest = createHash('sha256').update(`${page}:${proof}`).digest();
  return Math.clz32(digest.readUInt32BE(0)) >= bits;
}

/**
 * Submits a visitor's answers. Suspicious ones get the same response and are kept in the spam box; above a limit they are
 * refused. The same answers under the same key get the same response again, whatever the limits are now.
 * @throws ApiError rate_limit_exceeded, and whatever submitAnswers throws.
 */
export async function screenAnswers(
  context: ScreeningContext,
  request: SubmitRequest,
  sender: Sender,
): Promise<SubmitResult> {
  const { live } = request;
  try {
    await countArrival(context, live, sender.address);
  } catch (error) {
    // Asked for only now: most submits are neither too many nor repeated.
    const repeated = error instanceof ApiError ? await answerRepeat(context, request) : undefined;
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
  // Only what would be taken counts: neither answers to correct, nor what was taken already. And what was held under
  // the key stays held, though it comes in due time now.
  const rules = answerContext(live.settings, request.reference, request.work);
  const checked = checkAnswers(live.form, request.raw, request.files, rules);
  const repeated = await answerRepeat(context, request);
  if (repeated) return repeated;
  if (!checked.ok) return checked;
  await countSubmission(context.requestCounter, live.id, live.settings, sender.address);
  return submitAnswers(context, request);
}

/**
 * The first reason to hold answers back. The hidden field is on every page; the rest the form's settings ask for, of
 * their own page: `min_seconds` of what comes with that page's key, and so knows when it was served. A site that
 * `embed_origins` names is trusted with pages of its own. The proof of work is asked of everybody else, as it is chosen
 * by those who are under attack.
 */
function findReason(
  vault: Vault,
  live: LiveForm,
  { page, website, proof, source }: Sender,
): SpamReason | undefined {
  const { min_seconds, proof_of_work } = live.settings;
  if (website) return 'honeypot';
  if (source.kind === 'named') return undefined;
  const key = page === undefined ? undefined : readKey(vault, live, page);
  // Our own page in a frame that its host has shut off says no origin either.
  if (source.kind === 'unlisted' && !(key && source.origin === 'null')) return 'other_site';
  if (!key) {
    if (proof_of_work) return source.kind === 'any' ? 'other_site' : 'no_page';
    return min_seconds !== undefined && page !== undefined ? 'no_page' : undefined;
  }
  if (min_seconds !== undefined && now().getTime() - key.servedAt.getTime() < min_seconds * 1_000)
    return 'too_fast';
  return proof_of_work && !hasWorked(page!, proof ?? '') ? 'no_proof' : undefined;
}

/** Whether the form's settings can hold or refuse anything. */
const isScreened = ({ min_seconds, proof_of_work, limit_per_address, limit_per_form }: Settings): boolean =>
  proof_of_work === true ||
  [min_seconds, limit_per_address, limit_per_form].some((limit) => limit !== undefined);

/** Counts what arrives, whatever comes of it, against the limits of the instance. @throws ApiError rate_limit_exceeded. */
async function countArrival(
  { requestCounter, config: { limits } }: ScreeningContext,
  { id, workspaceId }: SubmitRequest['live'],
  address: string,
): Promise<void> {
  const counted: [key: string, most: number][] = [
    [`all submissions from ${address}`, limits.submitsPerAddress],
    [`all submissions of ${id}`, limits.submitsPerForm],
    [`all submissions in ${workspaceId}`, limits.submitsPerWorkspace],
  ];
  // Together, so that they go to another process or to Valkey as one.
  const limited = counted.filter(([, most]) => most > 0);
  await Promise.all(limited.map(([key, most]) => countUpTo(requestCounter, key, most)));
}

const hourSeconds = 3_600;

/** Counts before it lets pass, exactly, also under parallel submits (docs/rules.md T29, T31). */
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
    await countUpTo(counter, key, most, { seconds: hourSeconds });
  }
}

/** Saves of unfinished answers that one address may make in a minute: a page saves on each pause in typing. */
const savesPerMinute = 120;

/** @throws ApiError rate_limit_exceeded when an address saves more than a person can. */
export async function limitSaves(counter: RequestCounter, formId: string, address: string): Promise<void> {
  await countUpTo(counter, `saves of ${formId} from ${address}`, savesPerMinute);
}
