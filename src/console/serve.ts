import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import type { Operation, OwnCaller, Person, Visitor } from '#kit/operation.ts';
import { payloadOf } from '#kit/replies/payload-of.ts';
import { addressKey } from '#workspaces/accounts/users.ts';
import { countUpTo, windowOfPerson } from '#workspaces/authenticate.ts';
import { requirePerson, type SessionServices } from '#workspaces/sign-in/require-person.ts';

/** What a browser says of where a request comes from. */
type Sent = { host: string; headers: IncomingHttpHeaders };

/**
 * Refuses what another site may have made a browser send (docs/rules.md T21, C32). A request that changes anything is
 * JSON, an image or a package, which no HTML form can send, and comes from this origin: browsers say so in Sec-Fetch-Site, older ones in
 * Origin. SameSite=Lax cookies and the absence of any CORS answer stand behind this.
 * @throws ApiError forbidden.
 */
export function refuseForeignRequest(request: Sent & { method: string }, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { headers } = request;
  if (
    !/^(application\/((merge-patch\+)?json|gzip)|image\/(png|jpeg|webp))\s*(;|$)/i.test(
      headers['content-type'] ?? '',
    )
  ) {
    throw new ApiError('forbidden', 'Requests that change something are sent as application/json.');
  }
  refuseOtherSites(request, headers.origin, publicUrl);
}

/**
 * The same of a link that carries no header of ours, and so could stand on any page: it is followed from our own alone.
 * Browsers that do not say where they come from say what the link makes them say, `Referer`.
 * @throws ApiError forbidden.
 */
export function refuseForeignLink(request: Sent, publicUrl: string): void {
  refuseOtherSites(request, request.headers.referer, publicUrl);
}

/**
 * Refuses what a page of another site makes a browser send to what takes a key alone. A program that is no browser says no origin.
 * @throws ApiError forbidden.
 */
export function refuseForeignOrigin(request: Sent, publicUrl: string): void {
  if (request.headers.origin !== undefined) refuseOtherSites(request, request.headers.origin, publicUrl);
}

function refuseOtherSites({ host, headers }: Sent, from: string | undefined, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? isOwnOrigin(from, host, publicUrl) : site === 'same-origin';
  if (!isOurs) throw new ApiError('forbidden', 'This request comes from another site.');
}

function isOwnOrigin(origin: string | undefined, host: string, publicUrl: string): boolean {
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && (parsed.origin === new URL(publicUrl).origin || parsed.host === host);
}

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
  services: SessionServices,
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
  { accounts, requestCounter, config }: SessionServices,
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
