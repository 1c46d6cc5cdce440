import { now } from '#kit/clock.ts';
import type { PlanName } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import type { Actor, Scope } from '#kit/operation.ts';
import { nullable, only, statement, word } from '#kit/statement.ts';
import {
  keyMay,
  type Permission,
  permissionNames,
  permissions,
  type Role,
  roleMay,
} from '#rules/permissions.ts';
import { hashOfHeader } from './api-key.ts';
import { permissionList } from './key-rows.ts';
import type { RequestCounter } from './request-counter.ts';

/** Requests that pass in a window: `perMinute`, and `burst` beyond it. A Caller has both. */
export type Rate = { readonly perMinute: number; readonly burst: number };

/**
 * The rate of requests without a valid key, counted by address (address-key.ts): far above what a test suite sends, and
 * guesses at 256 random bits need no lower one.
 */
export const anonymousRate: Rate = { perMinute: 1_000, burst: 0 };

/** The window of a person, over all their workspaces and whatever their browser asks (`CONSOLE_PER_MINUTE`). */
export const windowOfPerson = (userId: string): string => `console of ${userId}`;

/** What every answer of the API carries. Specification, "API rate limits". */
type RateHeaders = Record<'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset', string>;

/**
 * Counts one request against the window of `key`: a workspace's id, so that its keys share one window, or an
 * address. docs/rules.md 12: `perMinute + burst` requests pass in a window; Remaining counts down from `perMinute` and
 * stays 0 in the burst; Reset is the Unix second in which the window has ended.
 * @returns the headers, and when the request is one too many, `exceeded`: the whole seconds to wait, at least 1.
 */
export async function takeRequest(
  counter: RequestCounter,
  key: string,
  rate: Rate,
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

/** Whole seconds, at least 1, until a window has ended. */
const secondsToWait = (msLeft: number): number => Math.max(1, Math.ceil(msLeft / 1_000));

/**
 * Counts one more of what may be done `most` times in a window.
 * @param options.seconds the length of the window, a minute unless said; `why` as rateLimitExceeded has it.
 * @throws ApiError rate_limit_exceeded with the wait.
 */
export async function countUpTo(
  counter: RequestCounter,
  key: string,
  most: number,
  { seconds, why }: { seconds?: number; why?: string } = {},
): Promise<void> {
  const { requests, msLeft } = await counter.count(key, seconds);
  if (requests > most) throw rateLimitExceeded(secondsToWait(msLeft), why);
}

/** What a plan gives a workspace: the requests that pass in a minute, and whether its webhooks may be signed. */
type PlanTerms = {
  /** X-RateLimit-Limit. */
  readonly perMinute: number;
  /** How many requests of a minute may pass beyond `perMinute`. */
  readonly burst: number;
  /** Whether a webhook may have a secret, and so the signature header. */
  readonly signedWebhooks: boolean;
};

/**
 * The four tiers. Specification, "API rate limits" and "Webhook signature".
 * Enterprise is "custom" there: its numbers here hold until a workspace is given numbers of its own.
 */
export const plans = {
  free: { perMinute: 60, burst: 10, signedWebhooks: false },
  pro: { perMinute: 300, burst: 30, signedWebhooks: true },
  business: { perMinute: 1_000, burst: 100, signedWebhooks: true },
  enterprise: { perMinute: 5_000, burst: 500, signedWebhooks: true },
} as const satisfies Record<PlanName, PlanTerms>;

export type Plan = PlanName;

/** The plan's numbers, or the workspace's own where the operator has set one (columns rate_limit and burst). */
export function rateOf(
  plan: Plan,
  own: { rateLimit: number | null; burst: number | null },
): { perMinute: number; burst: number } {
  return { perMinute: own.rateLimit ?? plans[plan].perMinute, burst: own.burst ?? plans[plan].burst };
}

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

/** The person behind a request: who is signed in, or who made the key; nobody for the operator's keys. */
const findPersonBehind = statement(
  'workspaces.find_person_behind',
  'workspace_id user_id? key_id?',
  'id:text name',
  `select u.id, u.name from users u
    where u.id = coalesce(
      $user_id, (select k.created_by from api_keys k where k.workspace_id = $workspace_id and k.id = $key_id))`,
);

/** How each kind of caller reaches the service, as it is stored with what they do. */
export const throughOf = {
  person: 'console',
  key: 'api',
  operator: 'cli',
} as const satisfies Readonly<Record<Actor['kind'], string>>;

/** The account of whoever asks; null for a key and the operator. */
export const personOf = (actor: Actor): string | null => (actor.kind === 'person' ? actor.id : null);

/**
 * The person behind a request: who is signed in, or who made the key. What a key makes is theirs, so that it ends with
 * their membership. Nobody is behind the operator and the keys that the operator made.
 */
export async function personBehind(
  database: Database,
  { workspaceId, actor }: Pick<Scope, 'workspaceId' | 'actor'>,
): Promise<{ id: string; name: string } | undefined> {
  const key_id = actor.kind === 'key' ? actor.id : null;
  return only(
    await findPersonBehind(database, { workspace_id: workspaceId, user_id: personOf(actor), key_id }),
  );
}

/** The only forms that a request reaches, with their submissions; null: all of the workspace (Caller.formIds). */
export type Reach = readonly string[] | null;

/**
 * Lets a request through to a form, or to a submission of it. What a key does not reach is for it as if it were absent.
 * @throws ApiError not_found.
 */
export function requireReach(reach: Reach, formId: string): void {
  if (reach !== null && !reach.includes(formId.toLowerCase())) throw new ApiError('not_found');
}

/**
 * Lets a request through to what belongs to no form in particular.
 * @throws ApiError forbidden for a key that is limited to certain forms.
 */
export function requireWholeWorkspace(reach: Reach): void {
  if (reach !== null)
    throw new ApiError('forbidden', 'This API key is limited to certain forms, and so may not do this.');
}
