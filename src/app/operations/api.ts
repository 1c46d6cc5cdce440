import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseForeignLink, refuseForeignRequest } from '#console/serve.ts';
import { now, uuidPattern } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import { allowed, placeOf, readFiles, readJson, refuseOtherMethods, type Server } from '#kit/http.ts';
import type { Deprecation, Origin } from '#kit/operation.ts';
import { payloadOf } from '#kit/replies/payload-of.ts';
import { leastRoleFor, roleMay } from '#rules/permissions.ts';
import { type Accounts, addressKey } from '#workspaces/accounts/users.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import {
  anonymousRate,
  authenticate,
  type Caller,
  type Rate,
  requirePermission,
  takeRequest,
  windowOfPerson,
} from '#workspaces/authenticate.ts';
import type { KeyRequest, RequestLog } from '#workspaces/request-log.ts';
import { requirePerson, requireRole } from '#workspaces/sign-in/require-person.ts';
import type { ApiRoute } from './operations.ts';
import { runnerOf } from './run-operation.ts';
import type { Services } from './services.ts';

/** What it takes to tell who is asking. */
type Door = { accounts: Accounts; database: Database; config: Config };

/**
 * Who sends a request: the key in `Authorization`, or else the person whose session cookie comes with it, in the
 * workspace that the header `X-Workspace-ID` names. No form of another site can send that header, and no other site's
 * script may; where the request comes from is looked at all the same. A link to a file names it in its address, as
 * `workspace_id`. Who cannot be told is counted against the address.
 * @param count counts one request, and throws when it is one too many.
 * @throws ApiError unauthorized; for a person also forbidden, not_found for a workspace that is not theirs.
 */
async function findCaller(
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  count: (key: string, rate: Rate) => Promise<void>,
): Promise<Caller> {
  let caller: Caller;
  try {
    const authorization = request.raw.headersDistinct['authorization'];
    const workspaceId = authorization === undefined ? namedWorkspace(request, door.config) : undefined;
    caller =
      workspaceId === undefined
        ? await authenticate(door, authorization)
        : await findSession(door, workspaceId.toLowerCase(), request, reply);
  } catch (error) {
    // When the database is away too every answer says how much of the limit is left; but then nobody can tell who asks,
    // and many with valid keys may share an address: they hear that it is away, and not that they asked too often.
    const rate = error instanceof ApiError ? anonymousRate : { ...anonymousRate, burst: Infinity };
    await count(`address ${addressKey(request.ip)}`, rate);
    throw error;
  }
  // A request that is one too many has a caller too, who finds it among the key's requests.
  request.caller = caller;
  await count(caller.counted, caller.rate);
  return caller;
}

/** What is only read may say in its address what no link can say in a header; the operation does not see it there. */
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

/** A person in one of their workspaces; what a role may do is a set of permissions, as with a key. */
async function findSession(
  { accounts, database, config }: Door,
  workspaceId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  refuseForeignRequest(request, config.publicUrl);
  const person = await requirePerson(accounts, request, reply);
  if (!uuidPattern.test(workspaceId)) throw new ApiError('bad_request', 'X-Workspace-ID must be a UUID.');
  const role = await requireRole(database, workspaceId, person);
  return {
    workspaceId,
    formIds: null,
    actor: { kind: 'person', id: person.id, sessionId: person.sessionId },
    may: (permission) => roleMay(role, permission),
    counted: windowOfPerson(person.id),
    rate: { perMinute: config.limits.consolePerMinute || Number.MAX_SAFE_INTEGER, burst: 0 },
    refusal: (permission) => `This takes the role ${leastRoleFor(permission)} or more; yours is ${role}.`,
  };
}

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
