import type { FastifyReply, FastifyRequest } from 'fastify';
import { publicOriginOf } from '#forms/form-rows.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { readEnteredAddress } from '#kit/outbox/address.ts';
import { mailPersonalLink } from '#mail/notices/visitor-emails.ts';
import { openEditLink } from '#submissions/changes/edit-by-token.ts';
import { openSubmissionLink } from '#submissions/links.ts';
import { openResumeLink } from '#submissions/saved-answers.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { confirmationPage } from './confirmation.ts';
import type { PostServices } from './post/post-context.ts';
import { sendPage } from './post/problem-page.ts';
import { renderSavedLinkPage } from './post/submit-completion.ts';
import type { LinkMailResult } from './render/notices.ts';
import { resumeAddress } from './visit/address.ts';
import { limitSaves } from './visit/screening.ts';
import {
  type LinkRequest,
  type OpenVisitServices,
  openVisit,
  openVisitEvenIfClosed,
  type Visit,
} from './visit/visit.ts';

type MailContext = PostServices & OpenVisitServices;

/**
 * Adds `POST /f/<id>/resume/<token>/mail` and `POST /f/<id>/edit/<token>/mail`: each emails the personal link
 * to the visitor, and shows the page with the link again, even if the email fails.
 */
export function linkMailRoutes(server: Server, context: MailContext): void {
  server.post('/f/:id/resume/:token/mail', async (request: LinkRequest, reply) => {
    const visit = await openVisit(context, request);
    const { live, guest } = visit;
    const { token } = request.params;
    // Throws if there are no saved answers to resume.
    await openResumeLink(context.database, live.id, token);
    const url = `${publicOriginOf(context.config, live)}${resumeAddress(visit.path, token, guest)}`;
    const { until, mailResult } = await mailLink(context, visit, request, { purpose: 'resume', url });
    const page = renderSavedLinkPage(context, visit, { url, until, mailResult });
    return sendResult(reply, visit, page, mailResult);
  });

  server.post('/f/:id/edit/:token/mail', async (request: LinkRequest, reply) => {
    const visit = await openVisitEvenIfClosed(context, request);
    const { live, path } = visit;
    const { token } = request.params;
    // Throws if the answers can't be changed.
    const { submissionId: receipt } = await openEditLink(context.database, live.id, token);
    const url = `${publicOriginOf(context.config, live)}${path}/edit/${token}`;
    const { mailResult } = await mailLink(context, visit, request, { purpose: 'edit', url });
    const page = await confirmationPage(context, visit, request, { receipt, token, mailResult });
    return sendResult(reply, visit, page, mailResult);
  });

  for (const purpose of ['resume', 'edit'])
    refuseOtherMethods(server, `/f/:id/${purpose}/:token/mail`, ['POST']);
}

async function mailLink(
  context: MailContext,
  { live, words, locale }: Visit,
  request: LinkRequest,
  link: { purpose: 'resume' | 'edit'; url: string },
): Promise<{ until: Date; mailResult: LinkMailResult }> {
  const { workspaceId, id: formId, form, settings } = live;
  const { expiresAt: until, submissionId } = await openSubmissionLink(context.database, {
    formId,
    token: request.params.token,
    purpose: link.purpose,
  });
  await limitSaves(context.requestCounter, formId, ipRateLimitKey(request.ip));
  const given = addressIn(request);
  const to = readEnteredAddress(given);
  if (!to) return { until, mailResult: { given, problem: words.mailLinkWrong } };
  const place = { workspaceId, formId, submissionId, formName: form.attrs.name };
  const isSent = await mailPersonalLink(
    context,
    { ...place, ...link, timeZone: settings.time_zone, locale, until },
    to,
  );
  if (!isSent) return { until, mailResult: { given, problem: words.mailLinkLimited } };
  context.wakeQueue();
  return { until, mailResult: { given: '', sentTo: to.address } };
}

const addressIn = ({ body }: FastifyRequest): string =>
  body instanceof URLSearchParams ? (body.get('_mail') ?? '') : '';

const sendResult = (reply: FastifyReply, { look }: Visit, page: string, { problem }: LinkMailResult) =>
  sendPage(reply, problem === undefined ? 200 : 422, page, look);
