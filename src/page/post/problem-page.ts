import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { factOf } from '#ast/basics/fact-of.ts';
import { fill, sayTime } from '#ast/basics/words.ts';
import { TooMuchWork } from '#ast/basics/work.ts';
import { type ApiError, errorCodes } from '#kit/errors.ts';
import { type Page, sendText } from '#kit/replies/packing.ts';
import { problemOf } from '#kit/validation.ts';
import { stylesheet } from '../markup/style.ts';
import { type Retry, renderNotice, renderPassword } from '../render/notices.ts';
import { type Look, lookOf, plainLook } from '../theme/look.ts';
import type { RefusalReason } from '../visit/admission.ts';
import { sourceOf } from '../visit/screening.ts';
import { languageLinks, Refused, readVisit, scriptInFrame, type Visit } from '../visit/visit.ts';
import { chooseLocale, wordsOf } from '../words/choose-locale.ts';
import { type Words } from '../words/words.ts';
import { wantsJson } from './answer-json.ts';
import { isMultipart } from './multipart.ts';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const styleHash = hashOf(stylesheet);

/**
 * Headers of a page of this room. The policy lets the page load its own inline style sheets, known by their hashes,
 * scripts, images and fonts of this origin, and nothing else. Only a page that was asked for as an embedded one may
 * be framed, by the origins of the form's settings. `no-store`: a page carries answers.
 */
function makeHeaders({ style, isEmbedded, embedOrigins = ['*'] }: Look) {
  const ancestors = isEmbedded ? embedOrigins.join(' ') : '';
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${style === '' ? styleHash : `${styleHash} ${hashOf(style)}`}`,
      "script-src 'self'",
      "connect-src 'self'",
      // Pictures that a visitor chose are shown from where the browser has them.
      "img-src 'self' blob:",
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

export const headersFor = factOf(makeHeaders);

/** Headers of pages without a theme. */
export const pageHeaders = headersFor(plainLook);

/**
 * Sends a page of this room, with the headers of the look that it was drawn in.
 * @param leadsTo where posting the page's form redirects to: browsers hold the policy's `form-action` against it.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: Page,
  look: Look = plainLook,
  leadsTo: readonly string[] = [],
): FastifyReply {
  reply.code(status).headers(headersFor(look)).type('text/html; charset=utf-8');
  if (leadsTo.length > 0) {
    const policy = headersFor(look)['Content-Security-Policy'];
    const origins = new Set(leadsTo.map((address) => new URL(address).origin));
    const target = `form-action 'self' ${[...origins].join(' ')}`;
    reply.header('Content-Security-Policy', policy.replace("form-action 'self'", target));
  }
  return sendText(reply.request, reply, page);
}

type FrameContext = {
  readonly scriptSource: string | undefined;
  readonly config: { readonly publicUrl: string };
};

/** Answers whatever ended a request: JSON for who asked for it, else a page that says one thing. */
export function answerProblem(
  context: FrameContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refused = error instanceof Refused ? error : undefined;
  const problem = problemOf(refused?.refusal.error ?? error, request);
  reply.headers(problem.headers);
  // What is left of a body that was not read to its end cannot be told from the next request.
  if (isMultipart(request) && !request.raw.complete) reply.header('Connection', 'close');
  if (wantsJson(request))
    return reply.code(problem.status).type('application/json; charset=utf-8').send(problem.body);
  return refused?.form
    ? sendRefusal(context, refused, request, reply)
    : sendNotice(context, problem, request, reply);
}

type Said = { readonly title: string; readonly message: string; readonly next?: string | undefined };

const saying =
  (title: keyof Words, message: keyof Words, next?: keyof Words) =>
  ({ words }: Visit): Said => ({ title: words[title], message: words[message], next: next && words[next] });

/** What a page says to somebody who is not admitted: what is the case, and what comes next. */
const refusalPages: Readonly<Record<RefusalReason, (visit: Visit) => Said>> = {
  absent: saying('notFoundTitle', 'notFoundText', 'linkNext'),
  closed: saying('closedTitle', 'closedText', 'closedNext'),
  early: ({ words, locale, live: { settings } }) => {
    const date = sayTime(new Date(settings.opens_at!), locale, settings.time_zone);
    const next = fill(words.opensOn, { date });
    return {
      title: words.notOpenTitle,
      message: next,
      next: settings.closed_message ? next : words.closedNext,
    };
  },
  full: saying('fullTitle', 'closedText', 'closedNext'),
  invited: saying('invitedTitle', 'invitedNext'),
  password: saying('passwordTitle', 'passwordText', 'closedNext'),
  link: saying('linkTitle', 'linkText', 'linkNext'),
  used: saying('usedTitle', 'usedText', 'usedNext'),
};

function sendRefusal(
  context: FrameContext,
  { refusal, form }: Refused,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const visit = readVisit(form!, request);
  const { status } = refusal.error;
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
    script: scriptInFrame(visit, context),
  });
  return sendPage(reply, status, page, visit.look);
}

/** The page that asks for a form's password; `problem` is what was wrong with the last try. */
export function passwordPage(
  context: FrameContext,
  visit: Visit,
  request: FastifyRequest,
  problem?: string,
): string {
  const { live, language, look, words } = visit;
  const { search } = new URL(request.url, 'http://form');
  return renderPassword({
    formName: live.form.attrs.name,
    action: `/f/${live.id}/enter${search}`,
    problem,
    language,
    languages: languageLinks(visit, request),
    look,
    script: scriptInFrame(visit, context),
    words,
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
  const words = wordsOf[locale];
  const isLink = request.routeOptions.url?.endsWith('/:token') === true;
  // Inside another page too: a frame that the browser refuses to fill says nothing to anybody.
  const look = lookOf(
    '',
    {},
    {
      isEmbedded: searchParams.get('_embed') === '1',
      isPersonal: isLink,
      scheme: searchParams.get('_scheme') === 'dark' ? 'dark' : 'light',
      language: locale,
    },
  );
  const send = (title: string, message: string, next?: string, again?: Retry): FastifyReply => {
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
  const isKept = again?.method === 'post';
  return send(title, own, isKept ? words.tryAgainKept : again ? undefined : words.tryAgainReload, again);
}

/**
 * The request once more. Not where it brought files, which only the browser has; nor a password; nor from another site,
 * as it would be ours the second time.
 */
function retryOf(
  { config }: FrameContext,
  request: FastifyRequest,
  { tryAgain: text }: Words,
): Retry | undefined {
  const { body, method, url: address } = request;
  const { pathname, searchParams } = new URL(address, 'http://form');
  if (method !== 'POST') return { method: 'get', address: pathname, fields: [...searchParams], text };
  const isHeld = body instanceof URLSearchParams && !body.has('_password');
  if (!isHeld || sourceOf(request, {}, config.publicUrl).kind !== 'own') return undefined;
  return { method: 'post', address, fields: [...body], text };
}
