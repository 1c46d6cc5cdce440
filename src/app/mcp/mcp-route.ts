import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseForeignOrigin } from '#console/serve.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import type { ClientInfo } from '#kit/operation.ts';
import { compressResponse } from '#kit/replies/compression.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import { type Caller, requirePermission } from '#workspaces/authenticate.ts';
import type { RequestLog } from '#workspaces/request-log.ts';
import { type ApiServices, auditOriginOf, authenticateRequests } from '../operations/api.ts';
import type { Api } from '../operations/call-operation.ts';
import type { ApiRoute } from '../operations/operations.ts';
import { createOperationRunner, toApiResponse } from '../operations/run-operation.ts';

/**
 * Serves the operations at `/mcp` over the Model Context Protocol (streamable HTTP), with an API key.
 * Authentication, rate limits and logs are those of the API. Nothing is kept between requests, so any process
 * can respond to any of them. The library is loaded at the first request.
 */
export async function serveMcp(
  server: Server,
  services: ApiServices,
  routes: readonly ApiRoute[],
  { requestLog, auditLog }: { requestLog: RequestLog; auditLog: AuditLog },
): Promise<void> {
  server.addHook('onRequest', (request, _reply, done) => {
    refuseForeignOrigin(request, services.config.publicUrl);
    done();
  });
  authenticateRequests(server, services, requestLog);
  const runs = new Map(
    routes.map((route) => [route.name, { ...route, run: createOperationRunner(services, auditLog, route) }]),
  );
  /** Returns the operations, to be run as this caller. */
  const apiOf =
    (caller: Caller, id: string, origin: ClientInfo): Api =>
    async ({ name, params, query, body, ifMatch }) => {
      const { operation, run } = runs.get(name)!;
      requirePermission(caller, operation.permission);
      return toApiResponse(await run(caller, { params, query, body, ifMatch, id, origin }));
    };
  const load = async () => {
    const [{ createMcpHandler }, { openMcp }, { buildTools, readToolSelection }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('./open-mcp.ts'),
      import('./tools.ts'),
    ]);
    return { createMcpHandler, openMcp, readToolSelection, tools: buildTools(routes) };
  };
  let loaded: ReturnType<typeof load> | undefined;
  server.post('/mcp', async (request, reply) => {
    const caller = request.caller!;
    const query = readQuery(request.query as Readonly<Record<string, string | string[]>>);
    refuseMany(request.body);
    loaded ??= load();
    const { createMcpHandler, openMcp, readToolSelection, tools } = await loaded;
    const selection = readToolSelection(query, tools.byName);
    const api = apiOf(caller, request.id, auditOriginOf(request));
    const { fetch: serve } = createMcpHandler(
      () => openMcp({ tools, api, may: caller.may, selection, log: services.log }),
      { maxSubscriptions: 0 },
    );
    return answer(request, reply, await serve(webRequest(request), { parsedBody: request.body }));
  });
  refuseOtherMethods(server, '/mcp', ['POST']);
}

/**
 * Reads the query.
 * @throws ApiError bad_request for an unknown or repeated parameter.
 */
function readQuery({ tools, read_only: readOnly, ...others }: Readonly<Record<string, string | string[]>>) {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    throw new ApiError('bad_request', `Unknown parameter "${unknown}". Allowed: tools, read_only.`);
  if (Array.isArray(tools) || Array.isArray(readOnly))
    throw new ApiError('bad_request', 'Set `tools` and `read_only` only once, with commas between names.');
  return { tools, readOnly };
}

/**
 * Refuses batches, as the protocol does since 2025: a batch would count as one request against the rate
 * limit. A stream of changes is refused too: a client could keep it open indefinitely, and only requests
 * change anything here.
 */
function refuseMany(body: unknown): void {
  if (Array.isArray(body))
    throw new ApiError('bad_request', 'Send one JSON-RPC message, not a list of messages.');
}

function webRequest({ headers, method, url }: FastifyRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    // The API key is left out.
    value === undefined || name === 'authorization' ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(url, 'http://service'), { method, headers: given });
}

/** Sends the library's response, compressed like any other. It is complete, since no stream is kept open. */
async function answer(request: FastifyRequest, reply: FastifyReply, response: Response) {
  const { status, headers } = response;
  reply.code(status).headers(Object.fromEntries(headers));
  const text = await response.text();
  return text === '' ? undefined : compressResponse(request, reply, text);
}
