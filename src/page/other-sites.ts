import type { FastifyReply, FastifyRequest } from 'fastify';
import { isOrigin, namesOrigin } from '#ast/origins.ts';
import type { Settings } from '#ast/settings.ts';
import type { LiveForm, LiveForms } from '#forms/live-form.ts';
import { uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';

/**
 * Whose page a post comes from, and what the form's `embed_origins` says of it. `own`: this service's, or no browser's.
 * `any`: another site's, and there is no list, so that every site may send. `origin` is `null` where its browser keeps
 * it to itself.
 */
export type Source =
  | { readonly kind: 'own' }
  | { readonly kind: 'named' | 'any' | 'unlisted'; readonly origin: string };

/** What judging a post needs. */
export type SourceContext = {
  readonly liveForms: LiveForms;
  readonly config: { readonly publicUrl: string };
};

/** Where a post comes from, by the headers that a page cannot choose. */
export function sourceOf(
  request: FastifyRequest,
  { embed_origins: list }: Settings,
  publicUrl: string,
): Source {
  const origin = otherOrigin(request, publicUrl);
  if (origin === undefined) return { kind: 'own' };
  if (list === undefined) return { kind: 'any', origin };
  return { kind: namesOrigin(list, origin) ? 'named' : 'unlisted', origin };
}

/** The origin of another site. Our own pages send no referrer, so without script their origin is `null` as well. */
function otherOrigin({ headers, host }: FastifyRequest, publicUrl: string): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined || origin === publicUrl || site === 'same-origin') return undefined;
  if (!isOrigin(origin)) return site === 'cross-site' ? 'null' : undefined;
  return new URL(origin).host === host ? undefined : origin;
}

/** Whether a browser shows the answer as its next page. Everything else is a program of the page, which reads it. */
const isPageLoad = ({ headers }: FastifyRequest): boolean =>
  (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' && /\btext\/html\b/.test(headers.accept ?? '');

/**
 * Before the body of a post is read: a program of a site that the form does not list is refused, and one of any other
 * site may read what is answered, problems too. A page load of a site that is not listed goes on: its visitor would
 * lose what they wrote, so it is held (screening.ts).
 */
export const judgeSource =
  ({ liveForms, config }: SourceContext) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const live = otherOrigin(request, config.publicUrl) && (await findForm(liveForms, request));
    if (!live) return;
    const source = sourceOf(request, live.settings, config.publicUrl);
    if (source.kind === 'unlisted' && !isPageLoad(request)) throw unlisted(source.origin);
    if (source.kind === 'any' || source.kind === 'named') reply.headers(readableBy(source));
  };

/** What lets a page of another site read the answer. No cookie is needed, and none is taken. */
const readableBy = ({ kind, origin }: Extract<Source, { origin: string }>) => ({
  'Access-Control-Allow-Origin': kind === 'any' ? '*' : origin,
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
  Vary: 'Origin',
});

/** Answers what a browser asks before it lets a page of another site send JSON. @throws ApiError forbidden. */
export function answerPreflight(
  { settings }: LiveForm,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): FastifyReply {
  const source = sourceOf(request, settings, publicUrl);
  if (source.kind === 'unlisted') throw unlisted(source.origin);
  if (source.kind !== 'own') {
    reply.headers({
      ...readableBy(source),
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
      'Access-Control-Max-Age': '600',
    });
  }
  return reply.code(204).header('Allow', 'GET, HEAD, POST, OPTIONS').send();
}

const unlisted = (origin: string): ApiError =>
  new ApiError(
    'forbidden',
    `Pages of ${origin} may not send this form: its setting embed_origins does not name them.`,
  );

/** The form of the address; one that was never published is as absent as one that does not exist. */
async function findForm(liveForms: LiveForms, request: FastifyRequest): Promise<LiveForm | undefined> {
  const { id } = request.params as { id: string };
  const live = uuidPattern.test(id) ? await liveForms.find(id.toLowerCase()) : undefined;
  return live && (live.status !== 'draft' || live.wasPublished) ? live : undefined;
}
