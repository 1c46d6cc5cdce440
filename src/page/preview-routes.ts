import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { isRecord } from '#ast/basics/json.ts';
import { imagesIn } from '#ast/form/form-images.ts';
import type { Form } from '#ast/form/tree.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { settingRows } from '#ast/settings-table.ts';
import { isColour } from '#ast/theme/colour.ts';
import { validateStructure } from '#ast/validate.ts';
import { readBuilderForm } from '#forms/draft.ts';
import { findImageDimensions, imagesOfSettings } from '#forms/images/images.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { newId, now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { findRemainingQuotas } from '#submissions/quotas.ts';
import { createSubmissionKey } from '#submissions/submission-keys.ts';
import type { Accounts } from '#workspaces/accounts/users.ts';
import { enforceRateLimit, personRateLimitKey } from '#workspaces/authenticate.ts';
import { requireMembership, requirePerson } from '#workspaces/sign-in/require-person.ts';
import { confirmationPage } from './confirmation.ts';
import { handleFormPost, type PostCompletion } from './post/handle-form-post.ts';
import { confirmationAddress, wantsJson } from './post/handle-json-post.ts';
import type { PostServices } from './post/post-context.ts';
import { prepareConfirmation } from './post/prepare-confirmation.ts';
import { sendPage } from './post/problem-page.ts';
import { discardReceived } from './post/read-post.ts';
import { sendSaved } from './post/submit-completion.ts';
import { uploadRoute } from './upload-route.ts';
import { readPrefill } from './visit/address.ts';
import { formPage } from './visit/form-page.ts';
import { getPostSource } from './visit/screening.ts';
import {
  type FormRequest,
  type FormRoute,
  findLive,
  type OpenVisitServices,
  readVisit,
  type Visit,
} from './visit/visit.ts';

/** Dependencies of the preview. */
export type PreviewContext = PostServices & OpenVisitServices & { readonly accounts: Accounts };

/**
 * Adds the preview of a form for its members: the page of its working copy, with its script. It stores no
 * submission and counts no visit. Files are deleted when the preview is submitted, otherwise after a day.
 */
export function previewRoutes(server: Server, context: PreviewContext): void {
  // The builder shows the preview in a frame.
  server.addHook('onSend', async (_request, reply) => {
    const policy = String(reply.getHeader('Content-Security-Policy'));
    reply.header(
      'Content-Security-Policy',
      policy.replace(/frame-ancestors [^;]*/, "frame-ancestors 'self'"),
    );
  });

  server.get('/f/:id/preview', async (request: FormRequest, reply) => {
    const visit = await openPreview(context, request, reply);
    const { raw } = readPrefill(visit.live.form, visit.address, visit.context);
    const key = createSubmissionKey(context.vault, visit.live);
    const page = formPage(context, visit, { raw, errors: [], files: new Map(), key, course: undefined });
    return sendPage(reply, 200, page, visit.look);
  });

  server.post<FormRoute>('/f/:id/preview', async (request, reply) => {
    const visit = await openPreview(context, request, reply);
    const endingOf = (known: Visit) => createPreviewCompletion(context, known, request, reply);
    await handleFormPost({ context, visit, request, reply, endingOf });
    return reply;
  });

  server.get('/f/:id/preview/submitted', async (request: FormRequest, reply) => {
    const visit = await openPreview(context, request, reply);
    const confirmed = { receipt: newId(), token: undefined };
    return sendPage(reply, 200, await confirmationPage(context, visit, request, confirmed), visit.look);
  });

  uploadRoute(server, context, '/f/:id/preview/files', (request: FormRequest, reply) =>
    openPreview(context, request, reply),
  );
  refuseOtherMethods(server, '/f/:id/preview', ['GET', 'POST']);
  refuseOtherMethods(server, '/f/:id/preview/submitted', ['GET']);
}

/**
 * Opens the working copy of a form for a signed-in member; every role may read forms. `_scheme` chooses the
 * color scheme of an adaptive theme.
 * @throws ApiError unauthorized, forbidden, not_found; validation_error if the form is incomplete.
 */
async function openPreview(
  context: PreviewContext,
  request: FormRequest,
  reply: FastifyReply,
): Promise<Visit> {
  const { accounts, config, database, requestCounter } = context;
  if (request.method === 'POST' && getPostSource(request, {}, config.publicUrl).kind !== 'own')
    throw new ApiError('forbidden', 'This request comes from another site.');
  const person = await requirePerson(accounts, request, reply);
  const { consolePerMinute } = config.limits;
  if (consolePerMinute > 0)
    await enforceRateLimit(requestCounter, personRateLimitKey(person.id), consolePerMinute);
  const live = await findLive(context, request.params.id);
  if (!live) throw new ApiError('not_found');
  await requireMembership(database, live.workspaceId, person);
  const { draft } = await readBuilderForm(database, live.workspaceId, live.id);
  const checked = validateStructure(draft.structure);
  if (!checked.ok)
    throw new ApiError('validation_error', `The form is incomplete: ${checked.errors[0]!.message}`);
  const { form } = checked;
  const settings = inScheme(shownSettings(draft.settings, form), request);
  const images = [...imagesOfSettings(settings).map(([, id]) => id), ...imagesIn(form).map(({ id }) => id)];
  const pictures = await findImageDimensions(database, live.workspaceId, images);
  const copy: LiveForm = { ...live, name: form.attrs.name, form, settings, pictures };
  return {
    ...readVisit(copy, request),
    path: `/f/${live.id}/preview`,
    isCounted: false,
    places: await findRemainingQuotas(database, live),
  };
}

/**
 * Returns the valid settings of a working copy. Colors with too little contrast are kept, so that their author
 * can see them.
 */
function shownSettings(input: Settings, form: Form): Settings {
  const { settings, errors } = checkSettings(input, form);
  if (settings.theme || !isRecord(input.theme)) return settings;
  const wrong = new Set(errors.map(({ field }) => field));
  const isShown = ([part, value]: readonly [string, unknown]) =>
    !wrong.has(`theme.${part}`) || (colors.includes(part) && isColour(value));
  return { ...settings, theme: Object.fromEntries(Object.entries(input.theme).filter(isShown)) };
}

const colors: readonly string[] = ['color', 'background', 'paper'];

function inScheme(settings: Settings, request: FastifyRequest): Settings {
  const mode = new URL(request.url, 'http://form').searchParams.get('_scheme');
  const { theme } = settings;
  if ((mode !== 'light' && mode !== 'dark') || (theme?.mode ?? 'auto') !== 'auto') return settings;
  return { ...settings, theme: { ...theme, mode } };
}

/** Returns what happens when a preview is submitted: answers are checked, and the confirmation is shown. */
function createPreviewCompletion(
  context: PreviewContext,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): PostCompletion {
  return {
    showing: () => ({}),
    async finish(post) {
      const { live } = visit;
      const result = checkAnswers(live.form, post.raw, post.files, visit.context);
      if (!result.ok) return result.errors;
      const id = newId();
      const { token } = prepareConfirmation(context.vault, visit, { ...post, id, isPreview: true });
      // There is no submission to download.
      const next = confirmationAddress(visit, { submission: { id } }, { token, pdf: undefined });
      await discardReceived(context, live, post.files);
      if (wantsJson(request)) reply.code(201).send({ id, next });
      else reply.redirect(next, 303);
      return [];
    },
    async save() {
      const config = { ...context.config, smtp: undefined };
      const { resume_days: days = settingRows.resume_days.default } = visit.live.settings;
      const until = new Date(now().getTime() + days * 86_400_000);
      sendSaved({ ...context, config }, visit, { path: visit.path, until }, request, reply);
    },
  };
}
