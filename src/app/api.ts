import type { FastifyReply, FastifyRequest } from 'fastify';
import { now } from '#kit/clock.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import { allowed, readFiles, readJson, refuseOtherMethods, type Server } from '#kit/http.ts';
import type { Deprecation, Origin } from '#kit/operation.ts';
import { placeOf } from '#kit/place-of.ts';
import { payloadOf } from '#kit/payload-of.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import { type Caller, requirePermission } from '#workspaces/authenticate.ts';
import { type Rate, takeRequest } from '#workspaces/limit.ts';
import type { KeyRequest, RequestLog } from '#workspaces/request-log/request-log.ts';
import { findCaller, type Door } from './find-caller.ts';
import type { ApiRoute } from './operations.ts';
import { runnerOf } from './run-operation.ts';
import type { Services } from './services.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export type ApiServices = Services & Door;

/**
 * The API on a server of its own scope: who is asking, how often, whether it may, then the operation, which checks
 * shape and existence. Unknown paths and methods are answered in the same order, by 404 and 405. What holds for every
 * operation of a kind (ETags, Idempotency-Key, packing) is done here, by the table.
 */
export async function serveApi(
  server: Server,
  services: ApiServices,
  routes: readonly ApiRoute[],
  { requestLog, auditLog }: { requestLog: RequestLog; auditLog: AuditLog },
): Promise<void> {
  readJson(server, 'application/merge-patch+json');
  openDoor(server, services, requestLog);
  server.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'There is nothing at this path.');
  });

  for (const route of routes) {
    const { bodyContent, bodyLimit } = route.operation;
    if (bodyContent === undefined) serveOperation(server, services, route, auditLog);
    // In a scope of its own: at every other operation the bytes of a file are not even read.
    else
      await server.register(async (scope) => {
        readFiles(scope, bodyContent, bodyLimit);
        serveOperation(scope, services, route, auditLog);
      });
  }
  for (const [url, list] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = [...list.map(({ method }) => method), 'OPTIONS'];
    server.options(url, async (_request, reply) => reply.code(204).header('Allow', allowed(methods)).send());
    refuseOtherMethods(server, url, methods);
  }
}

/** Tells at every request to a server's scope who is asking (401) and how often (429), and keeps what a key asked. */
export function openDoor(server: Server, services: ApiServices, requestLog: RequestLog): void {
  server.decorateRequest('caller', null);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    request.caller = await findCaller(services, request, reply, (key, rate) =>
      count(services, reply, key, rate),
    );
  });
  server.addHook('onResponse', (request, reply, done) => {
    if (request.caller?.actor.kind === 'key')
      requestLog.note(describeRequest(request.caller, request, reply));
    done();
  });
}

function serveOperation(server: Server, services: ApiServices, route: ApiRoute, auditLog: AuditLog): void {
  const { method, path, operation } = route;
  const run = runnerOf(services, auditLog, route);
  server.route({
    method,
    url: path,
    // That of a file holds for the file alone (readFiles), as JSON is refused there after it was read.
    ...(operation.bodyLimit !== undefined && !operation.bodyContent && { bodyLimit: operation.bodyLimit }),
    // Before the body is read: whoever may not write has nothing to send.
    onRequest(request, reply, done) {
      if (operation.deprecated) reply.headers(sayDeprecated(operation.deprecated));
      requirePermission(request.caller!, operation.permission);
      done();
    },
    async handler(request, reply) {
      const { params, query, body, id, headers } = request;
      const key = method === 'POST' ? headers['idempotency-key'] : undefined;
      const answer = await run(request.caller!, {
        params,
        query,
        body,
        id,
        ifMatch: headers['if-match'],
        origin: originOf(request),
        once: key === undefined ? undefined : { key: String(key), url: request.url },
        isHead: request.method === 'HEAD',
      });
      return payloadOf(request, reply, answer);
    },
  });
}

/** Where a request comes from, for the audit log. */
export const originOf = ({ ip, headers }: FastifyRequest): Origin => ({
  address: ip,
  agent: headers['user-agent']?.slice(0, longestAgent) ?? null,
});
const longestAgent = 300;

/** RFC 9745 and RFC 8594: a client may warn of it by itself. */
const sayDeprecated = ({ since, until }: Deprecation): Record<string, string> => ({
  Deprecation: `@${Date.parse(since) / 1_000}`,
  Sunset: new Date(until).toUTCString(),
});

const describeRequest = (
  { workspaceId, actor }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): KeyRequest => ({
  workspaceId,
  keyId: actor.id,
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
