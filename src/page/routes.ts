import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fillTemplate } from '#ast/basics/words.ts';
import type { ImageServices } from '#forms/images/images.ts';
import { recordInvitationOpened, recordInvitationStarted } from '#invitations/admission.ts';
import { findUnsubscriber, unsubscribe } from '#invitations/unsubscribe.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import {
  compressFile,
  computeOncePerKey,
  type PageContent,
  sendCompressedFile,
} from '#kit/replies/compression.ts';
import type { Vault } from '#kit/vault.ts';
import { signSubmissionLinkToken } from '#submissions/links.ts';
import type { PdfServices } from '#submissions/pdf/render-submission-pdf.ts';
import { createSubmissionKey, signSubmissionKey } from '#submissions/submission-keys.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { confirmationPage } from './confirmation.ts';
import { linkMailRoutes } from './link-mail-routes.ts';
import { personalLinkRoutes } from './link-routes.ts';
import { handleFormPost } from './post/handle-form-post.ts';
import { handleJsonPost, isJsonBody, redirectsOf } from './post/handle-json-post.ts';
import type { PostServices } from './post/post-context.ts';
import { passwordPage, sendErrorResponse, sendPage } from './post/problem-page.ts';
import { addFormParsers } from './post/read-post.ts';
import { createSubmitCompletion } from './post/submit-completion.ts';
import { type PreviewContext, previewRoutes } from './preview-routes.ts';
import { renderNotice, renderUnsubscribe } from './render/notices.ts';
import { resultsRoutes } from './results.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { fontRoutes, imageRoutes } from './theme/routes.ts';
import { uploadRoute } from './upload-route.ts';
import { verificationRoute } from './verification-route.ts';
import { formatFormAddress, readPrefill } from './visit/address.ts';
import { embedAdmissionParameter, tryPassword, type WrongPassword } from './visit/admission.ts';
import { countView, visitRoute } from './visit/count-visit.ts';
import { formPage, renderFirstPage } from './visit/form-page.ts';
import { resolveName } from './visit/resolve-name.ts';
import { checkPostSource, sendPreflight } from './visit/screening.ts';
import {
  type FormRequest,
  type FormRoute,
  type LinkRequest,
  type OpenVisitServices,
  openVisit,
  openVisitEvenIfClosed,
  type Visit,
} from './visit/visit.ts';
import { formatVisitProgress, noVisitProgress } from './visit/visit-progress.ts';
import { chooseLocale, wordsByLocale } from './words/choose-locale.ts';

/** The built script of the page (setup.mjs): files whose names include a hash of their content. */
const builtScript = fileURLToPath(new URL('../../dist/page', import.meta.url));

/**
 * Serves the page's script at `/f/assets/`, cached forever because the names change with the content. Returns
 * the URL of the file that the page loads (`page-<hash>.js`, which loads the others), or undefined if the
 * script was not built: the page works without it. The files are read once.
 */
async function serveScript(server: Server, directory = builtScript): Promise<string | undefined> {
  const assets = await readScripts(directory);
  server.get('/f/assets/:name', (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const asset = assets.get(request.params.name);
    if (!asset) throw new ApiError('not_found', 'This file does not exist.');
    reply
      .headers({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Cross-Origin-Resource-Policy': 'same-origin',
      })
      .type('text/javascript; charset=utf-8');
    return sendCompressedFile(request, reply, asset);
  });
  return findPageScript(directory);
}

/** Returns the URL of the page's script, or undefined if it was not built. */
export async function findPageScript(directory = builtScript): Promise<string | undefined> {
  const names = [...(await readScripts(directory)).keys()];
  const first = names.find((name) => name.startsWith('page-'));
  return first && `/f/assets/${first}`;
}

const readScripts = computeOncePerKey(async (directory: string) => {
  const names = (await readNames(directory)).filter((name) => /^[a-z_]+-[\w-]+\.js$/.test(name));
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, compressFile(await readFile(join(directory, name)))] as const),
    ),
  );
});

async function readNames(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/**
 * Adds `/f/<id>/unsubscribe/<token>`: GET asks for confirmation, and POST stops the workspace's emails to the
 * invited person. Email programs send the POST themselves (RFC 8058: `List-Unsubscribe=One-Click`), without a
 * page or a cookie. The link also works if the form is closed or in the trash.
 */
function unsubscribeRoute(server: Server, context: { database: Database; vault: Vault }): void {
  server.get('/f/:id/unsubscribe/:token', async (request: LinkRequest, reply) => {
    await findUnsubscriber(context, linkOf(request));
    const { locale, words } = wordsFor(request);
    const { id, slug = id, token } = request.params;
    const action = `/f/${slug}/unsubscribe/${token}`;
    return sendPage(reply, 200, renderUnsubscribe({ action, language: locale, words }));
  });

  server.post('/f/:id/unsubscribe/:token', async (request: LinkRequest, reply) => {
    await unsubscribe(context, linkOf(request));
    const { locale, words } = wordsFor(request);
    const notice = { title: words.unsubscribedTitle, message: words.unsubscribedText, language: locale };
    return sendPage(reply, 200, renderNotice(notice));
  });

  refuseOtherMethods(server, '/f/:id/unsubscribe/:token', ['GET', 'POST']);
}

/** Returns the form id and token of a link. @throws ApiError not_found if the id is not a UUID. */
function linkOf({ params: { id, token } }: LinkRequest): { formId: string; token: string } {
  if (!uuidPattern.test(id)) throw new ApiError('not_found');
  return { formId: id, token };
}

function wordsFor(request: FastifyRequest) {
  const locale = chooseLocale({ accepted: request.headers['accept-language'] });
  return { locale, words: wordsByLocale[locale] };
}

/** Dependencies of the public pages. */
type PageContext = Omit<PreviewContext, 'scriptSource'> & ImageServices & PdfServices;

/**
 * Adds the public page of a form (docs/rules.md 14): `GET /f/<id>` shows it, `POST /f/<id>` submits it as an
 * HTML form or JSON, and `GET /f/<id>/submitted` shows the confirmation. Also adds personal links, uploads,
 * the password, fonts and images.
 */
export async function pageRoutes(server: Server, services: PageContext): Promise<void> {
  addFormParsers(server);
  server.addHook('onRequest', (request, reply) => resolveName(services, request, reply));
  const context = { ...services, scriptSource: await serveScript(server) };
  server.setErrorHandler((error, request, reply) => sendErrorResponse(context, error, request, reply));
  formRoutes(server, context);
  passwordRoute(server, context);
  signInRoutes(server, context);
  personalLinkRoutes(server, context);
  linkMailRoutes(server, context);
  uploadRoute(server, context, '/f/:id/files', (request: FormRequest) => openVisit(context, request));
  verificationRoute(server, context);
  visitRoute(server, context);
  await server.register(async (scope) => previewRoutes(scope, context));
  unsubscribeRoute(server, context);
  resultsRoutes(server, context);
  fontRoutes(server);
  imageRoutes(server, context);
}

type Context = PostServices & OpenVisitServices;

function formRoutes(server: Server, context: Context): void {
  server.get('/f/:id', async (request: FormRequest, reply) => {
    const visit = await openVisit(context, request);
    const { live, guest } = visit;
    if (guest && request.method === 'GET') await recordInvitationOpened(context.database, guest);
    if (guest?.savedId !== undefined && live.settings.save_progress) {
      const saved = { workspaceId: live.workspaceId, formId: live.id, id: guest.savedId };
      const token = signSubmissionLinkToken(context.vault, 'resume', saved);
      // Keeps the page's own parameters: the language, the frame, and the invitation, without which the form
      // may not open.
      const path = `${visit.path}/resume/${token}`;
      return reply.redirect(formatFormAddress(path, { ...visit.address, reference: {} }), 303);
    }
    const page = firstShowing(context, visit);
    countView(context, visit, request);
    return sendPage(reply, 200, page, visit.look, redirectsOf(live.settings));
  });

  server.post<FormRoute>('/f/:id', { onRequest: checkPostSource(context) }, async (request, reply) => {
    // Full or closed forms and used invitations are admitted too, to answer repeated submits
    // (post/accept-answers.ts).
    const visit = await openVisit(context, request, ['full', 'closed', 'used', 'responded']);
    if (visit.guest) await recordInvitationStarted(context.database, visit.guest);
    if (isJsonBody(request)) return handleJsonPost(context, visit, request, reply);
    const endingOf = (known: Visit) => createSubmitCompletion(context, known, request, reply);
    await handleFormPost({ context, visit, request, reply, endingOf });
    return reply;
  });

  server.options('/f/:id', async (request: FormRequest, reply) => {
    const { live } = await openVisitEvenIfClosed(context, request);
    return sendPreflight(live, request, reply, context.config.publicUrl);
  });

  server.get('/f/:id/submitted', async (request: FormRequest, reply) => {
    const visit = await openVisitEvenIfClosed(context, request);
    const { receipt, edit, pdf } = request.query as Readonly<Record<string, unknown>>;
    if (typeof receipt !== 'string' || !uuidPattern.test(receipt)) return reply.redirect(visit.path, 303);
    const token = typeof edit === 'string' && /^[\w-]{20,100}$/.test(edit) ? edit : undefined;
    const pdfToken = typeof pdf === 'string' && /^[\w.-]{60,140}$/.test(pdf) ? pdf : undefined;
    const page = await confirmationPage(context, visit, request, { receipt, token, pdfToken });
    return sendPage(reply, 200, page, visit.look);
  });

  refuseOtherMethods(server, '/f/:id', ['GET', 'POST', 'OPTIONS']);
  refuseOtherMethods(server, '/f/:id/submitted', ['GET']);
}

/** Renders the first view of the page, prefilled from its URL. */
function firstShowing(context: Context, visit: Visit): PageContent {
  const { address, live, guest, words } = visit;
  const isPlain = address.prefill.length === 0 && address.own.size === 0;
  if (isPlain && Object.keys(address.reference).length === 0) return renderFirstPage(context, visit);
  const { raw, leftOut } = readPrefill(live.form, address, visit.context);
  const notice =
    leftOut.length > 0 ? fillTemplate(words.prefillWrong, { labels: leftOut.join(', ') }) : undefined;
  const key = guest
    ? signSubmissionKey(context.vault, live, guest.invitationId)
    : createSubmissionKey(context.vault, live);
  const course = formatVisitProgress(noVisitProgress);
  return formPage(context, visit, { raw, errors: [], files: new Map(), key, notice, course });
}

/**
 * Adds `POST /f/<id>/enter`, which checks the password of a form and redirects to the form with its
 * parameters.
 */
function passwordRoute(server: Server, context: Context): void {
  server.post('/f/:id/enter', async (request: FormRequest, reply) => {
    const visit = await openVisit(context, request, ['password']);
    const { path } = visit;
    const password = request.body instanceof URLSearchParams ? request.body.get('_password') : undefined;
    const attempt = {
      password: password ?? '',
      path,
      address: ipRateLimitKey(request.ip),
      publicUrl: context.config.publicUrl,
    };
    const entered = await tryPassword(context, visit, attempt);
    if ('problem' in entered) return sendWrongPassword(context, entered, visit, request, reply);
    const { searchParams } = new URL(request.url, 'http://form');
    if (searchParams.get('_embed') === '1') searchParams.set(embedAdmissionParameter, entered.entry);
    const query = searchParams.size > 0 ? `?${searchParams.toString()}` : '';
    return reply.header('Set-Cookie', entered.cookie).redirect(`${path}${query}`, 303);
  });
  refuseOtherMethods(server, '/f/:id/enter', ['POST']);
}

function sendWrongPassword(
  context: Context,
  { problem, status, headers }: WrongPassword,
  visit: Visit,
  request: FormRequest,
  reply: FastifyReply,
): FastifyReply {
  return sendPage(reply.headers(headers), status, passwordPage(context, visit, request, problem), visit.look);
}
