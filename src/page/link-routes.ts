import type { FastifyReply, FastifyRequest } from 'fastify';
import { fillTemplate } from '#ast/basics/words.ts';
import type { Form } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import {
  cancelByToken,
  editByToken,
  type OpenedEdit,
  openCancellation,
  openEditLink,
} from '#submissions/changes/edit-by-token.ts';
import { readPdfLink } from '#submissions/links.ts';
import { pdfHeaders } from '#submissions/pdf/endpoints.ts';
import {
  type PdfServices,
  type RenderedPdf,
  renderSubmissionPdf,
} from '#submissions/pdf/render-submission-pdf.ts';
import { openResumeLink } from '#submissions/saved-answers.ts';
import { createSubmissionKey, signSubmissionKey } from '#submissions/submission-keys.ts';
import { languageOfVisit } from './post/accept-answers.ts';
import { getControlNumber, getControlValue } from './post/controls.ts';
import { handleFormPost, type PostCompletion } from './post/handle-form-post.ts';
import { redirectsOf, wantsJson } from './post/handle-json-post.ts';
import { renderPageAgain } from './post/page-post.ts';
import type { PostServices } from './post/post-context.ts';
import { pdfTokenOf } from './post/prepare-confirmation.ts';
import { sendPage } from './post/problem-page.ts';
import { renderNotice } from './render/notices.ts';
import { uploadRoute } from './upload-route.ts';
import { formatFormAddress } from './visit/address.ts';
import { deriveVisitProgress } from './visit/count-visit.ts';
import { formPage } from './visit/form-page.ts';
import {
  FormRefusedError,
  type LinkRequest,
  type OpenVisitServices,
  openVisit,
  openVisitEvenIfClosed,
  readVisit,
  type Visit,
} from './visit/visit.ts';
import { formatVisitProgress } from './visit/visit-progress.ts';

/** Returns the parts of a page for editing a submission, as it was just loaded. */
function editPageParts(
  { words }: Visit,
  token: string,
  { seen }: OpenedEdit,
): ReturnType<PostCompletion['showing']> {
  return {
    editToken: token,
    submitText: words.editSubmit,
    // The time of the version that the visitor sees, so that saving does not silently overwrite someone
    // else's later change.
    hidden: [['_seen_at', String(seen.getTime())]],
  };
}

/** Returns what happens when a page opened by an edit link is sent: it saves the changed submission. */
function createEditCompletion(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, edit }: { token: string; edit: OpenedEdit },
): PostCompletion {
  const { live, words, look, address } = visit;
  const now = editPageParts(visit, token, edit);
  return {
    // Every step of the page keeps the time that came with the first step.
    showing: ({ controls }) => ({
      ...now,
      hidden: [['_seen_at', getControlValue(controls, '_seen_at') ?? '']],
    }),
    submissionId: edit.submissionId,
    stored: edit.raw,
    async finish(post) {
      const { raw, files, controls, verified } = post;
      const sent = getControlNumber(controls, '_seen_at');
      const seen = sent === undefined ? undefined : new Date(sent);
      try {
        const result = await editByToken(context, {
          formId: live.id,
          token,
          raw,
          files,
          seen,
          language: visit.language,
          verified,
        });
        if (!result.ok) return result.errors;
        const pdf = pdfTokenOf(context.vault, live, result.id);
        const personal = {
          receipt: result.id,
          edit: token,
          ...(pdf !== undefined && { pdf }),
          _changed: '1',
        };
        const query = new URLSearchParams({ ...personal, ...Object.fromEntries(address.own) });
        const next = `${visit.path}/submitted?${query.toString()}`;
        if (wantsJson(request)) reply.send({ id: result.id, next });
        else reply.redirect(next, 303);
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.code === 'precondition_failed';
        if (!isOutdated || wantsJson(request)) throw error;
        const again = { ...now, step: post.step, errors: [], notice: words.editOutdated };
        const page = renderPageAgain(context, visit, post, again);
        sendPage(reply, errorCodes.precondition_failed.status, page, look);
      }
      return [];
    },
    save: () => Promise.reject(new ApiError('bad_request', 'Submitted answers cannot be saved for later.')),
  };
}

type LinkContext = PostServices & OpenVisitServices & PdfServices;

/**
 * Adds the routes for a visitor's personal links: `/f/<id>/resume/<token>` resumes saved answers,
 * `/f/<id>/edit/<token>` edits a submission, and `/f/<id>/pdf/<token>` downloads it. Anyone who has the link
 * can use it (docs/rules.md T3).
 */
export function personalLinkRoutes(server: Server, context: LinkContext): void {
  server.get('/f/:id/resume/:token', async (request: LinkRequest, reply) => {
    const opened = await openVisit(context, request);
    const saved = await openPersonalLink(
      opened,
      openResumeLink(context.database, opened.live.id, request.params.token),
    );
    const visit = withReference(resumeVisit(opened, request, { language: saved.language }), saved.reference);
    const { form } = visit.live;
    const { steps } = evaluateVisibility(form, saved.raw, visit.context, saved.files);
    const reached = steps.filter((step) => step <= saved.step);
    const page = formPage(context, visit, {
      raw: saved.raw,
      files: saved.files,
      errors: [],
      step: saved.step,
      key: signSubmissionKey(context.vault, visit.live, saved.key),
      notice: visit.words.resumed,
      // The visit's progress was already counted when the answers were saved.
      course: formatVisitProgress(deriveVisitProgress(form, saved.raw, reached)),
    });
    return sendPage(reply, 200, page, visit.look, redirectsOf(visit.live.settings));
  });

  server.get('/f/:id/edit/:token', async (request: LinkRequest, reply) => {
    const { visit, edit } = await openLinkedEdit(context, request);
    const page = formPage(context, visit, {
      ...editPageParts(visit, request.params.token, edit),
      raw: edit.raw,
      files: edit.files,
      errors: [],
      key: createSubmissionKey(context.vault, visit.live),
      course: undefined,
    });
    return sendPage(reply, 200, page, visit.look);
  });

  server.post('/f/:id/edit/:token', async (request: LinkRequest, reply) => {
    const { visit, edit } = await openLinkedEdit(context, request);
    const ending = createEditCompletion(context, visit, request, reply, {
      token: request.params.token,
      edit,
    });
    await handleFormPost({ context, visit, request, reply, endingOf: () => ending });
    return reply;
  });

  server.get('/f/:id/edit/:token/cancel', async (request: LinkRequest, reply) => {
    const opened = await openVisitEvenIfClosed(context, request);
    const { token } = request.params;
    const { language, position } = await openPersonalLink(
      opened,
      openCancellation(context.database, opened.live.id, token),
    );
    const visit = resumeVisit(opened, request, { language });
    const { words } = visit;
    const page = noticePage(visit, {
      title: words.cancelTitle,
      message: position === undefined ? words.cancelText : fillTemplate(words.cancelWaitText, { position }),
      again: {
        method: 'post',
        address: formatFormAddress(`${visit.path}/edit/${token}/cancel`, {
          ...visit.address,
          reference: {},
          prefill: [],
        }),
        fields: [],
        text: words.cancelGo,
      },
    });
    return sendPage(reply, 200, page, visit.look);
  });

  server.post('/f/:id/edit/:token/cancel', async (request: LinkRequest, reply) => {
    const visit = await openVisitEvenIfClosed(context, request);
    const { token } = request.params;
    const cancelled = await openPersonalLink(visit, cancelByToken(context, visit.live.id, token));
    if (wantsJson(request)) return reply.send({ id: cancelled.id, status: 'cancelled' });
    const { words } = visit;
    const page = noticePage(visit, { title: words.cancelledTitle, message: words.cancelledText });
    return sendPage(reply, 200, page, visit.look);
  });

  server.get('/f/:id/pdf/:token', async (request: LinkRequest, reply) => {
    const visit = await openVisitEvenIfClosed(context, request);
    const pdf = await openPersonalLink(visit, renderLinkedPdf(context, visit, request));
    return reply
      .headers({
        ...pdfHeaders(pdf),
        'Cache-Control': 'private, no-store',
        'Referrer-Policy': 'no-referrer',
      })
      .send(pdf.bytes);
  });

  // A submission and its files can be edited after the form has closed.
  uploadRoute(
    server,
    context,
    '/f/:id/edit/:token/files',
    async (request: LinkRequest) => (await openLinkedEdit(context, request)).visit,
  );

  refuseOtherMethods(server, '/f/:id/resume/:token', ['GET']);
  refuseOtherMethods(server, '/f/:id/edit/:token', ['GET', 'POST']);
  refuseOtherMethods(server, '/f/:id/edit/:token/cancel', ['GET', 'POST']);
  refuseOtherMethods(server, '/f/:id/pdf/:token', ['GET']);
}

/** Renders a page with one message in the look and language of a visit. */
const noticePage = (
  { live, language, look }: Visit,
  notice: Pick<Parameters<typeof renderNotice>[0], 'title' | 'message' | 'again'>,
): string => renderNotice({ ...notice, formName: live.form.attrs.name, language, look });

/** Opens a submission for editing, with the version that was answered and its reference data. */
async function openLinkedEdit(
  context: LinkContext,
  request: LinkRequest,
): Promise<{ visit: Visit; edit: OpenedEdit }> {
  const opened = await openVisitEvenIfClosed(context, request);
  const edit = await openPersonalLink(
    opened,
    openEditLink(context.database, opened.live.id, request.params.token),
  );
  const visit = withReference(
    resumeVisit(opened, request, { form: edit.form, language: edit.language }),
    edit.reference,
  );
  return { visit, edit };
}

/** Where Letter is the usual paper size. */
const letterRegions = /-(?:CA|CL|CO|MX|PH|US)$/;

/** Renders the PDF of a link, in the visitor's language and on the paper of their region. */
async function renderLinkedPdf(
  context: LinkContext,
  visit: Visit,
  { params, query }: LinkRequest,
): Promise<RenderedPdf> {
  const { workspaceId, id: formId, settings } = visit.live;
  const { certificate } = query as Readonly<Record<string, unknown>>;
  const isCertificate = certificate === 'true';
  if (!isCertificate && !settings.offer_pdf) throw new ApiError('not_found');
  const id = readPdfLink(context.vault, { workspaceId, formId }, params.token);
  if (id === undefined) throw new ApiError('not_found', 'This link is invalid or has expired.');
  const size = letterRegions.test(visit.numberLocale) ? 'Letter' : 'A4';
  const language = languageOfVisit(visit);
  const request = {
    workspaceId,
    id,
    size,
    certificate: isCertificate,
    language,
    isForVisitor: true,
  } as const;
  return renderSubmissionPdf(context, request);
}

/**
 * Opens a personal link. The error page for a link that no longer works has the look and language of the
 * form.
 * @throws Refused.
 */
function openPersonalLink<Opened>({ written }: Visit, opening: Promise<Opened>): Promise<Opened> {
  return opening.catch((error: unknown) => {
    throw error instanceof ApiError && (error.code === 'not_found' || error.code === 'gone')
      ? new FormRefusedError({ reason: 'link', error }, written)
      : error;
  });
}

/** Restores the visit in the language of the saved answers, unless the URL names another one. */
const resumeVisit = (
  { written, guest, respondent, refusal, isWaiting }: Visit,
  request: LinkRequest,
  given: { form?: Form; language: string | null },
): Visit => ({ ...readVisit(written, request, { guest, respondent, ...given }), refusal, isWaiting });

function withReference(visit: Visit, reference: Record<string, string>): Visit {
  return {
    ...visit,
    // Reference data of an invitation stays out of URLs: the invitation provides it again.
    address: { ...visit.address, reference: without(reference, visit.guest?.reference) },
    reference,
    context: createEvaluationContext(visit.live.settings, reference, visit.context.work),
  };
}

function without(
  reference: Record<string, string>,
  known: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries(reference).filter(([name]) => !Object.hasOwn(known, name)));
}
