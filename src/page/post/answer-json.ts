import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '#ast/json.ts';
import type { Settings } from '#ast/settings.ts';
import { invitationParameter } from '#invitations/admission.ts';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { keyOfHeader, readKey } from '#submissions/submission-keys.ts';
import type { Submitted } from '#submissions/submit-request.ts';
import { countCompletion, countWay, courseOf } from '../counting/count-visit.ts';
import { type Course, reachStep } from '../counting/course.ts';
import { type Told, tellAnswers, toldParameter } from '../told-answers.ts';
import { withHiddenAnswers } from '../visit/address.ts';
import type { Visit } from '../visit/visit.ts';
import { accept } from './accept.ts';
import type { AnsweringContext } from './answering.ts';
import type { PagePost } from './page-post.ts';

/** A submission that was taken, and what its visitor may change it with. */
type Taken = { readonly submission: Submitted; readonly editToken?: string };
type Next = Pick<Told, 'settings' | 'token'>;

/** Where a visitor goes after a submission: to the author's own page, told the receipt, or to the confirmation. */
function nextAddress(visit: Visit, taken: Taken, next: Next): string {
  return redirectOf(next.settings, taken.submission.id) ?? confirmationAddress(visit, taken, next);
}

/**
 * Where the browser of a page goes after it posted. The author's own page is not meant for the frame of another one:
 * there the confirmation leads out of it.
 */
export function nextPage(visit: Visit, taken: Taken, next: Next): string {
  return visit.look.isEmbedded ? confirmationAddress(visit, taken, next) : nextAddress(visit, taken, next);
}

/** Every page of the author's own that a submission may lead to. */
export const redirectsOf = ({ redirect_url, confirmations = [] }: Settings): string[] =>
  [redirect_url, ...confirmations.map((each) => each.redirect_url)].filter(
    (address) => address !== undefined,
  );

/** The author's own page, told the receipt; undefined where the form has none. */
export function redirectOf({ redirect_url }: Settings, receipt: string): string | undefined {
  if (redirect_url === undefined) return undefined;
  const url = new URL(redirect_url);
  url.searchParams.set('receipt', receipt);
  return url.href;
}

/** Where the visitor may change the answers, below this service; undefined where the form does not allow it. */
const editAddress = ({ live }: Visit, { editToken }: Taken): string | undefined =>
  editToken === undefined ? undefined : `/f/${live.id}/edit/${editToken}`;

/** The link for editing rides in the confirmation's address, which no other site gets to see (Referrer-Policy). */
function confirmationAddress(
  { live, address }: Visit,
  { submission, editToken }: Taken,
  { token }: Next,
): string {
  const receipt = submission.id;
  const query = new URLSearchParams({ receipt, ...(editToken !== undefined && { edit: editToken }) });
  for (const [name, value] of address.own) {
    // The link of an invitation has done its part.
    if (name !== invitationParameter) query.append(name, value);
  }
  if (token !== undefined) query.set(toldParameter, token);
  return `/f/${live.id}/submitted?${query.toString()}`;
}

export const isJsonBody = (request: FastifyRequest): boolean =>
  /^application\/json\b/i.test(request.headers['content-type'] ?? '');

/** A client that asks for JSON, or sent it, is answered in JSON, and so is every client of the API's own address. */
export const wantsJson = (request: FastifyRequest): boolean =>
  request.originalUrl.startsWith('/api/') ||
  isJsonBody(request) ||
  /\bapplication\/json\b/i.test(request.headers.accept ?? '');

/** The key of a client that named its request: the header `Idempotency-Key`. */
export function keyInHeader(visit: Visit, request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key'];
  return given === undefined ? undefined : keyOfHeader(visit.live.id, String(given));
}

/**
 * Takes answers that were sent as a JSON body (docs/rules.md 14).
 * @throws ApiError validation_error, with the `field` of each problem, and whatever submitting throws.
 */
export async function answerJson(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { live, address } = visit;
  const answers = answersOf(request.body);
  const raw = isRecord(answers) ? withHiddenAnswers(live.form, address, visit.context, answers) : answers;
  const sent = { raw, files: new Map() };
  const result = await accept(context, visit, request, {
    ...sent,
    controls: [],
    key: keyInHeader(visit, request),
  });
  if (!result.ok) throw new ApiError('validation_error', undefined, { errors: [...result.errors] });
  return sendResult(context, visit, result, reply, tellAnswers(context.vault, visit, sent));
}

function answersOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('answers' in body)) {
    throw new ApiError('validation_error', 'Send {"answers": {"<element id>": <answer>}}.', {
      errors: [{ field: 'answers', message: '"answers" is required.', code: 'required' }],
    });
  }
  const unknown = Object.keys(body)
    .find((key) => key !== 'answers')
    ?.slice(0, 80);
  if (unknown !== undefined) {
    const message = `"${unknown}" is not known here. Known: answers.`;
    throw new ApiError('validation_error', undefined, {
      errors: [{ field: unknown, message, code: 'unknown_field' }],
    });
  }
  return body.answers;
}

/** 201 with the submission, also when it was taken before under the same key. */
export function sendResult(
  { config: { publicUrl } }: Pick<AnsweringContext, 'config'>,
  visit: Visit,
  result: Taken,
  reply: FastifyReply,
  told: Told,
): FastifyReply {
  const { live } = visit;
  const { id, completedAt } = result.submission;
  const edit = editAddress(visit, result);
  return reply.code(201).send({
    id,
    form_id: live.id,
    status: 'completed',
    created_at: completedAt,
    completed_at: completedAt,
    confirmation_message: told.message ?? null,
    next: nextAddress(visit, result, told),
    ...(edit !== undefined && { edit_url: `${publicUrl}${edit}` }),
  });
}

/** Counts what a post of the page says of its visit, and the step that it leads to. Returns how far that is counted now. */
export function countPost(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
  next?: number,
): Course | undefined {
  const { told } = post;
  if (!told) return undefined;
  const is = courseOfPost(visit, post, next);
  countWay(context, visit, request, { was: told.way.was, is }, told.byScript);
  return is;
}

/** Counts that it was taken as a submission. */
export function countTaken(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
): void {
  const { told } = post;
  if (!told) return;
  const way = { was: told.way.was, is: courseOfPost(visit, post) };
  // The key of an invited person is older than their page.
  const served = visit.guest ? undefined : readKey(context.vault, visit.live, post.keyText)?.servedAt;
  const seconds = served && (now().getTime() - served.getTime()) / 1_000;
  countCompletion(context, visit, request, { way, byScript: told.byScript, seconds });
}

/** The script knows what was touched; else the answers show it. */
function courseOfPost({ live }: Visit, { told, raw, step }: PagePost, next?: number): Course {
  const steps = [step, next].filter((each) => each !== undefined);
  const { is } = told!.way;
  return told!.byScript ? steps.reduce(reachStep, is) : courseOf(live.form, raw, steps, is);
}
