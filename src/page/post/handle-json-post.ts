import type { FastifyReply, FastifyRequest } from 'fastify';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { publicOriginOf } from '#forms/form-rows.ts';
import { invitationParameter } from '#invitations/admission.ts';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { readSubmissionKey, submissionKeyOfHeader } from '#submissions/submission-keys.ts';
import type { AcceptedSubmission } from '#submissions/submit-request.ts';
import { prefillHiddenAnswers } from '../visit/address.ts';
import { countCompletion, countVisitProgress, deriveVisitProgress } from '../visit/count-visit.ts';
import type { Visit } from '../visit/visit.ts';
import { addReachedStep, type VisitProgress } from '../visit/visit-progress.ts';
import { acceptAnswers } from './accept-answers.ts';
import { readVerified } from './email-codes.ts';
import type { PagePost } from './page-post.ts';
import type { PostServices } from './post-context.ts';
import {
  confirmationParameter,
  type PreparedConfirmation,
  prepareConfirmation,
} from './prepare-confirmation.ts';

/** An accepted submission, with the token of its link and its position on the waiting list. */
type AcceptedAnswers = Omit<AcceptedSubmission, 'ok' | 'outcome'>;
type Next = Pick<PreparedConfirmation, 'settings' | 'token' | 'pdf'>;

/**
 * Returns the URL to open after a submission: the author's redirect URL with the receipt, or else the
 * confirmation page, which also tells visitors that they are on the waiting list.
 */
function confirmedAddress(visit: Visit, accepted: AcceptedAnswers, next: Next): string {
  const redirect =
    accepted.position === undefined ? getRedirectUrl(next.settings, accepted.submission.id) : undefined;
  return redirect ?? confirmationAddress(visit, accepted, next);
}

/**
 * Returns the URL that the browser opens after the page is posted. An embedded page opens the confirmation,
 * which links out of the frame: the redirect URL is not meant for a frame.
 */
export function nextPageAddress(visit: Visit, accepted: AcceptedAnswers, next: Next): string {
  return visit.look.isEmbedded
    ? confirmationAddress(visit, accepted, next)
    : confirmedAddress(visit, accepted, next);
}

/** Lists every redirect URL that a submission may lead to. */
export const redirectsOf = ({ redirect_url, confirmations = [] }: Settings): string[] =>
  [redirect_url, ...confirmations.map((each) => each.redirect_url)].filter(
    (address) => address !== undefined,
  );

/** Returns the author's redirect URL with the receipt; undefined if the form has none. */
export function getRedirectUrl({ redirect_url }: Settings, receipt: string): string | undefined {
  if (redirect_url === undefined) return undefined;
  const url = new URL(redirect_url);
  url.searchParams.set('receipt', receipt);
  return url.href;
}

/** The path of the visitor's link; undefined if the form has none. */
const editAddress = ({ path }: Visit, { editToken }: AcceptedAnswers): string | undefined =>
  editToken === undefined ? undefined : `${path}/edit/${editToken}`;

/** Returns the path of the link to the PDF of a submission. */
export const pdfAddress = (path: string, token: string): string => `${path}/pdf/${token}`;

/** Returns the path of the link to the certificate of a submission. */
export const certificateAddress = (path: string, token: string): string =>
  `${pdfAddress(path, token)}?certificate=true`;

/**
 * Returns the confirmation's URL. It includes the personal links, which are hidden from other sites
 * (Referrer-Policy).
 */
export function confirmationAddress(
  { path, address }: Visit,
  { submission, editToken }: { readonly submission: { readonly id: string }; readonly editToken?: string },
  { token, pdf }: Pick<Next, 'token' | 'pdf'>,
): string {
  const receipt = submission.id;
  const query = new URLSearchParams({
    receipt,
    ...(editToken !== undefined && { edit: editToken }),
    ...(pdf !== undefined && { pdf }),
  });
  for (const [name, value] of address.own) {
    // The invitation has been answered, so its parameter is dropped.
    if (name !== invitationParameter) query.append(name, value);
  }
  if (token !== undefined) query.set(confirmationParameter, token);
  return `${path}/submitted?${query.toString()}`;
}

export const verificationPath = '/f/:id/verifications';

export const isJsonBody = (request: FastifyRequest): boolean =>
  /^application\/json\b/i.test(request.headers['content-type'] ?? '');

/** Whether the response is JSON: the client sent or accepts JSON, or called what only programs call. */
export const wantsJson = (request: FastifyRequest): boolean =>
  request.originalUrl.startsWith('/api/') ||
  request.routeOptions.url === verificationPath ||
  request.headers['tus-resumable'] !== undefined ||
  isJsonBody(request) ||
  /\bapplication\/json\b/i.test(request.headers.accept ?? '');

/** The submission's key from the header `Idempotency-Key`. */
export function readIdempotencyKey(visit: Visit, request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key'];
  return given === undefined ? undefined : submissionKeyOfHeader(visit.live.id, String(given));
}

/**
 * Submits answers that were sent as a JSON body (docs/rules.md 14).
 * @throws ApiError validation_error, with the `field` of each problem, and the errors of a submission.
 */
export async function handleJsonPost(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { live, address } = visit;
  const { answers, verifications } = readJsonSubmission(request.body);
  const raw = isRecord(answers) ? prefillHiddenAnswers(live.form, address, visit.context, answers) : answers;
  const sent = { raw, files: new Map() };
  const result = await acceptAnswers(context, visit, request, {
    ...sent,
    controls: [],
    verified: readVerified(context, live, raw, (element) => getProperty(verifications, element)),
    key: readIdempotencyKey(visit, request),
  });
  if (!result.ok) throw new ApiError('validation_error', undefined, { errors: [...result.errors] });
  return sendAcceptedSubmission(
    context,
    visit,
    result,
    reply,
    prepareConfirmation(context.vault, visit, { ...sent, id: result.submission.id }),
  );
}

const isRecordOfTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((each) => typeof each === 'string');

function readJsonSubmission(body: unknown): {
  answers: unknown;
  verifications: Readonly<Record<string, string>>;
} {
  if (typeof body !== 'object' || body === null || !('answers' in body))
    throw new ApiError('validation_error', 'Send {"answers": {"<element id>": <answer>}}.', {
      errors: [{ field: 'answers', message: '"answers" is required.', code: 'required' }],
    });
  const unknown = Object.keys(body)
    .find((key) => key !== 'answers' && key !== 'verifications')
    ?.slice(0, 80);
  if (unknown !== undefined) {
    const message = `Unknown field "${unknown}". Send only \`answers\` and \`verifications\`.`;
    throw new ApiError('validation_error', undefined, {
      errors: [{ field: unknown, message, code: 'unknown_field' }],
    });
  }
  const verifications = 'verifications' in body ? body.verifications : {};
  if (!isRecordOfTexts(verifications)) {
    const message = '"verifications" must be an object with a token for each element ID.';
    throw new ApiError('validation_error', undefined, {
      errors: [{ field: 'verifications', message, code: 'invalid_type' }],
    });
  }
  return { answers: body.answers, verifications };
}

/** Sends 201 with the submission, even if it was already accepted under this key. */
export function sendAcceptedSubmission(
  { config }: Pick<PostServices, 'config'>,
  visit: Visit,
  result: AcceptedAnswers,
  reply: FastifyReply,
  confirmation: PreparedConfirmation,
): FastifyReply {
  const { live, path } = visit;
  const origin = publicOriginOf(config, live);
  const { submission, position } = result;
  const { id, completedAt } = submission;
  const edit = editAddress(visit, result);
  return reply.code(201).send({
    id,
    form_id: live.id,
    status: position === undefined ? 'completed' : 'waiting',
    ...(position !== undefined && { position }),
    created_at: completedAt,
    completed_at: completedAt,
    confirmation_message: (position === undefined && confirmation.message) || null,
    next: confirmedAddress(visit, result, confirmation),
    ...(edit !== undefined && live.settings.editing && { edit_url: `${origin}${edit}` }),
    ...(edit !== undefined && { cancel_url: `${origin}${edit}/cancel` }),
    ...(confirmation.quiz && { quiz: confirmation.quiz }),
    ...(confirmation.pdf !== undefined &&
      live.settings.offer_pdf && { pdf_url: `${origin}${pdfAddress(path, confirmation.pdf)}` }),
    ...(confirmation.pdf !== undefined &&
      confirmation.isCertified &&
      position === undefined && {
        certificate_url: `${origin}${certificateAddress(path, confirmation.pdf)}`,
      }),
  });
}

/**
 * Counts the progress that a post of the page reports, and the step that follows. Returns the counted
 * progress.
 */
export function countPostProgress(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
  next?: number,
): VisitProgress | undefined {
  const { report } = post;
  if (!report) return undefined;
  const is = progressOfPost(visit, post, next);
  countVisitProgress(context, visit, request, { was: report.change.was, is }, report.byScript);
  return is;
}

/** Counts a visit that ended with a submission. */
export function countSubmittedVisit(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
): void {
  const { report } = post;
  if (!report) return;
  const change = { was: report.change.was, is: progressOfPost(visit, post) };
  // The key of an invitation is older than the page, so it does not say when the page was opened.
  const served = visit.guest
    ? undefined
    : readSubmissionKey(context.vault, visit.live, post.keyText)?.servedAt;
  const seconds = served && (now().getTime() - served.getTime()) / 1_000;
  countCompletion(context, visit, request, { change, byScript: report.byScript, seconds });
}

/**
 * Returns the progress at the time of a post: as reported by the script, or else derived from the answers.
 */
function progressOfPost({ live }: Visit, { report, raw, step }: PagePost, next?: number): VisitProgress {
  const steps = [step, next].filter((each) => each !== undefined);
  const { is } = report!.change;
  return report!.byScript ? steps.reduce(addReachedStep, is) : deriveVisitProgress(live.form, raw, steps, is);
}
