import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { hashOfHeader } from './api-key.ts';
import type { Rate } from './limit.ts';
import {
  keyMay,
  type Permission,
  permissionNames,
  permissions,
  type Role,
  roleMay,
} from '#rules/permissions.ts';
import { type Plan, rateOf } from './plans.ts';
import { nullable, statement, word } from '#kit/statement.ts';
import { permissionList } from './keys/key-rows.ts';

/** Who a key belongs to, and all that a request needs to know about it. A revoked key is not found. */
const findKeyByHash = statement(
  'workspaces.find_key_by_hash',
  'hash',
  [
    'workspace_id id form_ids? expires_at? rate_limit? burst?',
    {
      permissions: nullable(permissionList),
      /** Of its maker; null for the operator's keys, and where the maker is no member any more. */
      maker_role: nullable(word<Role>()),
      plan: word<Plan>(),
    },
  ],
  // A key that was rotated ends by itself: least() leaves out what is null.
  `select api_keys.workspace_id, api_keys.id, api_keys.permissions, api_keys.form_ids,
          least(api_keys.expires_at, api_key_lookup.expires_at) as expires_at, members.role as maker_role, workspaces.plan,
          workspaces.rate_limit, workspaces.burst
     from api_key_lookup
     join api_keys on api_keys.workspace_id = api_key_lookup.workspace_id and api_keys.id = api_key_lookup.api_key_id
     join workspaces on workspaces.id = api_keys.workspace_id
     left join members on members.workspace_id = api_keys.workspace_id and members.user_id = api_keys.created_by
    where api_key_lookup.hash = $hash and api_keys.revoked_at is null and workspaces.ends_at is null`,
);

/** Who a request comes from, what it may do, and how often. */
export type Caller = Scope & {
  /** What its requests are counted under (limit.ts). */
  counted: string;
  rate: Rate;
  /** Why a permission is refused to it. */
  refusal(permission: Permission): string;
};

type KeyRow = Awaited<ReturnType<typeof findKeyByHash>>[number];

type Known = { caller: Caller; expiresAt: Date | null };

type Question = { at: number; known: Promise<Known | undefined> };

/**
 * A revoked key is refused everywhere within this time, even where the notification is not heard (docs/rules.md C29).
 */
const rememberMs = 1_000;
/** More keys than are busy within a second; about 1 KB each. */
const rememberedKeys = 10_000;

/**
 * What this process asked the database within the last second, by hash: a busy key costs one query a second. The
 * questions are kept, not the answers, so that parallel requests share one, and so that an answer which was on its
 * way during forgetKeys() is not remembered. Unknown keys are not kept: guesses cannot push out real keys.
 */
const asked = new Map<string, Question>();

/** Makes the next request with any key ask the database. */
export const forgetKeys = (): void => asked.clear();

/**
 * Finds out who sends a request by its Authorization header. Specification, "Authentication".
 * @param header all values of it (Node's `headersDistinct`; `headers` hides that it was sent twice), or the only one.
 * @throws ApiError unauthorized when the key is missing, malformed, unknown, revoked or expired: all the same answer.
 */
export async function authenticate(
  { database }: { database: Database },
  header: string | readonly string[] | undefined,
): Promise<Caller> {
  const hash = hashOfHeader(header);
  const known = hash && (await findKey(database, hash));
  if (!known || (known.expiresAt && known.expiresAt <= now())) {
    throw new ApiError('unauthorized', undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  return known.caller;
}

/** Whom a key stands for: the same for all requests that share a question. */
function callerOf(row: KeyRow): Caller {
  const { permissions: list, maker_role: role } = row;
  // A key may no more than who made it and knows its secret: a role that is taken away would not be otherwise.
  const granted = new Set<string>(
    permissionNames.filter((name) => keyMay(list, name) && (role === null || roleMay(role, name))),
  );
  return {
    workspaceId: row.workspace_id,
    formIds: row.form_ids,
    actor: { kind: 'key', id: row.id },
    may: (permission) => granted.has(permission),
    // The keys of a workspace share one window.
    counted: row.workspace_id,
    rate: rateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst }),
    refusal: (permission) =>
      keyMay(list, permission)
        ? `The API key has the permission ${permission}, but whoever made it is ${role} now, and may not do this. An admin who rotates the key makes it theirs.`
        : `The API key lacks the permission ${permission}: ${permissions[permission].description}`,
  };
}

/** @throws ApiError forbidden, naming the permission, when the caller lacks it. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.may(permission)) throw new ApiError('forbidden', caller.refusal(permission));
}

function findKey(database: Database, hash: Buffer): Promise<Known | undefined> {
  const name = hash.toString('base64');
  // Not the clock: were it set back, a key that was revoked would be remembered for longer.
  const at = performance.now();
  const question = asked.get(name);
  if (question && at - question.at < rememberMs) return question.known;
  const known = findKeyByHash(database, { hash }).then(
    ([row]) => row && { caller: callerOf(row), expiresAt: row.expires_at },
  );
  remember(name, { at, known });
  return known;
}

function remember(name: string, question: Question): void {
  // A Map is in the order of insertion, so its first key is the one that was asked for longest ago.
  asked.delete(name);
  if (asked.size >= rememberedKeys) asked.delete(asked.keys().next().value!);
  asked.set(name, question);
  const forget = (): void => {
    if (asked.get(name) === question) asked.delete(name);
  };
  question.known.then((known) => known ?? forget(), forget);
}
