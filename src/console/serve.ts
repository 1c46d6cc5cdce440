import type { FastifyReply, FastifyRequest } from 'fastify';
import { uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { jsonType, type Server } from '#kit/http.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { countUpTo, windowOfPerson } from '#workspaces/limit.ts';
import { findPerson, refuseForeignRequest, requireRole } from './access.ts';
import type { ConsoleCaller, ConsoleEndpoint, ConsoleReply, ConsoleRoute, Visitor } from './endpoint.ts';
import type { ConsoleServices } from './services.ts';

/** So many times the requests of one person may come from one address. */
const peoplePerAddress = 4;

/**
 * The console's JSON on a server of its own scope, below /app/api. Order of checks: origin (403), session (401),
 * membership (404), role (403), shape (400, 422), existence (404). Without a declared need a route cannot be written.
 */
export async function serveConsole(
  server: Server,
  services: ConsoleServices,
  routes: readonly ConsoleRoute[],
): Promise<void> {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    refuseForeignRequest(request, services.config.publicUrl);
  });
  // Whatever is not a route here would be an address of the console's pages (static.ts).
  server.all('/*', () => {
    throw new ApiError('not_found', 'There is nothing at this path.');
  });
  for (const [method, url, endpoint] of routes) {
    server.route({
      method,
      url,
      ...(endpoint.bodyLimit !== undefined && { bodyLimit: endpoint.bodyLimit }),
      async handler(request, reply) {
        const caller = await admit(services, endpoint, request, reply);
        return send(reply, await endpoint.handle(caller, request));
      },
    });
  }
}

/** Finds out who is asking, as far as the endpoint needs it. */
async function admit(
  services: ConsoleServices,
  { needs, isAlwaysOpen }: ConsoleEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ConsoleCaller> {
  const visitor = readVisitor(request);
  const { requestCounter, config } = services;
  const most = config.limits.consolePerMinute;
  // Before a session is looked for: an address is shared by several people, and by nobody.
  if (most > 0) await countUpTo(requestCounter, `console from ${visitor.address}`, most * peoplePerAddress);
  if (needs === 'visitor') return { visitor };
  const { user, cookies } = await findPerson(services.accounts, visitor.headers);
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
  if (!user) throw new ApiError('unauthorized', 'Sign in first.');
  if (most > 0) await countUpTo(requestCounter, windowOfPerson(user.id), most);
  if (user.mustChangePassword && !isAlwaysOpen)
    throw new ApiError('forbidden', 'Choose a password of your own first.');
  if (needs === 'person') return { visitor, user };
  const { workspace } = request.params as { workspace: string };
  if (!uuidPattern.test(workspace)) throw new ApiError('bad_request', '"workspace" must be a UUID.');
  const role = await requireRole(services.database, {
    workspaceId: workspace,
    userId: user.id,
    least: needs,
  });
  return { visitor, user, membership: { workspaceId: workspace, role } };
}

function readVisitor(request: FastifyRequest): Visitor {
  const headers = new Headers();
  if (request.headers.cookie !== undefined) headers.set('Cookie', request.headers.cookie);
  return { address: addressKey(request.ip), headers };
}

function send(reply: FastifyReply, answer: ConsoleReply): FastifyReply {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.stream) return reply.send(answer.stream);
  if (answer.json === undefined && answer.body === undefined) return reply.send();
  return reply.type(jsonType).send(answer.json ?? JSON.stringify(answer.body));
}
