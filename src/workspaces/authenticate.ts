import { now } from '#kit/clock.ts';
import type { PlanName } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import type { Actor, RequestScope } from '#kit/operation.ts';
import { nullable, onlyRow, statement, textEnum } from '#kit/statement.ts';
import {
  keyMay,
  type Permission,
  permissionNames,
  permissions,
  type Role,
  roleMay,
} from '#rules/permissions.ts';
import { hashKeyFromHeader, permissionsColumn } from './api-key.ts';
import type { RequestCounter } from './request-counter.ts';

/** Requests allowed in a window: `perMinute`, and `burst` on top. A Caller has both. */
export type RequestRate = { readonly perMinute: number; readonly burst: number };

/**
 * The rate of requests without a valid key, for each IP address (addressKey in users.ts). It is far above
 * what a test suite sends. Guessing 256 random bits needs no lower rate.
 */
export const anonymousRate: RequestRate = { perMinute: 1_000, burst: 0 };

/**
 * Returns the key of a person's rate limit window, for all their workspaces and console requests
 * (`CONSOLE_PER_MINUTE`).
 */
export const personRateLimitKey = (userId: string): string => `console of ${userId}`;

/** The rate limit headers of every API response. Specification, "API rate limits". */
type RateHeaders = Record<'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset', string>;

/**
 * Counts one request against the window of `key`: a workspace's id, so that its keys share one window, or an
 * IP address. docs/rules.md 12: `perMinute + burst` requests are allowed in a window. Remaining counts down
 * from `perMinute` and stays 0 during the burst. Reset is the Unix second at which the window ends.
 * @returns the headers and, if the request exceeds the limit, `exceeded`: the whole seconds to wait, at least
 * 1.
 */
export async function countRequest(
  counter: RequestCounter,
  key: string,
  rate: RequestRate,
): Promise<{ headers: RateHeaders; exceeded?: number }> {
  const at = now().getTime();
  const { requests, msLeft } = await counter.count(key);
  const headers = {
    'X-RateLimit-Limit': String(rate.perMinute),
    'X-RateLimit-Remaining': String(Math.max(0, rate.perMinute - requests)),
    'X-RateLimit-Reset': String(Math.ceil((at + msLeft) / 1_000)),
  };
  if (requests <= rate.perMinute + rate.burst) return { headers };
  return { headers, exceeded: secondsToWait(msLeft) };
}

/** Returns the whole seconds, at least 1, until a window ends. */
const secondsToWait = (msLeft: number): number => Math.max(1, Math.ceil(msLeft / 1_000));

/**
 * Counts one action that is allowed `most` times in a window.
 * @param options.seconds the length of the window, by default a minute; `why` as in rateLimitExceeded.
 * @throws ApiError rate_limit_exceeded with the time to wait.
 */
export async function enforceRateLimit(
  counter: RequestCounter,
  key: string,
  most: number,
  { seconds, why }: { seconds?: number; why?: string } = {},
): Promise<void> {
  const { requests, msLeft } = await counter.count(key, seconds);
  if (requests > most) throw rateLimitExceeded(secondsToWait(msLeft), why);
}

/** What a plan gives a workspace: its rate limit, and whether its webhooks can be signed. */
type PlanTerms = {
  /** X-RateLimit-Limit. */
  readonly perMinute: number;
  /** Requests allowed in a minute beyond `perMinute`. */
  readonly burst: number;
  /** Whether a webhook can have a secret, and so the signature header. */
  readonly signedWebhooks: boolean;
};

/**
 * The four plans. Specification, "API rate limits" and "Webhook signature". Enterprise is "custom" there:
 * these numbers apply until a workspace gets its own.
 */
export const plans = {
  free: { perMinute: 60, burst: 10, signedWebhooks: false },
  pro: { perMinute: 300, burst: 30, signedWebhooks: true },
  business: { perMinute: 1_000, burst: 100, signedWebhooks: true },
  enterprise: { perMinute: 5_000, burst: 500, signedWebhooks: true },
} as const satisfies Record<PlanName, PlanTerms>;

export type Plan = PlanName;

/**
 * Returns the plan's rate, or the rate that the operator has set for the workspace (columns rate_limit and
 * burst).
 */
export function requestRateOf(
  plan: Plan,
  own: { rateLimit: number | null; burst: number | null },
): { perMinute: number; burst: number } {
  return { perMinute: own.rateLimit ?? plans[plan].perMinute, burst: own.burst ?? plans[plan].burst };
}

/**
 * Finds an API key that is not revoked, with all data that a request needs. The previous secret of a rotated
 * key has its own expiry; least() ignores null.
 */
const findKeyByHash = statement('hash', [
  'workspace_id id form_ids? expires_at? rate_limit? burst?',
  {
    permissions: nullable(permissionsColumn),
    /**
     * The role of the key's creator; null for the operator's keys, or if the creator is no longer a member.
     */
    maker_role: nullable(textEnum<Role>()),
    plan: textEnum<Plan>(),
  },
])`
  select api_keys.workspace_id, api_keys.id, api_keys.permissions, api_keys.form_ids,
         least(api_keys.expires_at, api_key_lookup.expires_at) as expires_at, members.role as maker_role, workspaces.plan,
         workspaces.rate_limit, workspaces.burst
    from api_key_lookup
    join api_keys on api_keys.workspace_id = api_key_lookup.workspace_id and api_keys.id = api_key_lookup.api_key_id
    join workspaces on workspaces.id = api_keys.workspace_id
    left join members on members.workspace_id = api_keys.workspace_id and members.user_id = api_keys.created_by
   where api_key_lookup.hash = $hash and api_keys.revoked_at is null and workspaces.ends_at is null`;

/** The caller of a request, with its permissions and rate limit. */
export type Caller = RequestScope & {
  /** The key of its rate limit window (countRequest). */
  counted: string;
  rate: RequestRate;
  /** Returns why a permission is missing. */
  refusal(permission: Permission): string;
};

type KeyRow = Awaited<ReturnType<typeof findKeyByHash>>[number];

type KnownKey = { caller: Caller; expiresAt: Date | null };

type KeyQuery = { at: number; known: Promise<KnownKey | undefined> };

/**
 * A revoked key is refused everywhere within this time, even if the notification is lost (docs/rules.md C29).
 */
const rememberMs = 1_000;
/** More keys than are used within a second. Each takes about 1 KB. */
const rememberedKeys = 10_000;

/**
 * The queries of this process within the last second, by hash: a busy key costs one query a second. Promises
 * are stored, not results, so that parallel requests share one. A result that arrives after clearKeyCache()
 * is therefore not remembered either. Unknown keys are not stored, so guesses can't evict real keys.
 */
const keyQueries = new Map<string, KeyQuery>();

/** Makes the next request with any key query the database. */
export const clearKeyCache = (): void => keyQueries.clear();

/**
 * Identifies the caller of a request by its Authorization header. Specification, "Authentication".
 * @param header all values of the header (Node's `headersDistinct`; `headers` hides a repeated header), or
 * the only one.
 * @throws ApiError unauthorized if the key is missing, malformed, unknown, revoked or expired. The message is
 * always the same.
 */
export async function authenticateApiKey(
  { database }: { database: Database },
  header: string | readonly string[] | undefined,
): Promise<Caller> {
  const hash = hashKeyFromHeader(header);
  const known = hash && (await findKey(database, hash));
  if (!known || (known.expiresAt && known.expiresAt <= now()))
    throw new ApiError('unauthorized', undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  return known.caller;
}

/** Returns the caller of a key, shared by all requests that share a query. */
function callerOf(row: KeyRow): Caller {
  const { permissions: list, maker_role: role } = row;
  // A key can do no more than its creator, who knows its secret. Otherwise it would still grant what a lost
  // role allowed.
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
    rate: requestRateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst }),
    refusal: (permission) =>
      keyMay(list, permission)
        ? `The API key has the permission ${permission}, but the role of its creator is now ${role}, which does not allow this. An admin can rotate the key to take it over.`
        : `The API key lacks the permission ${permission}: ${permissions[permission].description}`,
  };
}

/** @throws ApiError forbidden, naming the permission, if the caller lacks it. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.may(permission)) throw new ApiError('forbidden', caller.refusal(permission));
}

function findKey(database: Database, hash: Buffer): Promise<KnownKey | undefined> {
  const name = hash.toString('base64');
  // Monotonic: if the clock were set back, a revoked key would be remembered longer.
  const at = performance.now();
  const question = keyQueries.get(name);
  if (question && at - question.at < rememberMs) return question.known;
  const known = findKeyByHash(database, { hash }).then(
    ([row]) => row && { caller: callerOf(row), expiresAt: row.expires_at },
  );
  cacheKeyQuery(name, { at, known });
  return known;
}

function cacheKeyQuery(name: string, question: KeyQuery): void {
  // A Map keeps the order of insertion, so its first key is the oldest query.
  keyQueries.delete(name);
  if (keyQueries.size >= rememberedKeys) keyQueries.delete(keyQueries.keys().next().value!);
  keyQueries.set(name, question);
  const forget = (): void => {
    if (keyQueries.get(name) === question) keyQueries.delete(name);
  };
  question.known.then((known) => known ?? forget(), forget);
}

/** Finds the signed-in person or the creator of the key; no row for the operator's keys. */
const selectResponsiblePerson = statement('workspace_id user_id? key_id?', 'id:text name')`
  select u.id, u.name from users u
   where u.id = coalesce(
     $user_id, (select k.created_by from api_keys k where k.workspace_id = $workspace_id and k.id = $key_id))`;

/** The channel of each kind of caller, as it is stored with their actions. */
export const channelByActorKind = {
  person: 'console',
  key: 'api',
  operator: 'cli',
} as const satisfies Readonly<Record<Actor['kind'], string>>;

/** Returns the account id of a signed-in person; null for a key and the operator. */
export const personIdOf = (actor: Actor): string | null => (actor.kind === 'person' ? actor.id : null);

/**
 * Returns the signed-in person, or the creator of the API key. What a key creates belongs to its creator, so
 * that it ends with their membership. Undefined for the operator and the operator's keys.
 */
export async function findResponsiblePerson(
  database: Database,
  { workspaceId, actor }: Pick<RequestScope, 'workspaceId' | 'actor'>,
): Promise<{ id: string; name: string } | undefined> {
  const key_id = actor.kind === 'key' ? actor.id : null;
  return onlyRow(
    await selectResponsiblePerson(database, {
      workspace_id: workspaceId,
      user_id: personIdOf(actor),
      key_id,
    }),
  );
}

/**
 * The forms that a request can access, with their submissions; null for the whole workspace (Caller.formIds).
 */
export type AccessibleForms = readonly string[] | null;

/**
 * Checks access to a form, or to a submission of it. A form that a key can't access appears not to exist.
 * @throws ApiError not_found.
 */
export function requireFormAccess(reach: AccessibleForms, formId: string): void {
  if (reach !== null && !reach.includes(formId.toLowerCase())) throw new ApiError('not_found');
}

/**
 * Checks access to data that belongs to no form.
 * @throws ApiError forbidden for a key that is limited to certain forms.
 */
export function requireWorkspaceAccess(reach: AccessibleForms): void {
  if (reach !== null)
    throw new ApiError('forbidden', "This API key is limited to certain forms, so it can't do this.");
}
