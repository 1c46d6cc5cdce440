import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import type { Operation, OwnCaller, Person, Visitor } from '#kit/operation.ts';
import { payloadOf } from '#kit/payload-of.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { countUpTo, windowOfPerson } from '#workspaces/limit.ts';
import { refuseForeignRequest, requirePerson } from './access.ts';
import type { ConsoleServices } from './services.ts';

/** An operation that only the session of a browser can mean. */
export type OwnOperation = Operation<undefined, unknown, unknown, unknown, unknown, OwnCaller>;

/** Where it is served: below /app/api, with parameters as `:name`. */
export type OwnRoute = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  operation: OwnOperation;
};

/** So many times the requests of one person may come from one address. */
const peoplePerAddress = 4;

/**
 * The console's own operations on a server of its own scope. Order of checks: origin (403), how often (429), session
 * (401), shape (400, 422), existence (404).
 */
export async function serveConsole(
  server: Server,
  services: ConsoleServices,
  routes: readonly OwnRoute[],
): Promise<void> {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    refuseForeignRequest(request, services.config.publicUrl);
  });
  // Whatever is not a route here would be an address of the console's pages (static.ts).
  server.all('/*', () => {
    throw new ApiError('not_found', 'There is nothing at this path.');
  });
  for (const { method, path, operation } of routes) {
    server.route({
      method,
      url: path,
      async handler(request, reply) {
        const { params, query, body } = request;
        const caller = await admit(services, operation.caller, request, reply);
        const answer = await operation.handle(caller, { params, query, body });
        if (services.config.isReplyChecked) operation.holdReply(answer);
        return payloadOf(request, reply, answer);
      },
    });
  }
}

/** Finds out who is asking, as far as the operation has to know it. */
async function admit(
  { accounts, requestCounter, config }: ConsoleServices,
  needed: OwnCaller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ visitor: Visitor; person?: Person }> {
  const visitor = {
    address: addressKey(request.ip),
    ip: request.ip,
    headers: new Headers({
      Cookie: accounts.readCookies(request.headers.cookie),
      // Longer ones name nobody's browser; the list of sessions shows what is in the front of them.
      'User-Agent': (request.headers['user-agent'] ?? '').slice(0, 300),
    }),
  };
  const most = config.limits.consolePerMinute;
  // Before a session is looked for: an address is shared by several people, and by nobody.
  if (most > 0) await countUpTo(requestCounter, `console from ${visitor.address}`, most * peoplePerAddress);
  if (needed === 'visitor') return { visitor };
  const person = await requirePerson(accounts, request, reply, needed);
  if (most > 0) await countUpTo(requestCounter, windowOfPerson(person.id), most);
  return { visitor, person };
}
