import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import type { Operation, Person, RequestSender, SessionCaller } from '#kit/operation.ts';
import { prepareResponse } from '#kit/replies/prepare-response.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { enforceRateLimit, personRateLimitKey } from '#workspaces/authenticate.ts';
import { requirePerson, type SessionServices } from '#workspaces/sign-in/require-person.ts';

/** The parts of a request that show which site it comes from. */
type Sent = { host: string; headers: IncomingHttpHeaders };

/**
 * Refuses requests that another site may have made a browser send (docs/rules.md T21, C32). A request that
 * changes anything must be JSON, an image or a package, which no HTML form can send. It must also come from
 * this origin: browsers say so in Sec-Fetch-Site, older ones in Origin. SameSite=Lax cookies and the absence
 * of any CORS response back this up.
 * @throws ApiError forbidden.
 */
export function refuseForeignRequest(request: Sent & { method: string }, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { headers } = request;
  if (
    !/^(application\/((merge-patch\+)?json|gzip)|image\/(png|jpeg|webp))\s*(;|$)/i.test(
      headers['content-type'] ?? '',
    )
  )
    throw new ApiError('forbidden', 'Requests that change data must be sent as application/json.');
  refuseOtherSites(request, headers.origin, publicUrl);
}

/**
 * Refuses a link that was followed from another site's page. Browsers add none of our headers when they
 * follow a link. Browsers that send no Sec-Fetch-Site send `Referer` for our own links.
 * @throws ApiError forbidden.
 */
export function refuseForeignLink(request: Sent, publicUrl: string): void {
  refuseOtherSites(request, request.headers.referer, publicUrl);
}

/**
 * Refuses requests that a page of another site makes a browser send to routes that only need an API key.
 * Programs that are not browsers send no Origin.
 * @throws ApiError forbidden.
 */
export function refuseForeignOrigin(request: Sent, publicUrl: string): void {
  if (request.headers.origin !== undefined) refuseOtherSites(request, request.headers.origin, publicUrl);
}

function refuseOtherSites({ host, headers }: Sent, from: string | undefined, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? isSameOrigin(from, host, publicUrl) : site === 'same-origin';
  if (!isOurs) throw new ApiError('forbidden', 'This request comes from another site.');
}

function isSameOrigin(origin: string | undefined, host: string, publicUrl: string): boolean {
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && (parsed.origin === new URL(publicUrl).origin || parsed.host === host);
}

/** An operation that needs the session of a browser. */
export type SessionOperation = Operation<undefined, unknown, unknown, unknown, unknown, SessionCaller>;

/** The route of an operation below /app/api, with parameters as `:name`. */
export type SessionRoute = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  operation: SessionOperation;
};

/** The request limit of an IP address, as a multiple of the limit of a person. */
const peoplePerAddress = 4;

/**
 * Serves the console's operations. Order of checks: origin (403), rate limit (429), session (401), shape
 * (400, 422), existence (404).
 */
export async function serveConsole(
  server: Server,
  services: SessionServices,
  routes: readonly SessionRoute[],
): Promise<void> {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    refuseForeignRequest(request, services.config.publicUrl);
  });
  // Without this route, unknown paths would get the console's page (static.ts).
  server.all('/*', () => {
    throw new ApiError('not_found', 'This path does not exist.');
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
        return prepareResponse(request, reply, answer);
      },
    });
  }
}

/** Identifies the caller to the extent that the operation requires. */
async function admit(
  { accounts, requestCounter, config }: SessionServices,
  needed: SessionCaller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ visitor: RequestSender; person?: Person }> {
  const visitor = {
    address: ipRateLimitKey(request.ip),
    ip: request.ip,
    headers: new Headers({
      Cookie: accounts.readCookies(request.headers.cookie),
      // Real User-Agents are shorter, and the list of sessions only uses their beginning.
      'User-Agent': (request.headers['user-agent'] ?? '').slice(0, 300),
    }),
  };
  const most = config.limits.consolePerMinute;
  // Counted before the session is read: several people share an IP address, and requests without a session
  // count too.
  if (most > 0)
    await enforceRateLimit(requestCounter, `console from ${visitor.address}`, most * peoplePerAddress);
  if (needed === 'visitor') return { visitor };
  const person = await requirePerson(accounts, request, reply, needed);
  if (most > 0) await enforceRateLimit(requestCounter, personRateLimitKey(person.id), most);
  return { visitor, person };
}
