import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import { placeOf } from '#kit/place-of.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { authenticate, type Caller, requirePermission } from '#workspaces/authenticate.ts';
import { anonymousRate, type Rate, rateLimitExceeded, takeRequest } from '#workspaces/limit.ts';
import type { KeyRequest, RequestLog } from '#workspaces/request-log/request-log.ts';
import { now } from '#kit/clock.ts';
import type { ApiRoute } from './routes.ts';
import type { Services } from './services.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/**
 * The API on a server of its own scope: who is asking, how often, whether it may, then the endpoint, which checks
 * shape and existence (DESIGN 4.7). Unknown paths and methods are answered in the same order, by 404 and 405.
 */
export async function serveApi(
  server: Server,
  services: Services,
  routes: readonly ApiRoute[],
  requestLog: RequestLog,
): Promise<void> {
  server.decorateRequest('caller', null);
  server.addHook('onRequest', async (request, reply) => {
    request.caller = await findCaller(services, request, reply);
    // A request that is one too many has a caller too, who finds it among the key's requests.
    await count(services, reply, request.caller.workspaceId, request.caller);
  });
  server.addHook('onResponse', async (request, reply) => {
    if (request.caller) requestLog.note(describeRequest(request.caller, request, reply));
  });
  server.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'There is nothing at this path.');
  });

  for (const [method, url, endpoint] of routes) {
    server.route({
      method,
      url,
      // Before the body is read: whoever may not write has nothing to send.
      onRequest: async (request) => requirePermission(request.caller!, endpoint.permission),
      async handler(request, reply) {
        const answer = await endpoint.handle(request.caller!, request);
        reply.code(answer.status);
        if (answer.status === 204) return reply.send();
        return reply.type('application/json; charset=utf-8').send(answer.json ?? JSON.stringify(answer.body));
      },
    });
  }
  for (const [url, list] of Map.groupBy(routes, ([, url]) => url)) {
    refuseOtherMethods(
      server,
      url,
      list.map(([method]) => method),
    );
  }
}

/** Authenticates; who cannot be told is counted against the address. */
async function findCaller(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  try {
    return await authenticate(services, request.raw.headersDistinct['authorization']);
  } catch (error) {
    // Also when the database is away: every answer says how much of the limit is left.
    await count(services, reply, `address ${addressKey(request.ip)}`, anonymousRate);
    throw error;
  }
}

const describeRequest = (
  { workspaceId, keyId }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): KeyRequest => ({
  workspaceId,
  keyId,
  id: request.id,
  method: request.method,
  path: placeOf(request),
  status: reply.statusCode,
  ms: reply.elapsedTime,
  at: now(),
  address: request.ip,
});

async function count(services: Services, reply: FastifyReply, key: string, rate: Rate): Promise<void> {
  const { headers, exceeded } = await takeRequest(services.requestCounter, key, rate);
  reply.headers(headers);
  if (exceeded !== undefined) throw rateLimitExceeded(exceeded);
}
