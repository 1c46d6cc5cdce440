import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseForeignLink, refuseForeignRequest } from '#console/serve.ts';
import { now, uuidPattern } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import {
  addBytesParser,
  addJsonParser,
  addStreamParser,
  allowHeader,
  loggablePath,
  refuseOtherMethods,
  type Server,
} from '#kit/http.ts';
import type { ClientInfo } from '#kit/operation.ts';
import { prepareResponse } from '#kit/replies/prepare-response.ts';
import { leastRoleFor, roleMay } from '#rules/permissions.ts';
import { type Accounts, ipRateLimitKey } from '#workspaces/accounts/users.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import {
  anonymousRate,
  authenticateApiKey,
  type Caller,
  countRequest,
  personRateLimitKey,
  type RequestRate,
  requirePermission,
} from '#workspaces/authenticate.ts';
import type { CompletedKeyRequest, RequestLog } from '#workspaces/request-log.ts';
import { requireMembership, requirePerson } from '#workspaces/sign-in/require-person.ts';
import type { ApiRoute } from './operations.ts';
import { createOperationRunner } from './run-operation.ts';
import type { Services } from './services.ts';

type CallerServices = { accounts: Accounts; database: Database; config: Config };

/**
 * Returns the caller of a request: the API key in `Authorization`, or the person of the session cookie in the
 * workspace that `X-Workspace-ID` names. Forms and scripts of other sites cannot send that header; the origin
 * of the request is checked as well. A link to a file names the workspace in its URL, as `workspace_id`. A
 * request without a known caller counts against its IP address.
 * @param count counts one request, and throws if it exceeds the limit.
 * @throws ApiError unauthorized; for a person also forbidden, or not_found for a workspace that they do not
 * belong to.
 */
async function findCaller(
  door: CallerServices,
  request: FastifyRequest,
  reply: FastifyReply,
  count: (key: string, rate: RequestRate) => Promise<void>,
): Promise<Caller> {
  let caller: Caller;
  try {
    const authorization = request.raw.headersDistinct['authorization'];
    const workspaceId = authorization === undefined ? namedWorkspace(request, door.config) : undefined;
    caller =
      workspaceId === undefined
        ? await authenticateApiKey(door, authorization)
        : await findSession(door, workspaceId.toLowerCase(), request, reply);
  } catch (error) {
    // If the database is down, no caller can be identified, and many with valid keys may share an IP address.
    // They get 503 instead of 429; the response still says how much of the limit is left.
    const rate = error instanceof ApiError ? anonymousRate : { ...anonymousRate, burst: Infinity };
    await count(`address ${ipRateLimitKey(request.ip)}`, rate);
    throw error;
  }
  // Set before the request is counted, so that a request over the limit also appears in the key's request
  // log.
  request.caller = caller;
  await count(caller.counted, caller.rate);
  return caller;
}

/**
 * Returns the workspace that a request names. GET and HEAD may name it in the query, because a link cannot
 * send headers. It is then removed from the query, so that the operation does not see it.
 */
function namedWorkspace(request: FastifyRequest, { publicUrl }: Config): string | undefined {
  const header = request.headers['x-workspace-id'];
  if (header !== undefined || (request.method !== 'GET' && request.method !== 'HEAD'))
    return header?.toString();
  const { workspace_id: linked, ...query } = request.query as Readonly<Record<string, string | string[]>>;
  if (linked === undefined) return undefined;
  refuseForeignLink(request, publicUrl);
  request.query = query;
  return String(linked);
}

/**
 * Returns the caller of a session in one of their workspaces. The permissions of a role have the same effect
 * as those of an API key.
 */
async function findSession(
  { accounts, database, config }: CallerServices,
  workspaceId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  refuseForeignRequest(request, config.publicUrl);
  const person = await requirePerson(accounts, request, reply);
  if (!uuidPattern.test(workspaceId)) throw new ApiError('bad_request', 'X-Workspace-ID must be a UUID.');
  const role = await requireMembership(database, workspaceId, person);
  return {
    workspaceId,
    formIds: null,
    actor: { kind: 'person', id: person.id, sessionId: person.sessionId },
    may: (permission) => roleMay(role, permission),
    counted: personRateLimitKey(person.id),
    rate: { perMinute: config.limits.consolePerMinute || Number.MAX_SAFE_INTEGER, burst: 0 },
    refusal: (permission) =>
      `This requires the role ${leastRoleFor(permission)} or higher; your role is ${role}.`,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export type ApiServices = Services & CallerServices;

/**
 * Registers the API on a server scope. Each request passes authentication, rate limit and permission; then
 * the operation validates its input and finds the objects in it. For unknown paths and methods,
 * authentication and rate limit also come before 404 or 405. What all operations share (ETags,
 * Idempotency-Key, compression) is handled here, from the table of routes.
 */
export async function serveApi(
  server: Server,
  services: ApiServices,
  routes: readonly ApiRoute[],
  { requestLog, auditLog }: { requestLog: RequestLog; auditLog: AuditLog },
): Promise<void> {
  addJsonParser(server, 'application/merge-patch+json');
  authenticateRequests(server, services, requestLog);
  server.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'This path does not exist.');
  });

  for (const route of routes) {
    const { bodyContent, bodyLimit, streamsBody } = route.operation;
    if (bodyContent === undefined) serveOperation(server, services, route, auditLog);
    // In a separate scope, so that other operations do not even read the bytes of a file.
    else
      await server.register(async (scope) => {
        if (streamsBody) addStreamParser(scope, bodyContent, bodyLimit!);
        else addBytesParser(scope, bodyContent, bodyLimit);
        serveOperation(scope, services, route, auditLog);
      });
  }
  for (const [url, list] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = [...list.map(({ method }) => method), 'OPTIONS'];
    server.options(url, async (_request, reply) =>
      reply.code(204).header('Allow', allowHeader(methods)).send(),
    );
    refuseOtherMethods(server, url, methods);
  }
}

/**
 * Authenticates (401) and rate-limits (429) every request of a server scope, and logs the requests of API
 * keys.
 */
export function authenticateRequests(server: Server, services: ApiServices, requestLog: RequestLog): void {
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
  const run = createOperationRunner(services, auditLog, route);
  server.route({
    method,
    url: path,
    // The limit for files applies only to the file (addBytesParser). For these operations, JSON is refused
    // after it is read, so it keeps the default limit.
    ...(operation.bodyLimit !== undefined && !operation.bodyContent && { bodyLimit: operation.bodyLimit }),
    // Checked before the body is read: without the permission, the body does not matter.
    onRequest(request, _reply, done) {
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
        origin: auditOriginOf(request),
        once: key === undefined ? undefined : { key: String(key), url: request.url },
        isHead: request.method === 'HEAD',
      });
      return prepareResponse(request, reply, answer);
    },
  });
}

/** Returns the origin of a request, for the audit log. */
export const auditOriginOf = ({ ip, headers }: FastifyRequest): ClientInfo => ({
  address: ip,
  agent: headers['user-agent']?.slice(0, longestAgent) ?? null,
});
const longestAgent = 300;

const describeRequest = (
  { workspaceId, actor }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): CompletedKeyRequest => ({
  workspaceId,
  keyId: actor.id,
  id: request.id,
  method: request.method,
  path: loggablePath(request),
  status: reply.statusCode,
  ms: reply.elapsedTime,
  at: now(),
  address: request.ip,
});

async function count(services: Services, reply: FastifyReply, key: string, rate: RequestRate): Promise<void> {
  const { headers, exceeded } = await countRequest(services.requestCounter, key, rate);
  reply.headers(headers);
  if (exceeded !== undefined) throw rateLimitExceeded(exceeded);
}
