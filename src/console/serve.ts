import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import type { Operation, OwnCaller, Person, Visitor } from '#kit/operation.ts';
import { payloadOf } from '#kit/payload-of.ts';
import { requireRow } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import type { AuditLog } from '#workspaces/audit/audit-log.ts';
import { countUpTo, windowOfPerson } from '#workspaces/authenticate.ts';
import { findMembership } from '#workspaces/members.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { awaitsSecondStep, isSessionOver, isTemporaryOver, temporaryUntil } from '#workspaces/sign-in.ts';
import { type Accounts, addressKey } from '#workspaces/users.ts';

/** The parts of a request that tell which site it comes from. */
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
  ) {
    throw new ApiError('forbidden', 'Requests that change something must be sent as application/json.');
  }
  refuseOtherSites(request, headers.origin, publicUrl);
}

/**
 * Refuses a link that was followed from another site's page. Links carry no header of ours. Browsers that
 * send no Sec-Fetch-Site send `Referer` for our own links.
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
  const isOurs = site === undefined ? isOwnOrigin(from, host, publicUrl) : site === 'same-origin';
  if (!isOurs) throw new ApiError('forbidden', 'This request comes from another site.');
}

function isOwnOrigin(origin: string | undefined, host: string, publicUrl: string): boolean {
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && (parsed.origin === new URL(publicUrl).origin || parsed.host === host);
}

/**
 * Returns the person whose session comes with a request. If the session was extended, its cookies go with the
 * response.
 * @param needed how far the sign-in must have come.
 * @throws ApiError unauthorized; forbidden before two-factor, while the account is being deleted, and with a
 * temporary password.
 */
export async function requirePerson(
  accounts: Accounts,
  request: FastifyRequest,
  reply: FastifyReply,
  needed: Exclude<OwnCaller, 'visitor'> = 'person',
): Promise<Person> {
  const { person, cookies } = await findPerson(accounts, accounts.readCookies(request.headers.cookie));
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
  if (!person) throw new ApiError('unauthorized', 'Sign in first.');
  if (needed === 'halfway') return person;
  if (person.awaitsSecondStep) throw new ApiError('forbidden', 'Complete two-factor sign-in first.');
  if (needed === 'leaving') return person;
  if (person.endsAt) throw new ApiError('forbidden', 'This account is being deleted. Restore it first.');
  if (person.mustChangePassword && needed !== 'newcomer')
    throw new ApiError('forbidden', 'Choose your own password first.');
  return person;
}

type Found = { person?: Person; cookies: string[] };

/** Returns the person whom the cookies sign in, and the cookies to set if the session was extended. */
export async function findPerson(accounts: Accounts, cookie: string): Promise<Found> {
  // Without a cookie there is no session, and the library is not loaded.
  if (cookie === '') return { cookies: [] };
  const headers = new Headers({ Cookie: cookie });
  const { auth, isRefusal } = await accounts.library();
  try {
    const found = await auth.api.getSession({ headers, returnHeaders: true });
    if (!found.response) return { cookies: found.headers.getSetCookie() };
    const { user, session } = found.response;
    if (isSessionOver({ session, user }) || isTemporaryOver(user)) {
      const ended = await auth.api.signOut({ headers, returnHeaders: true });
      return { cookies: ended.headers.getSetCookie() };
    }
    const { id, email, name } = user;
    return {
      person: {
        id,
        email,
        name,
        endsAt: user.endsAt ?? null,
        mustChangePassword: temporaryUntil(user) !== undefined,
        awaitsSecondStep: awaitsSecondStep({ session, user }),
        secondFactorAt: session.secondFactorAt ?? null,
        sessionId: session.id,
        signedInAt: session.createdAt,
      },
      cookies: found.headers.getSetCookie(),
    };
  } catch (cause) {
    // The session ended while it was being extended.
    if (isRefusal(cause)) return { cookies: [] };
    // The library hides why it could not read the session. A 401 would make the browser forget that it is
    // signed in.
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
  }
}

/**
 * Returns the role of a person in a workspace. It is read for each request, so a changed role applies to the
 * next one.
 * @throws ApiError not_found for people who are not members, as for a workspace that does not exist;
 * forbidden while the workspace is being deleted, and as in refuseOneStep.
 */
export async function requireRole(database: Database, workspaceId: string, person: Person): Promise<Role> {
  const found = requireRow(await findMembership(database, { workspace_id: workspaceId, user_id: person.id }));
  if (found.ends_at)
    throw new ApiError('forbidden', 'This workspace is being deleted. An owner can restore it.');
  refuseOneStep(found, person);
  return found.role;
}

/** Whether a workspace is closed to a person because it requires two-factor and they signed in without it. */
export const isClosed = (
  workspace: { second_factor_required: boolean },
  { secondFactorAt }: Pick<Person, 'secondFactorAt'>,
): boolean => workspace.second_factor_required && secondFactorAt === null;

/** Checks that a workspace is open to a person. @throws ApiError forbidden if it is not. */
export function refuseOneStep(workspace: { second_factor_required: boolean }, person: Person): void {
  if (isClosed(workspace, person))
    throw new ApiError('forbidden', 'This workspace requires two-factor. Set it up in your account first.');
}

export type ConsoleServices = {
  accounts: Accounts;
  config: Config;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  auditLog: Pick<AuditLog, 'noteLater'>;
  wakeQueue: () => void;
};

/** An operation that needs the session of a browser. */
export type OwnOperation = Operation<undefined, unknown, unknown, unknown, unknown, OwnCaller>;

/** The route of an operation below /app/api, with parameters as `:name`. */
export type OwnRoute = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  operation: OwnOperation;
};

/** The request limit of an IP address is this many times the limit of a person. */
const peoplePerAddress = 4;

/**
 * Serves the console's operations. Order of checks: origin (403), rate limit (429), session (401), shape
 * (400, 422), existence (404).
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
        return payloadOf(request, reply, answer);
      },
    });
  }
}

/** Identifies the caller to the extent that the operation needs. */
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
      // Real User-Agents are shorter, and the list of sessions only uses their beginning.
      'User-Agent': (request.headers['user-agent'] ?? '').slice(0, 300),
    }),
  };
  const most = config.limits.consolePerMinute;
  // Counted before the session is read: several people share an IP address, and requests without a session
  // count too.
  if (most > 0) await countUpTo(requestCounter, `console from ${visitor.address}`, most * peoplePerAddress);
  if (needed === 'visitor') return { visitor };
  const person = await requirePerson(accounts, request, reply, needed);
  if (most > 0) await countUpTo(requestCounter, windowOfPerson(person.id), most);
  return { visitor, person };
}
