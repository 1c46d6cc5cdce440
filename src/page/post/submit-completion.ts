import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatDay } from '#ast/basics/words.ts';
import { publicOriginOf } from '#forms/form-rows.ts';
import { ApiError } from '#kit/errors.ts';
import { repeatEarlierResult } from '#submissions/repeat.ts';
import { saveAnswers } from '#submissions/save-answers.ts';
import { createSubmissionKey } from '#submissions/submission-keys.ts';
import { type AcceptedSubmission, DifferentAnswersError } from '#submissions/submit-request.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { type LinkMailResult, renderSavedPage } from '../render/notices.ts';
import { linkMailAddress, resumeAddress } from '../visit/address.ts';
import { limitSaves } from '../visit/screening.ts';
import type { Visit } from '../visit/visit.ts';
import { acceptAnswers, languageOfVisit } from './accept-answers.ts';
import type { PostCompletion } from './handle-form-post.ts';
import {
  countSubmittedVisit,
  nextPageAddress,
  readIdempotencyKey,
  redirectsOf,
  sendAcceptedSubmission,
  wantsJson,
} from './handle-json-post.ts';
import { type PagePost, renderPageAgain } from './page-post.ts';
import type { PostServices } from './post-context.ts';
import { prepareConfirmation } from './prepare-confirmation.ts';
import { sendPage } from './problem-page.ts';
import { discardReceived } from './read-post.ts';

/** Returns what happens when a page is submitted: it creates one submission per page key. */
export function createSubmitCompletion(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): PostCompletion {
  /** Shows the page again for a problem that the visitor can resolve. @throws every other error. */
  const sendProblem = (error: unknown, post: PagePost): void => {
    if (!(error instanceof ApiError) || wantsJson(request)) throw error;
    const page = pageOfProblem(context, visit, post, error);
    if (page === undefined) throw error;
    const { look, live } = visit;
    sendPage(reply.headers(error.headers), error.status, page, look, redirectsOf(live.settings));
  };
  const sendAccepted = async (result: AcceptedSubmission, post: PagePost): Promise<void> => {
    // If the post is repeated, the submission already has its files.
    if (result.outcome === 'repeat') await discardReceived(context, visit.live, post.received);
    else if (result.outcome !== 'spam') countSubmittedVisit(context, visit, request, post);
    const confirmation = prepareConfirmation(context.vault, visit, { ...post, id: result.submission.id });
    if (wantsJson(request)) sendAcceptedSubmission(context, visit, result, reply, confirmation);
    else reply.redirect(nextPageAddress(visit, result, confirmation), 303);
  };
  return {
    showing: () => ({}),
    async finish(post) {
      const hasKey = post.controls.some(([name]) => name === '_key');
      const key = readIdempotencyKey(visit, request) ?? (hasKey ? post.key : undefined);
      try {
        const result = await acceptAnswers(context, visit, request, { ...post, key });
        if (!result.ok) return result.errors;
        await sendAccepted(result, post);
      } catch (error) {
        sendProblem(error, post);
      }
      return [];
    },
    async save(post) {
      const { live, reference, respondent, guest, ownKey } = visit;
      const { raw, files, key, step = 0 } = post;
      const language = languageOfVisit(visit);
      const progress = { live, raw, files, reference, respondent, language, key: ownKey ?? key, step };
      try {
        await limitSaves(context.requestCounter, live.id, ipRateLimitKey(request.ip));
        const saved = await saveAnswers(context, progress).catch(async (error: unknown) => {
          // The answers were submitted elsewhere in the meantime. A visitor gets the response to the first
          // submit; a program gets the conflict.
          const isTaken = error instanceof ApiError && error.code === 'conflict' && !wantsJson(request);
          const repeated = isTaken
            ? await repeatEarlierResult(context, progress, { refuseOther: true })
            : undefined;
          if (!repeated) throw error;
          return repeated;
        });
        if ('submission' in saved) await sendAccepted(saved, post);
        else {
          const path = resumeAddress(visit.path, saved.resumeToken, guest);
          sendSaved(context, visit, { path, until: saved.expiresAt }, request, reply);
        }
      } catch (error) {
        sendProblem(error, post);
      }
    },
  };
}

/**
 * Renders the page with everything that was posted, for problems that the visitor can resolve. After a rate
 * limit, the same answers can be sent again. Answers that differ from those already sent from this page get a
 * new key.
 */
function pageOfProblem(
  context: PostServices,
  visit: Visit,
  post: PagePost,
  error: ApiError,
): string | undefined {
  const { words, live } = visit;
  const again = { step: post.step, errors: [] };
  if (error.code === 'rate_limit_exceeded')
    return renderPageAgain(context, visit, post, { ...again, notice: words.tooMany });
  if (!(error instanceof DifferentAnswersError)) return undefined;
  // An invitation is answered once, so it gets no new key.
  if (visit.guest)
    return renderPageAgain(context, visit, post, { ...again, notice: words.invitationAnswered });
  if (visit.ownKey) return renderPageAgain(context, visit, post, { ...again, notice: words.respondedText });
  const anew = { ...post, keyText: createSubmissionKey(context.vault, live) };
  const texts = { notice: words.sentOtherwiseText, submitText: words.sendAsNew };
  return renderPageAgain(context, visit, anew, { ...again, ...texts });
}

/** Sends the link to saved answers. */
export function sendSaved(
  context: PostServices,
  visit: Visit,
  { path, until }: { readonly path: string; readonly until: Date },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const url = `${publicOriginOf(context.config, visit.live)}${path}`;
  if (wantsJson(request)) reply.send({ resume_url: url, expires_at: until });
  else sendPage(reply, 200, renderSavedLinkPage(context, visit, { url, until }), visit.look);
}

/** Renders the page with the link to saved answers. It can email the link if the instance sends emails. */
export function renderSavedLinkPage(
  { config, scriptSource }: PostServices,
  { live, language, locale, look, words, address }: Visit,
  link: { readonly url: string; readonly until: Date; readonly mailResult?: LinkMailResult },
): string {
  return renderSavedPage({
    formName: live.form.attrs.name,
    address: link.url,
    until: formatDay(link.until, locale),
    language,
    look,
    words,
    script: scriptSource,
    mail: config.smtp && { ...link.mailResult, action: linkMailAddress(link.url, address) },
  });
}
