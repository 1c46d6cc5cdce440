import type { FastifyReply, FastifyRequest } from 'fastify';
import { evaluate } from '#ast/logic/evaluate.ts';
import type { Form } from '#ast/tree.ts';
import { answerContext } from '#forms/live-form.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { editByToken, type OpenedEdit, openEdit } from '#submissions/changes/edit-by-token.ts';
import { openResume } from '#submissions/saved-answers.ts';
import { makeKey, signKey } from '#submissions/submission-keys.ts';
import { courseOf } from './counting/count-visit.ts';
import { writeCourse } from './counting/course.ts';
import { answerForm, type Ending } from './post/answer-form.ts';
import { redirectsOf, wantsJson } from './post/answer-json.ts';
import type { AnsweringContext } from './post/answering.ts';
import { controlOf, numberOf } from './post/controls.ts';
import { pageAgain } from './post/page-post.ts';
import { sendPage } from './problem-page.ts';
import { uploadRoute } from './upload-route.ts';
import { formPage } from './visit/form-page.ts';
import {
  type LinkRequest,
  type OpenContext,
  openKnownForm,
  openVisit,
  Refused,
  readVisit,
  type Visit,
} from './visit/visit.ts';

/** What a page has that changes a submission, as it was opened now. */
function editShowing({ words }: Visit, token: string, { seen }: OpenedEdit): ReturnType<Ending['showing']> {
  return {
    editToken: token,
    submitText: words.editSubmit,
    // What the visitor sees: a change of somebody else since then is not overwritten unasked.
    hidden: [['_seen_at', String(seen.getTime())]],
  };
}

/** A page that ends with a changed submission: the one that a link to edit leads to, as it was opened now. */
function editEnding(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, edit }: { token: string; edit: OpenedEdit },
): Ending {
  const { live, words, look, address } = visit;
  const now = editShowing(visit, token, edit);
  return {
    // A page keeps the state that its visitor saw, through all its steps.
    showing: ({ controls }) => ({ ...now, hidden: [['_seen_at', controlOf(controls, '_seen_at') ?? '']] }),
    submissionId: edit.submissionId,
    async finish(post) {
      const { raw, files, controls } = post;
      const sent = numberOf(controls, '_seen_at');
      const seen = sent === undefined ? undefined : new Date(sent);
      try {
        const result = await editByToken(context, {
          formId: live.id,
          token,
          raw,
          files,
          seen,
          language: visit.language,
        });
        if (!result.ok) return result.errors;
        const told = new Map([['receipt', result.id], ['edit', token], ['_changed', '1'], ...address.own]);
        const next = `/f/${live.id}/submitted?${new URLSearchParams([...told]).toString()}`;
        if (wantsJson(request)) reply.send({ id: result.id, next });
        else reply.redirect(next, 303);
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.code === 'precondition_failed';
        if (!isOutdated || wantsJson(request)) throw error;
        const again = { ...now, step: post.step, errors: [], notice: words.editOutdated };
        const page = pageAgain(context, visit, post, again);
        sendPage(reply, errorCodes.precondition_failed.status, page, look);
      }
      return [];
    },
    save: () =>
      Promise.reject(new ApiError('bad_request', 'Answers that were submitted are not saved for later.')),
  };
}

type LinkContext = AnsweringContext & OpenContext;

/**
 * The two links of a visitor's own: `/f/<id>/resume/<token>` goes on with answers that were saved, and
 * `/f/<id>/edit/<token>` changes answers that were sent. Whoever has the link may (docs/rules.md T3).
 */
export function linkRoutes(server: Server, context: LinkContext): void {
  server.get('/f/:id/resume/:token', async (request: LinkRequest, reply) => {
    const opened = await openVisit(context, request);
    const saved = await openOwn(opened, openResume(context.database, opened.live.id, request.params.token));
    const visit = withReference(resumed(opened, request, { spoken: saved.language }), saved.reference);
    const { form } = visit.live;
    const { steps } = evaluate(form, saved.raw, visit.context, saved.files);
    const reached = steps.filter((step) => step <= saved.step);
    const page = formPage(context, visit, {
      raw: saved.raw,
      held: saved.files,
      errors: [],
      step: saved.step,
      key: signKey(context.vault, visit.live, saved.key),
      notice: visit.words.resumed,
      // What was saved was counted as far as this when it was.
      course: writeCourse(courseOf(form, saved.raw, reached)),
    });
    return sendPage(reply, 200, page, visit.look, redirectsOf(visit.live.settings));
  });

  server.get('/f/:id/edit/:token', async (request: LinkRequest, reply) => {
    const { visit, edit } = await openLinked(context, request);
    const page = formPage(context, visit, {
      ...editShowing(visit, request.params.token, edit),
      raw: edit.raw,
      held: edit.files,
      errors: [],
      key: makeKey(context.vault, visit.live),
      course: undefined,
    });
    return sendPage(reply, 200, page, visit.look);
  });

  server.post('/f/:id/edit/:token', async (request: LinkRequest, reply) => {
    const { visit, edit } = await openLinked(context, request);
    const ending = editEnding(context, visit, request, reply, { token: request.params.token, edit });
    await answerForm({ context, visit, request, reply, endingOf: () => ending });
    return reply;
  });

  // A submission is changed, its files too, when the form takes nothing new any more.
  uploadRoute(
    server,
    context,
    '/f/:id/edit/:token/files',
    async (request: LinkRequest) => (await openLinked(context, request)).visit,
  );

  refuseOtherMethods(server, '/f/:id/resume/:token', ['GET']);
  refuseOtherMethods(server, '/f/:id/edit/:token', ['GET', 'POST']);
}

/** A submission is changed as the version that it answered, with the reference that it came with. */
async function openLinked(
  context: LinkContext,
  request: LinkRequest,
): Promise<{ visit: Visit; edit: OpenedEdit }> {
  const opened = await openKnownForm(context, request);
  const edit = await openOwn(opened, openEdit(context.database, opened.live.id, request.params.token));
  const visit = withReference(
    resumed(opened, request, { form: edit.form, spoken: edit.language }),
    edit.reference,
  );
  return { visit, edit };
}

/** What a link opens; one that opens nothing any more is said in the look and the language of its form. @throws Refused. */
function openOwn<Opened>({ written }: Visit, opening: Promise<Opened>): Promise<Opened> {
  return opening.catch((error: unknown) => {
    throw error instanceof ApiError ? new Refused({ reason: 'link', error }, written) : error;
  });
}

/** The visit as it was when the answers were given, unless its address says another language. */
const resumed = (
  { written, guest, refusal }: Visit,
  request: LinkRequest,
  given: { form?: Form; spoken: string | null },
): Visit => ({ ...readVisit(written, request, { guest, ...given }), refusal });

function withReference(visit: Visit, reference: Record<string, string>): Visit {
  return {
    ...visit,
    // What came with an invitation stays out of addresses: it comes with the invitation again.
    address: { ...visit.address, reference: without(reference, visit.guest?.reference) },
    reference,
    context: answerContext(visit.live.settings, reference, visit.context.work),
  };
}

function without(
  reference: Record<string, string>,
  known: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries(reference).filter(([name]) => !Object.hasOwn(known, name)));
}
