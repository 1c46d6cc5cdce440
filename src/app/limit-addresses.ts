import type { FastifyReply, FastifyRequest } from 'fastify';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { anonymousRate, takeRequest } from '#workspaces/limit.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { isApiPath } from './api-path.ts';

const limitHeader = 'X-RateLimit-Limit';
/** What anybody reads without a key. */
const documents = /^\/api\/v1\/(?:openapi\.json|docs)(?:\/|$)/;

const pathOf = ({ originalUrl }: FastifyRequest): string => originalUrl.split(/[?#]/, 1)[0]!;

/**
 * Puts the headers of the rate limit on every answer of the API that no key or session was counted for: the document, the
 * reference, a form that is sent at the API's address, a host that is not ours. These count for the address.
 */
export function limitAddresses(server: Server, requestCounter: RequestCounter): void {
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<number | undefined> => {
    const taken = await takeRequest(requestCounter, `address ${addressKey(request.ip)}`, anonymousRate);
    reply.headers(taken.headers);
    return taken.exceeded;
  };
  server.addHook('onRequest', async (request, reply) => {
    if (!documents.test(pathOf(request))) return;
    const exceeded = await count(request, reply);
    if (exceeded !== undefined) throw rateLimitExceeded(exceeded);
  });
  server.addHook('onSend', async (request, reply) => {
    if (isApiPath(pathOf(request)) && !reply.hasHeader(limitHeader)) await count(request, reply);
  });
}

/** The answer to bytes that are not HTTP: no caller is known, so nothing is counted. */
export function brokenHeaders(): Record<string, string> {
  const limit = String(anonymousRate.perMinute);
  const end = String(Math.ceil(now().getTime() / 1_000) + 60);
  return { [limitHeader]: limit, 'X-RateLimit-Remaining': limit, 'X-RateLimit-Reset': end };
}
