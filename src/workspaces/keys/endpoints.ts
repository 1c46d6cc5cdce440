import { type Static, Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { seenIn } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { named } from '#kit/pagination.ts';
import { only, statement } from '#kit/statement.ts';
import { tagOf } from '#kit/tag-of.ts';
import { dataPermissions, permissionNames, roleMay } from '#rules/permissions.ts';
import { personBehind } from '../authenticate.ts';
import {
  type ApiKey,
  changeKey,
  createKey,
  listKeys,
  longestGraceHours,
  revokeKey,
  rotateKey,
} from '../keys.ts';
import { keptRequests } from '../request-log.ts';
import { closed, maybe, nameText, role, timestamp, uuid } from '../shapes.ts';

const permission = Type.Enum([...permissionNames]);
const permissions = Type.Array(permission, { maxItems: 100 });
const formIds = Type.Array(uuid, { maxItems: 1_000 });

export const Key = named(
  'Key',
  Type.Object({
    id: uuid,
    name: Type.String(),
    prefix: Type.String(),
    /** Null: all with data, also those that come later. */
    permissions: maybe(Type.Array(permission)),
    /** The only forms that it reaches; null: all of the workspace. */
    form_ids: maybe(Type.Array(uuid)),
    /** The name of the member who made it, or rotated it last; null for the operator's, and for people who are gone. */
    created_by: maybe(Type.String()),
    /** Of that member; null where nobody's role limits the key. */
    created_by_role: maybe(role),
    /** What it was given and may not do, because that member may not. */
    withheld: Type.Array(permission),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: maybe(timestamp),
    revoked_at: maybe(timestamp),
    last_used_at: maybe(timestamp),
    last_used_address: maybe(Type.String()),
    /** After a rotation: until when the former secret works too. */
    former_until: maybe(timestamp),
    /** Of the last seven days. */
    requests: Type.Integer(),
  }),
);
export type Key = Static<typeof Key>;

export const NewKey = Type.Object(
  {
    name: nameText,
    /** Absent: all with data, also those that come later. */
    permissions: Type.Optional(permissions),
    /** Absent: every form, also later ones. */
    form_ids: Type.Optional(formIds),
    expires_at: Type.Optional(timestamp),
  },
  closed,
);
export type NewKey = Static<typeof NewKey>;

/** What is left out stays as it is; null is not limited. */
export const KeyChange = Type.Object(
  {
    name: Type.Optional(nameText),
    permissions: Type.Optional(maybe(permissions)),
    form_ids: Type.Optional(maybe(formIds)),
    expires_at: Type.Optional(maybe(timestamp)),
  },
  closed,
);
export type KeyChange = Static<typeof KeyChange>;

/** For how long the former secret works beside the new one: no longer, when left out. */
const KeyRotation = Type.Object(
  { grace_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceHours })) },
  closed,
);
/** The key itself is shown this once. */
const CreatedKey = Type.Object({ id: uuid, key: Type.String() });
const RotatedKey = Type.Object({ id: uuid, key: Type.String(), former_until: timestamp });

/** A request that a key made lately. */
export const KeyRequest = named(
  'KeyRequest',
  Type.Object({
    /** X-Request-Id of its answer. */
    id: uuid,
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    ms: Type.Integer(),
    requested_at: timestamp,
  }),
);
export type KeyRequest = Static<typeof KeyRequest>;

/** Who grants. `expiresAt`: when their own key ends; null for a person and for a key that does not expire. */
type Granter = Pick<Scope, 'may' | 'formIds'> & { expiresAt: Date | null };

/**
 * What a key may do and reach, and until when, as far as a request names it; null: everything with data, every form,
 * without an end.
 */
type Grant = {
  permissions?: readonly string[] | null | undefined;
  formIds?: readonly string[] | null | undefined;
  expiresAt?: Date | null | undefined;
};

/**
 * A caller grants no key what they lack themselves: permissions, forms, or time. Before a key is changed or rotated, the
 * caller must hold all that it has: otherwise they could narrow it, rotate it for its secret, and wait until somebody
 * gives its permissions back.
 * @throws ApiError forbidden, naming what the caller lacks.
 */
function requireGrantable(
  { may, formIds: own, expiresAt: ownEnd }: Granter,
  { permissions, formIds, expiresAt }: Grant,
): void {
  const given = permissions === null ? dataPermissions : (permissions ?? []);
  const lacking = given.filter((permission) => !may(permission));
  if (lacking.length > 0)
    throw new ApiError('forbidden', `You may not give what you may not do yourself: ${lacking.join(', ')}.`);
  if (formIds !== undefined && !isWithin(own, formIds))
    throw new ApiError('forbidden', 'You may not give forms that you do not reach yourself.');
  if (ownEnd !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > ownEnd))
    throw new ApiError(
      'forbidden',
      `The key would outlive your own, which expires at ${ownEnd.toISOString()}. Give it an "expires_at" no later than that.`,
    );
}

/** Whether a caller who reaches `own` reaches all of these forms; null: all of the workspace. */
const isWithin = (own: readonly string[] | null, formIds: readonly string[] | null): boolean =>
  own === null || (formIds !== null && formIds.every((id) => own.includes(id.toLowerCase())));

/** The latest requests of a key, newest first. */
export const listRequests = statement(
  'request_log.list_requests',
  'workspace_id key_id limit',
  'id method path status:smallint ms:integer requested_at:timestamp',
  `select id, method, path, status, ms, requested_at from api_requests
   where workspace_id = $workspace_id and api_key_id = $key_id order by id desc limit $limit`,
);

/**
 * The API keys of a workspace. For a key that is limited to certain forms there are only keys within these; what a key
 * makes or rotates belongs to who made it, and ends with their membership.
 */
export function keyEndpoints({ database }: { database: Database }) {
  const load = async ({ workspaceId, formIds }: Scope, id: string): Promise<ApiKey> => {
    const key = only(await listKeys(database, workspaceId, id));
    if (!key || !isWithin(formIds, key.formIds)) throw new ApiError('not_found');
    return key;
  };
  /** The caller with the end of their own key. */
  const granterOf = async ({ workspaceId, actor, may, formIds }: Scope) => {
    const own = actor.kind === 'key' ? only(await listKeys(database, workspaceId, actor.id)) : undefined;
    return { may, formIds, expiresAt: own?.expiresAt ?? null };
  };
  const show = async (scope: Scope, id: string) => {
    const body = presentKey(await load(scope, id));
    return { body, tag: tagOf(new Date(body.updated_at), seenIn(body)) };
  };

  return {
    listKeys: operation({
      summary: 'List API keys',
      description: 'Newest first, the revoked and expired ones too; never a secret.',
      permission: 'keys:read',
      reply: { status: 200, description: 'All of them.', schema: Type.Object({ data: Type.Array(Key) }) },
      async run({ workspaceId, formIds }) {
        const keys = await listKeys(database, workspaceId);
        return { body: { data: keys.filter((key) => isWithin(formIds, key.formIds)).map(presentKey) } };
      },
    }),

    createKey: operation({
      summary: 'Create API key',
      description:
        'The key is shown this once. Without `permissions` it may do everything with data and administers nothing; nobody gives what they may not do themselves.',
      permission: 'keys:write',
      audit: { creates: 'getKey' },
      body: NewKey,
      example: { body: { name: 'Nightly export', permissions: ['forms:read', 'submissions:read'] } },
      reply: { status: 201, description: 'The key.', schema: CreatedKey },
      async run({ body, ...scope }) {
        const grant = { permissions: body.permissions, formIds: body.form_ids };
        const expiresAt = readExpiry(body.expires_at) ?? undefined;
        requireGrantable(await granterOf(scope), {
          permissions: grant.permissions ?? null,
          formIds: grant.formIds ?? null,
          expiresAt: expiresAt ?? null,
        });
        const made = await createKey(database, {
          workspaceId: scope.workspaceId,
          name: body.name.trim(),
          ...grant,
          expiresAt,
          createdBy: (await personBehind(database, scope))?.id,
        });
        return { body: made };
      },
    }),

    getKey: operation({
      summary: 'Get API key',
      permission: 'keys:read',
      params: idParameter,
      reply: { status: 200, description: 'The key without its secret.', schema: Key },
      run: ({ params, ...scope }) => show(scope, params.id),
    }),

    changeKey: operation({
      summary: 'Change API key',
      description:
        'Changes what the key may do and reach, and when it expires. The change takes effect at once; the secret stays. The caller must hold everything that the key has, before and after the change.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      body: KeyChange,
      example: { body: { name: 'Weekly export' } },
      isConditional: true,
      reply: { status: 200, description: 'The key as it is now.', schema: Key },
      async run({ params, body, unchanged, ...scope }) {
        const expiresAt = readExpiry(body.expires_at);
        const grant = { permissions: body.permissions, formIds: body.form_ids, expiresAt };
        const granter = await granterOf(scope);
        requireGrantable(granter, await load(scope, params.id));
        requireGrantable(granter, grant);
        const key = { workspaceId: scope.workspaceId, keyId: params.id };
        await changeKey(database, key, { name: body.name?.trim(), ...grant, unchanged });
        return show(scope, params.id);
      },
    }),

    revokeKey: operation({
      summary: 'Revoke API key',
      description: 'It is refused from now on. A key may revoke itself.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The key has ended.' },
      async run({ params, unchanged, ...scope }) {
        await load(scope, params.id);
        await revokeKey(database, { workspaceId: scope.workspaceId, keyId: params.id, unchanged });
      },
    }),

    rotateKey: operation({
      summary: 'Rotate API key',
      description:
        'Another secret, shown this once; the former one works for `grace_hours` more. The caller must hold everything that the key has.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      body: KeyRotation,
      isBodyOptional: true,
      example: { body: { grace_hours: 24 } },
      reply: { status: 200, description: 'The new secret.', schema: RotatedKey },
      async run({ params, body: { grace_hours: graceHours = 0 }, ...scope }) {
        requireGrantable(await granterOf(scope), await load(scope, params.id));
        const { id, key, formerUntil } = await rotateKey(database, {
          workspaceId: scope.workspaceId,
          keyId: params.id,
          graceHours,
          rotatedBy: (await personBehind(database, scope))?.id,
        });
        return { body: { id, key, former_until: formerUntil.toISOString() } };
      },
    }),

    listKeyRequests: operation({
      summary: 'List requests of an API key',
      description: `The latest ${keptRequests}, newest first, about a second after they were answered.`,
      permission: 'keys:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The requests.',
        schema: Type.Object({ data: Type.Array(KeyRequest) }),
      },
      async run({ params, ...scope }) {
        await load(scope, params.id);
        const filter = { workspace_id: scope.workspaceId, key_id: params.id, limit: keptRequests };
        return { body: { data: wired(await listRequests(database, filter)) } };
      },
    }),
  };
}

/** @throws ApiError validation_error for what has passed. */
function readExpiry<Nothing extends null | undefined>(text: string | Nothing): Date | Nothing {
  if (typeof text !== 'string') return text;
  const date = new Date(text);
  if (date > now()) return date;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'expires_at', message: 'A key expires in the future.', code: 'too_small' }],
  });
}

const isoOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

function presentKey(found: ApiKey): Key {
  const { makerRole: role } = found;
  return {
    id: found.id,
    name: found.name,
    prefix: found.prefix,
    permissions: found.permissions ? [...found.permissions] : null,
    form_ids: found.formIds ? [...found.formIds] : null,
    created_by: found.createdBy,
    created_by_role: role,
    withheld:
      role === null ? [] : (found.permissions ?? dataPermissions).filter((name) => !roleMay(role, name)),
    created_at: found.createdAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
    expires_at: isoOrNull(found.expiresAt),
    revoked_at: isoOrNull(found.revokedAt),
    last_used_at: isoOrNull(found.lastUsedAt),
    last_used_address: found.lastUsedAddress,
    former_until: isoOrNull(found.formerUntil),
    requests: found.requests,
  };
}
