import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { fillTemplate, formatDateTime } from '#ast/basics/words.ts';
import { TooMuchWork } from '#ast/basics/work.ts';
import type { Config } from '#kit/config.ts';
import { type ApiError, errorCodes } from '#kit/errors.ts';
import { type PageContent, sendCompressedPage } from '#kit/replies/compression.ts';
import { resolveRequestError } from '#kit/validation.ts';
import { stylesheet } from '../markup/style.ts';
import { type RetryableRequest, renderNotice, renderPasswordForm } from '../render/notices.ts';
import { getPageStyle, type PageStyle, plainPageStyle } from '../theme/page-style.ts';
import type { RefusalReason } from '../visit/admission.ts';
import { getPostSource } from '../visit/screening.ts';
import {
  FormRefusedError,
  getEmbedPageScript,
  languageLinks,
  readVisit,
  type Visit,
} from '../visit/visit.ts';
import { chooseLocale, wordsByLocale } from '../words/choose-locale.ts';
import { type Words } from '../words/words.ts';
import { wantsJson } from './handle-json-post.ts';
import { isMultipart, multipartBytes } from './multipart.ts';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const styleHash = hashOf(stylesheet);

/**
 * Headers of public pages. The policy allows only inline style sheets by hash, and scripts, images and fonts
 * from this origin. Only a page that was requested as embedded can be framed, by the origins in the form's
 * settings. `no-store`: a page contains answers.
 */
function makeHeaders({ style, isEmbedded, embedOrigins = ['*'] }: PageStyle) {
  const ancestors = isEmbedded ? embedOrigins.join(' ') : '';
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${style === '' ? styleHash : `${styleHash} ${hashOf(style)}`}`,
      "script-src 'self'",
      "connect-src 'self'",
      // Previews of pictures that the visitor chose use blob: URLs.
      "img-src 'self' blob: data:",
      "font-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      `frame-ancestors ${ancestors || "'none'"}`,
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  } as const satisfies Readonly<Record<string, string>>;
}

export const headersForStyle = memoizeByObject(makeHeaders);

/** Headers of pages without a theme. */
export const plainPageHeaders = headersForStyle(plainPageStyle);

/**
 * Sends a page with the headers of its look.
 * @param leadsTo redirect URLs of the form: browsers also apply the policy's `form-action` to redirects.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: PageContent,
  look: PageStyle = plainPageStyle,
  leadsTo: readonly string[] = [],
): FastifyReply {
  reply.code(status).headers(headersForStyle(look)).type('text/html; charset=utf-8');
  if (leadsTo.length > 0) {
    const policy = headersForStyle(look)['Content-Security-Policy'];
    const origins = new Set(leadsTo.map((address) => new URL(address).origin));
    const target = `form-action 'self' ${[...origins].join(' ')}`;
    reply.header('Content-Security-Policy', policy.replace("form-action 'self'", target));
  }
  return sendCompressedPage(reply.request, reply, page);
}

type FrameContext = {
  readonly scriptSource: string | undefined;
  readonly config: Pick<Config, 'publicUrl' | 'identityProvider'>;
};

/** Answers a failed request with JSON if the client accepts it, or else with an error page. */
export function sendErrorResponse(
  context: FrameContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refused = error instanceof FormRefusedError ? error : undefined;
  const problem = resolveRequestError(refused?.refusal.error ?? error, request);
  reply.headers(problem.headers);
  // Otherwise the unread rest of a body would be parsed as the next request.
  if ((isMultipart(request) || isLargeStream(request)) && !request.raw.complete)
    reply.header('Connection', 'close');
  if (wantsJson(request))
    return reply.code(problem.status).type('application/json; charset=utf-8').send(problem.body);
  return refused?.form
    ? sendRefusal(context, refused, request, reply)
    : sendNotice(context, problem, request, reply);
}

/** Returns whether the rest of a body is too long to be read and ignored, after which the client gets the response. */
const isLargeStream = ({ body, raw, headers }: FastifyRequest): boolean =>
  body === raw && !(Number(headers['content-length']) <= multipartBytes);

type NoticeText = { readonly title: string; readonly message: string; readonly next?: string | undefined };

const noticeText =
  (title: keyof Words, message: keyof Words, next?: keyof Words) =>
  ({ words }: Visit): NoticeText => ({
    title: words[title],
    message: words[message],
    next: next && words[next],
  });

/** The texts of the pages for refused visitors: the problem and the next step. */
const refusalPages: Readonly<Record<RefusalReason, (visit: Visit) => NoticeText>> = {
  absent: noticeText('notFoundTitle', 'notFoundText', 'linkNext'),
  closed: noticeText('closedTitle', 'closedText', 'closedNext'),
  early: ({ words, locale, live: { settings } }) => {
    const date = formatDateTime(new Date(settings.opens_at!), locale, settings.time_zone);
    const next = fillTemplate(words.opensOn, { date });
    return {
      title: words.notOpenTitle,
      message: next,
      next: settings.closed_message ? next : words.closedNext,
    };
  },
  full: noticeText('fullTitle', 'closedText', 'closedNext'),
  invited: noticeText('invitedTitle', 'invitedNext'),
  password: noticeText('passwordTitle', 'passwordText', 'closedNext'),
  link: noticeText('linkTitle', 'linkText', 'linkNext'),
  used: noticeText('usedTitle', 'usedText', 'usedNext'),
  signIn: noticeText('signInTitle', 'signInText'),
  responded: noticeText('usedTitle', 'respondedText'),
};

function sendRefusal(
  context: FrameContext,
  { refusal, form }: FormRefusedError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const visit = readVisit(form!, request);
  const { status } = refusal.error;
  if (refusal.reason === 'signIn')
    return sendPage(reply, status, signInPage(context, visit, request), visit.look);
  if (refusal.reason === 'password')
    return sendPage(reply, status, passwordPage(context, visit, request), visit.look);
  const { title, message, next } = refusalPages[refusal.reason](visit);
  const own = visit.live.settings.closed_message;
  const isWorded = own !== undefined && refusal.error.message === form!.settings.closed_message;
  const page = renderNotice({
    formName: visit.live.form.attrs.name,
    title,
    message: isWorded ? own : message,
    next,
    language: visit.language,
    languages: languageLinks(visit, request),
    look: visit.look,
    script: getEmbedPageScript(visit, context),
  });
  return sendPage(reply, status, page, visit.look);
}

/** Renders the page that asks for a form's password. `problem` is the error of the last attempt. */
export function passwordPage(
  context: FrameContext,
  visit: Visit,
  request: FastifyRequest,
  problem?: string,
): string {
  const { live, path, language, look, words } = visit;
  const { search } = new URL(request.url, 'http://form');
  return renderPasswordForm({
    formName: live.form.attrs.name,
    action: `${path}/enter${search}`,
    problem,
    language,
    languages: languageLinks(visit, request),
    look,
    script: getEmbedPageScript(visit, context),
    words,
  });
}

/**
 * Renders the page with the link to sign in. An embedded page opens the form outside its frame, because the
 * provider refuses frames.
 */
function signInPage(context: FrameContext, visit: Visit, { method, url }: FastifyRequest): string {
  const { live, language, look, words } = visit;
  const name = context.config.identityProvider?.name ?? '';
  const next = new URL(method === 'GET' ? url : visit.path, 'http://form');
  next.searchParams.delete('_embed');
  const query = new URLSearchParams({ _next: `${next.pathname}${next.search}` });
  return renderNotice({
    formName: live.form.attrs.name,
    title: words.signInTitle,
    message: fillTemplate(words.signInText, { name }),
    link: {
      address: `${visit.path}/sign-in?${query.toString()}`,
      text: fillTemplate(words.signInGo, { name }),
      className: 'again',
      leavesFrame: look.isEmbedded,
    },
    language,
    languages: languageLinks(visit, { method, url }),
    look,
    script: getEmbedPageScript(visit, context),
  });
}

function sendNotice(
  context: FrameContext,
  problem: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { searchParams } = new URL(request.url, 'http://form');
  const locale = chooseLocale({
    asked: searchParams.get('_lang') ?? undefined,
    accepted: request.headers['accept-language'],
  });
  const words = wordsByLocale[locale];
  const isLink = request.routeOptions.url?.endsWith('/:token') === true;
  // Error pages can be framed too: a frame stays blank if the browser refuses its page.
  const look = getPageStyle(
    '',
    {},
    {
      isEmbedded: searchParams.get('_embed') === '1',
      isPersonal: isLink,
      scheme: searchParams.get('_scheme') === 'dark' ? 'dark' : 'light',
      language: locale,
    },
  );
  const send = (title: string, message: string, next?: string, again?: RetryableRequest): FastifyReply => {
    const script = look.isEmbedded ? context.scriptSource : undefined;
    return sendPage(
      reply,
      problem.status,
      renderNotice({ title, message, next, again, language: locale, look, script }),
      look,
    );
  };
  if (isLink && (problem.code === 'not_found' || problem.code === 'gone'))
    return send(words.linkTitle, words.linkText, words.linkNext);
  const titles: Readonly<Partial<Record<number, string>>> = {
    [errorCodes.not_found.status]: words.notFoundTitle,
    [errorCodes.gone.status]: words.closedTitle,
    [errorCodes.payload_too_large.status]: words.tooLargeTitle,
    [errorCodes.service_unavailable.status]: words.tryAgainTitle,
  };
  const title = titles[problem.status] ?? words.wrongTitle;
  const isTooMuch = problem.cause instanceof TooMuchWork;
  const isAway = problem.message === errorCodes.service_unavailable.message;
  const own = isTooMuch ? words.tooMuchWork : isAway ? words.tryAgainText : problem.message;
  if (problem.code === 'not_found') return send(title, words.notFoundText, words.linkNext);
  if (problem.status !== errorCodes.service_unavailable.status) return send(title, own);
  const again = retryOf(context, request, words);
  const isPost = again?.method === 'post';
  return send(title, own, isPost ? words.tryAgainKept : again ? undefined : words.tryAgainReload, again);
}

/**
 * Returns the request for a retry. A post with files, with a password or from another site cannot be
 * repeated: only the browser has the files, and a repeated post would seem to come from our page.
 */
function retryOf(
  { config }: FrameContext,
  request: FastifyRequest,
  { tryAgain: text }: Words,
): RetryableRequest | undefined {
  const { body, method, url: address } = request;
  const { pathname, searchParams } = new URL(address, 'http://form');
  if (method !== 'POST') return { method: 'get', address: pathname, fields: [...searchParams], text };
  const isRepeatable = body instanceof URLSearchParams && !body.has('_password');
  if (!isRepeatable || getPostSource(request, {}, config.publicUrl).kind !== 'own') return undefined;
  return { method: 'post', address, fields: [...body], text };
}
