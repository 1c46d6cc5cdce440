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

/**
 * The person whose session comes with a request; the cookies of one that was extended go with the answer.
 * @param needed how far they must have come.
 * @throws ApiError unauthorized; forbidden before the second step, while the account is being deleted, and with a temporary password.
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
  if (person.awaitsSecondStep) throw new ApiError('forbidden', 'Take the second step of the sign-in first.');
  if (needed === 'leaving') return person;
  if (person.endsAt)
    throw new ApiError('forbidden', 'This account is being deleted. Say first that you come back.');
  if (person.mustChangePassword && needed !== 'newcomer')
    throw new ApiError('forbidden', 'Choose a password of your own first.');
  return person;
}

type Found = { person?: Person; cookies: string[] };

/** Who is signed in by these cookies, and the cookies to set when the session was extended. */
export async function findPerson(accounts: Accounts, cookie: string): Promise<Found> {
  // Whoever has no cookie is nobody, and nothing is loaded for them.
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
    // The library hides why it could not look; a browser that is told 401 would forget that it is signed in.
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
  }
}

/**
 * The role of a person in a workspace, looked up at each request, so that a change of it acts on the next one.
 * @throws ApiError not_found for strangers, as for a workspace that does not exist; forbidden as refuseOneStep.
 */
export async function requireRole(database: Database, workspaceId: string, person: Person): Promise<Role> {
  const found = requireRow(await findMembership(database, { workspace_id: workspaceId, user_id: person.id }));
  if (found.ends_at)
    throw new ApiError('forbidden', 'This workspace is being deleted. An owner can bring it back.');
  refuseOneStep(found, person);
  return found.role;
}

/** Whether a workspace is closed to a person who signed in by a password alone. */
export const isClosed = (
  workspace: { second_factor_required: boolean },
  { secondFactorAt }: Pick<Person, 'secondFactorAt'>,
): boolean => workspace.second_factor_required && secondFactorAt === null;

/** @throws ApiError forbidden for a workspace that is closed to the person. */
export function refuseOneStep(workspace: { second_factor_required: boolean }, person: Person): void {
  if (isClosed(workspace, person))
    throw new ApiError(
      'forbidden',
      'This workspace asks for a second factor. Set one up in your account first.',
    );
}

/** What the console's own operations may need. */
export type ConsoleServices = {
  accounts: Accounts;
  config: Config;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  auditLog: Pick<AuditLog, 'noteLater'>;
  wakeQueue: () => void;
};

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
