import { evaluate } from '#ast/logic/evaluate.ts';
import type { Form } from '#ast/tree.ts';
import { answerContext } from '#forms/answer-context.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { openEdit, type OpenedEdit } from '#submissions/changes/edit-by-token.ts';
import { makeKey, signKey } from '#submissions/keys.ts';
import { openResume } from '#submissions/progress/resume.ts';
import { courseOf } from './counting/count-visit.ts';
import { writeCourse } from './counting/course.ts';
import { answerForm } from './post/answer-form.ts';
import type { AnsweringContext } from './post/answering.ts';
import { editEnding, editShowing } from './post/edit-ending.ts';
import { sendPage } from './send-page.ts';
import { uploadRoute } from './upload-route.ts';
import { formPage } from './visit/form-page.ts';
import { type LinkRequest, type OpenContext, openKnownForm, openVisit } from './visit/open-visit.ts';
import { Refused } from './visit/refused.ts';
import { readVisit, type Visit } from './visit/visit.ts';
import { redirectsOf } from './post/next-address.ts';

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
