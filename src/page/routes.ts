import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerError, FileAnswer } from '#ast/answers.ts';
import { languages } from '#ast/languages.ts';
import { discardFiles, fileLimits, type FilesContext } from '#files/receive.ts';
import type { LiveForm, LiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { refuseOtherMethods, type Server, toApiError } from '#kit/http.ts';
import { submitAnswers, type Submitted } from '#submissions/submit.ts';
import { closedReason } from './availability.ts';
import { pageHeaders } from './headers.ts';
import { type HeldFiles, joinFiles } from './held-files.ts';
import { BrokenPost, readHtmlForms, type Post, readPost } from './read-post.ts';
import { renderConfirmation, renderForm, renderNotice } from './render.ts';
import { applyRowAction, readAction } from './row-action.ts';

/** What the room needs. */
export type PageContext = FilesContext & {
  liveForms: LiveForms;
  heldFiles: HeldFiles;
  wakeQueue: () => void;
};

type FormRequest = FastifyRequest<{ Params: { id: string } }>;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The public page of a form (DESIGN 4.14): `GET /f/<id>` shows it, `POST /f/<id>` submits it, as an HTML form or as
 * JSON, and `GET /f/<id>/submitted` thanks.
 */
export async function pageRoutes(server: Server, context: PageContext): Promise<void> {
  await readHtmlForms(server);
  server.setErrorHandler((error, request, reply) => answerProblem(error, request, reply));

  server.get('/f/:id', async (request: FormRequest, reply) => {
    const live = await openForm(context, request.params.id);
    return sendPage(reply, 200, formPage(request, live, { raw: {}, errors: [], held: new Map() }, context));
  });

  server.get('/f/:id/submitted', async (request: FormRequest, reply) => {
    const live = await context.liveForms.find(checkedId(request.params.id));
    if (!live) throw new ApiError('not_found', 'There is no form at this address.');
    const { receipt } = request.query as { receipt?: unknown };
    const known = typeof receipt === 'string' && uuidPattern.test(receipt);
    if (!known) return reply.redirect(`/f/${live.id}`, 303);
    return sendPage(reply, 200, confirmationPage(live, receipt));
  });

  server.post('/f/:id', async (request: FormRequest, reply) => {
    const live = await openForm(context, request.params.id);
    const reference = readReference(request);
    if (isJsonBody(request)) return answerJson(context, live, request.body, reference, reply);
    return answerForm(context, live, reference, request, reply);
  });

  refuseOtherMethods(server, '/f/:id', ['GET', 'POST']);
  refuseOtherMethods(server, '/f/:id/submitted', ['GET']);
}

/** The form, if it takes submissions now. @throws ApiError not_found, gone or forbidden. */
async function openForm(context: PageContext, id: string): Promise<LiveForm> {
  const live = await context.liveForms.find(checkedId(id));
  const closed = closedReason(live, now());
  if (closed) throw closed;
  return live!;
}

function checkedId(id: string): string {
  if (!uuidPattern.test(id)) throw new ApiError('not_found', 'There is no form at this address.');
  return id;
}

/** The URL's parameters, which travel with the submission. Of a repeated one the first counts. */
function readReference(request: FastifyRequest): Record<string, string> {
  const reference = new Map<string, string>();
  for (const [name, value] of new URL(request.url, 'http://form').searchParams) {
    if (`${name}${value}`.includes('\u0000')) {
      throw new ApiError('bad_request', 'The address holds a NUL character.');
    }
    if (!reference.has(name)) reference.set(name, value);
  }
  return Object.fromEntries(reference);
}

const isJsonBody = (request: FastifyRequest): boolean =>
  /^application\/json\b/i.test(request.headers['content-type'] ?? '');

/** A client that asks for JSON, or sent it, is answered in JSON. */
const wantsJson = (request: FastifyRequest): boolean =>
  isJsonBody(request) || /\bapplication\/json\b/i.test(request.headers.accept ?? '');

async function answerJson(
  context: PageContext,
  live: LiveForm,
  body: unknown,
  reference: Record<string, string>,
  reply: FastifyReply,
) {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !('answers' in body)) {
    throw new ApiError('validation_error', 'Send {"answers": {"<element id>": <answer>}}.', {
      errors: [{ field: 'answers', message: '"answers" is required.' }],
    });
  }
  const unknown = Object.keys(body).find((key) => key !== 'answers');
  if (unknown !== undefined) {
    throw new ApiError('validation_error', undefined, {
      errors: [
        {
          field: unknown.slice(0, 80),
          message: `"${unknown.slice(0, 80)}" is not known here. Known: answers.`,
        },
      ],
    });
  }
  const result = await submitAnswers(context, { live, raw: body.answers, files: new Map(), reference });
  if (!result.ok) throw new ApiError('validation_error', undefined, { errors: result.errors });
  return reply.code(201).send(presentSubmitted(live, result.submission));
}

const presentSubmitted = (live: LiveForm, { id, completedAt }: Submitted) => ({
  id,
  form_id: live.id,
  status: 'completed',
  created_at: completedAt,
  completed_at: completedAt,
  confirmation_message: live.settings.confirmation_message ?? null,
});

async function answerForm(
  context: PageContext,
  live: LiveForm,
  reference: Record<string, string>,
  request: FormRequest,
  reply: FastifyReply,
) {
  const post = await readWholePost(context, request, live);
  const discard = () =>
    discardFiles(
      context,
      live.workspaceId,
      [...post.received.values()].flat().map((file) => file.id),
    );
  try {
    const held = await context.heldFiles.read(live, post.controls);
    const { files, problems: fileProblems } = joinFiles(live, held, post.received);
    const problems = [...post.problems, ...fileProblems];
    const action = readAction(post.controls);
    if (action.kind !== 'submit') {
      const shown = applyRowAction(action, post.raw, files);
      return sendPage(
        reply,
        200,
        formPage(
          request,
          live,
          { raw: shown.raw, errors: problems, held: shown.files, focus: shown.focus },
          context,
        ),
      );
    }
    const result =
      problems.length > 0
        ? { ok: false as const, errors: problems }
        : await submitAnswers(context, { live, raw: post.raw, files, reference });
    if (!result.ok) {
      await discard();
      if (wantsJson(request)) throw new ApiError('validation_error', undefined, { errors: result.errors });
      return sendPage(
        reply,
        errorCodes.validation_error.status,
        formPage(request, live, { raw: post.raw, errors: result.errors, held: held.files }, context),
      );
    }
    if (wantsJson(request)) return reply.code(201).send(presentSubmitted(live, result.submission));
    return reply.redirect(`/f/${live.id}/submitted?receipt=${result.submission.id}`, 303);
  } catch (error) {
    // Nothing is left behind by a submit that was refused. Claimed files are not touched by this.
    await discard();
    throw error;
  }
}

async function readWholePost(context: PageContext, request: FormRequest, live: LiveForm): Promise<Post> {
  try {
    return await readPost(context, request, live);
  } catch (error) {
    if (!(error instanceof BrokenPost)) throw error;
    await discardFiles(
      context,
      live.workspaceId,
      error.files.map((file) => file.id),
    );
    throw error.cause instanceof Error ? error.cause : error;
  }
}

type Shown = {
  raw: Record<string, unknown>;
  errors: readonly AnswerError[];
  held: ReadonlyMap<string, readonly FileAnswer[]>;
  focus?: string | undefined;
};

function formPage(request: FormRequest, live: LiveForm, shown: Shown, context: PageContext): string {
  const held = [...shown.held].map(
    ([name, files]) =>
      [
        name,
        files.map(({ id, filename, size }) => ({
          token: context.heldFiles.token(live.id, name, id),
          filename,
          size,
        })),
      ] as const,
  );
  return renderForm({
    form: live.form,
    // The same address, parameters included: they become the submission's reference.
    action: request.url,
    values: shown.raw,
    errors: shown.errors,
    held: new Map(held),
    language: languages[live.language],
    limits: fileLimits,
    ...(shown.focus !== undefined && { focus: shown.focus }),
  });
}

const confirmationPage = (live: LiveForm, receipt: string): string =>
  renderConfirmation({
    formName: live.name,
    message: live.settings.confirmation_message,
    receipt,
    language: languages[live.language],
  });

function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(pageHeaders).type('text/html; charset=utf-8').send(page);
}

const noticeTitles: Readonly<Record<number, string>> = {
  403: 'This form is not open',
  404: 'Form not found',
  410: 'This form is closed',
  413: 'Too large',
  503: 'Please try again in a moment',
};

function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toApiError(error);
  if (problem.status >= 500) request.log.error({ err: error }, 'a request failed');
  reply.headers(problem.headers);
  // What is left of a body that was not read to its end cannot be told from the next request.
  if (request.isMultipart() && !request.raw.complete) reply.header('Connection', 'close');
  if (wantsJson(request))
    return reply.code(problem.status).type('application/json; charset=utf-8').send(problem.body);
  const title = noticeTitles[problem.status] ?? 'Something went wrong';
  return sendPage(reply, problem.status, renderNotice({ title, message: problem.message, language: 'en' }));
}
