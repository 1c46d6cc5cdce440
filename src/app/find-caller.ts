import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseForeignLink, refuseForeignRequest, requirePerson, requireRole } from '#console/access.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Accounts } from '#workspaces/accounts.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { authenticate, type Caller } from '#workspaces/authenticate.ts';
import { anonymousRate, type Rate, windowOfPerson } from '#workspaces/limit.ts';
import { leastRoleFor, roleMay } from '#rules/permissions.ts';

/** What it takes to tell who is asking. */
export type Door = { accounts: Accounts; database: Database; config: Config };

/**
 * Who sends a request: the key in `Authorization`, or else the person whose session cookie comes with it, in the
 * workspace that the header `X-Workspace-ID` names. No form of another site can send that header, and no other site's
 * script may; where the request comes from is looked at all the same. A link to a file names it in its address, as
 * `workspace_id`. Who cannot be told is counted against the address.
 * @param count counts one request, and throws when it is one too many.
 * @throws ApiError unauthorized; for a person also forbidden, not_found for a workspace that is not theirs.
 */
export async function findCaller(
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
