import type { FastifyReply } from 'fastify';
import { sayDay } from '#ast/words.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { mailResumeLink } from '#mail/notices/resume-letter.ts';
import { followLink } from '#submissions/links.ts';
import { openResume } from '#submissions/progress/resume.ts';
import { addressKey } from '#workspaces/address-key.ts';
import type { AnsweringContext } from './post/answering.ts';
import { renderSaved, type SavedMail } from './render/notices.ts';
import { limitSaves } from './screening.ts';
import { sendPage } from './send-page.ts';
import { resumeAddress, resumeMailAddress } from './visit/resume-address.ts';
import { type LinkRequest, type OpenContext, openVisit } from './visit/open-visit.ts';
import { scriptInFrame, type Visit } from './visit/visit.ts';

type MailContext = AnsweringContext & OpenContext;

/**
 * `POST /f/<id>/resume/<token>/mail`: mails the visitor the link to go on. The page that comes back still shows the
 * link, whatever becomes of the mail.
 */
export function resumeMailRoute(server: Server, context: MailContext): void {
  server.post('/f/:id/resume/:token/mail', async (request: LinkRequest, reply) => {
    const visit = await openVisit(context, request);
    const { live, guest } = visit;
    const { token } = request.params;
    // Also says that there are answers to go on with.
    await openResume(context.database, live.id, token);
    const { expiresAt, submissionId } = await followLink(context.database, {
      formId: live.id,
      token,
      purpose: 'resume',
    });
    await limitSaves(context.requestCounter, live.id, addressKey(request.ip));
    const url = `${context.config.publicUrl}${resumeAddress(live.id, token, guest)}`;
    const given = request.body instanceof URLSearchParams ? (request.body.get('_mail') ?? '') : '';
    const said = await mailLink(context, visit, { url, until: expiresAt, given, submissionId });
    return sendSavedAgain(context, visit, { url, until: expiresAt, said }, reply);
  });
  refuseOtherMethods(server, '/f/:id/resume/:token/mail', ['POST']);
}

async function mailLink(
  context: MailContext,
  { live, words, locale }: Visit,
  { given, ...saved }: { url: string; until: Date; given: string; submissionId: string },
): Promise<Pick<SavedMail, 'given' | 'problem' | 'sentTo'>> {
  const to = readMailAddress(given);
  if (!to) return { given, problem: words.mailLinkWrong };
  const { workspaceId, id: formId, form, settings } = live;
  const formName = form.attrs.name;
  const link = { workspaceId, formId, formName, timeZone: settings.time_zone, locale, ...saved };
  if (!(await mailResumeLink(context, link, to))) return { given, problem: words.mailLinkLimited };
  context.wakeQueue();
  return { given: '', sentTo: to.address };
}

function sendSavedAgain(
  context: MailContext,
  visit: Visit,
  { url, until, said }: { url: string; until: Date; said: Omit<SavedMail, 'action'> },
  reply: FastifyReply,
): FastifyReply {
  const { live, language, locale, look, words } = visit;
  const page = renderSaved({
    formName: live.form.attrs.name,
    address: url,
    until: sayDay(until, locale),
    language,
    look,
    words,
    script: scriptInFrame(visit, context),
    mail: context.config.smtp && { ...said, action: resumeMailAddress(url, visit.address) },
  });
  return sendPage(reply, said.problem === undefined ? 200 : 422, page, look);
}
