import { type Static, Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { hashResponse } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { dataPermissions, permissionNames, roleMay } from '#rules/permissions.ts';
import { findResponsiblePerson } from './authenticate.ts';
import {
  type ApiKey,
  createKey,
  listKeys,
  longestGraceHours,
  revokeKey,
  rotateKey,
  updateKeySettings,
} from './keys.ts';
import { keptRequests } from './request-log.ts';
import { nameText, role } from './shapes.ts';

const permission = Type.Enum([...permissionNames]);
const permissions = Type.Array(permission, { maxItems: 100 });
const formIds = Type.Array(uuidSchema, { maxItems: 1_000 });

export const Key = namedObject('Key', {
  id: uuidSchema,
  name: Type.String(),
  prefix: Type.String(),
  /** Null for all data permissions, including later ones. */
  permissions: orNull(Type.Array(permission)),
  /** The forms that it can access; null for the whole workspace. */
  form_ids: orNull(Type.Array(uuidSchema)),
  /**
   * The name of the member who created it or last rotated it; null for the operator's keys and deleted
   * accounts.
   */
  created_by: orNull(Type.String()),
  /** The role of that member; null if no role limits the key. */
  created_by_role: orNull(role),
  /** Permissions of the key that do not apply because that member lacks them. */
  withheld: Type.Array(permission),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  expires_at: orNull(timestampSchema),
  revoked_at: orNull(timestampSchema),
  last_used_at: orNull(timestampSchema),
  last_used_address: orNull(Type.String()),
  /** The expiry of the previous secret after a rotation. */
  former_until: orNull(timestampSchema),
  /** Requests within the last seven days. */
  requests: Type.Integer(),
});
export type Key = Static<typeof Key>;

export const NewKey = strictObject({
  name: nameText,
  /** If missing, all data permissions, including later ones. */
  permissions: Type.Optional(permissions),
  /** If missing, every form, including later ones. */
  form_ids: Type.Optional(formIds),
  expires_at: Type.Optional(timestampSchema),
});
export type NewKey = Static<typeof NewKey>;

/** Missing properties keep their value; null removes a limit. */
export const KeyChange = strictObject({
  name: Type.Optional(nameText),
  permissions: Type.Optional(orNull(permissions)),
  form_ids: Type.Optional(orNull(formIds)),
  expires_at: Type.Optional(orNull(timestampSchema)),
});
export type KeyChange = Static<typeof KeyChange>;

/** How long the previous secret still works. If missing, it ends immediately. */
const KeyRotation = strictObject({
  grace_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceHours })),
});
/** A new key with its secret, which is shown only once. */
const CreatedKey = Type.Object({ id: uuidSchema, key: Type.String() });
const RotatedKey = Type.Object({ id: uuidSchema, key: Type.String(), former_until: timestampSchema });

/** A recent request of an API key. */
export const RecentKeyRequest = namedObject('KeyRequest', {
  /** X-Request-Id of the response. */
  id: uuidSchema,
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  ms: Type.Integer(),
  requested_at: timestampSchema,
});
export type RecentKeyRequest = Static<typeof RecentKeyRequest>;

/**
 * The caller who grants. `expiresAt` is the expiry of their own key; null for a person and for a key that
 * does not expire.
 */
type Granter = Pick<RequestScope, 'may' | 'formIds'> & { expiresAt: Date | null };

/**
 * The permissions, forms and expiry that a request gives to a key; null for all data permissions, every form,
 * or no expiry.
 */
type Grant = {
  permissions?: readonly string[] | null | undefined;
  formIds?: readonly string[] | null | undefined;
  expiresAt?: Date | null | undefined;
};

/**
 * Checks that a caller has all permissions, forms and time that they grant to a key. To change or rotate a
 * key, the caller needs everything that the key has. Otherwise they could narrow it, rotate it for its
 * secret, and wait until its permissions are restored.
 * @throws ApiError forbidden, naming what the caller lacks.
 */
function requireGrantable(
  { may, formIds: own, expiresAt: ownEnd }: Granter,
  { permissions, formIds, expiresAt }: Grant,
): void {
  const given = permissions === null ? dataPermissions : (permissions ?? []);
  const lacking = given.filter((permission) => !may(permission));
  if (lacking.length > 0)
    throw new ApiError(
      'forbidden',
      `You can't grant permissions that you don't have: ${lacking.join(', ')}.`,
    );
  if (formIds !== undefined && !isWithin(own, formIds))
    throw new ApiError('forbidden', "You can't grant access to forms that you can't access.");
  if (ownEnd !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > ownEnd))
    throw new ApiError(
      'forbidden',
      `The key would outlive your own, which expires at ${ownEnd.toISOString()}. Set \`expires_at\` to that time or earlier.`,
    );
}

/** Whether a caller who can access `own` can access all of these forms; null means the whole workspace. */
const isWithin = (own: readonly string[] | null, formIds: readonly string[] | null): boolean =>
  own === null || (formIds !== null && formIds.every((id) => own.includes(id.toLowerCase())));

/** Lists the latest requests of a key, newest first. */
export const listRequestsOfKey = statement(
  'workspace_id key_id limit',
  'id method path status:smallint ms:integer requested_at:timestamp',
)`
  select id, method, path, status, ms, requested_at from api_requests
  where workspace_id = $workspace_id and api_key_id = $key_id order by id desc limit $limit`;

/**
 * Operations on API keys. A key that is limited to certain forms only sees keys within these forms. A key
 * that another key creates or rotates belongs to that key's creator, and ends with their membership.
 */
export function keyEndpoints({ database }: { database: Database }) {
  const load = async ({ workspaceId, formIds }: RequestScope, id: string): Promise<ApiKey> => {
    const key = onlyRow(await listKeys(database, workspaceId, id));
    if (!key || !isWithin(formIds, key.form_ids)) throw new ApiError('not_found');
    return key;
  };
  /** Returns the caller with the expiry of their own key. */
  const granterOf = async ({ workspaceId, actor, may, formIds }: RequestScope) => {
    const own = actor.kind === 'key' ? onlyRow(await listKeys(database, workspaceId, actor.id)) : undefined;
    return { may, formIds, expiresAt: own?.expires_at ?? null };
  };
  const show = async (scope: RequestScope, id: string) => {
    const body = presentKey(await load(scope, id));
    return { body, tag: formatEtag(new Date(body.updated_at), hashResponse(body)) };
  };

  return {
    listKeys: operation({
      summary: 'List API keys',
      description:
        'Returns all API keys without their secrets, newest first, including revoked and expired ones.',
      permission: 'keys:read',
      reply: { status: 200, description: 'All API keys.', schema: Type.Object({ data: Type.Array(Key) }) },
      async run({ workspaceId, formIds }) {
        const keys = await listKeys(database, workspaceId);
        return { body: { data: keys.filter((key) => isWithin(formIds, key.form_ids)).map(presentKey) } };
      },
    }),

    createKey: operation({
      summary: 'Create API key',
      description:
        "Creates an API key, which is shown only once. Without `permissions`, the key can do everything with data but can't administer the workspace. You can't grant permissions that you don't have.",
      permission: 'keys:write',
      audit: { creates: 'getKey' },
      body: NewKey,
      example: { body: { name: 'Nightly export', permissions: ['forms:read', 'submissions:read'] } },
      reply: { status: 201, description: 'The API key.', schema: CreatedKey },
      async run({ body, ...scope }) {
        const grant = { permissions: body.permissions, formIds: body.form_ids };
        const expiresAt = readExpiry(body.expires_at) ?? undefined;
        requireGrantable(await granterOf(scope), {
          permissions: grant.permissions ?? null,
          formIds: grant.formIds ?? null,
          expiresAt: expiresAt ?? null,
        });
        const created = await createKey(database, {
          workspaceId: scope.workspaceId,
          name: body.name.trim(),
          ...grant,
          expiresAt,
          createdBy: (await findResponsiblePerson(database, scope))?.id,
        });
        return { body: created };
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
        'Changes the name, permissions, forms and expiry. The change applies immediately; the secret stays the same. The caller needs all permissions and forms of the key, before and after the change.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      body: KeyChange,
      example: { body: { name: 'Weekly export' } },
      isConditional: true,
      reply: { status: 200, description: 'The changed key.', schema: Key },
      async run({ params, body, unchanged, ...scope }) {
        const expiresAt = readExpiry(body.expires_at);
        const grant = { permissions: body.permissions, formIds: body.form_ids, expiresAt };
        const granter = await granterOf(scope);
        requireGrantable(granter, grantOf(await load(scope, params.id)));
        requireGrantable(granter, grant);
        const key = { workspaceId: scope.workspaceId, keyId: params.id };
        await updateKeySettings(database, key, { name: body.name?.trim(), ...grant, unchanged });
        return show(scope, params.id);
      },
    }),

    revokeKey: operation({
      summary: 'Revoke API key',
      description: 'The key stops working immediately. A key can revoke itself.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The key is revoked.' },
      async run({ params, unchanged, ...scope }) {
        await load(scope, params.id);
        await revokeKey(database, { workspaceId: scope.workspaceId, keyId: params.id, unchanged });
      },
    }),

    rotateKey: operation({
      summary: 'Rotate API key',
      description:
        'Returns a new secret, which is shown only once. The previous secret works for another `grace_hours` hours, 0 by default. The caller needs all permissions and forms of the key.',
      permission: 'keys:write',
      audit: { changes: 'getKey' },
      params: idParameter,
      body: KeyRotation,
      isBodyOptional: true,
      example: { body: { grace_hours: 24 } },
      reply: { status: 200, description: 'The new secret.', schema: RotatedKey },
      async run({ params, body: { grace_hours: graceHours = 0 }, ...scope }) {
        requireGrantable(await granterOf(scope), grantOf(await load(scope, params.id)));
        const { id, key, formerUntil } = await rotateKey(database, {
          workspaceId: scope.workspaceId,
          keyId: params.id,
          graceHours,
          rotatedBy: (await findResponsiblePerson(database, scope))?.id,
        });
        return { body: { id, key, former_until: formerUntil.toISOString() } };
      },
    }),

    listKeyRequests: operation({
      summary: 'List requests of an API key',
      description: `Returns the latest ${keptRequests} requests, newest first. A request appears about a second after its response.`,
      permission: 'keys:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The requests.',
        schema: Type.Object({ data: Type.Array(RecentKeyRequest) }),
      },
      async run({ params, ...scope }) {
        await load(scope, params.id);
        const filter = { workspace_id: scope.workspaceId, key_id: params.id, limit: keptRequests };
        return { body: { data: asWireValue(await listRequestsOfKey(database, filter)) } };
      },
    }),
  };
}

/** Parses an expiry. @throws ApiError validation_error if it is in the past. */
function readExpiry<Nothing extends null | undefined>(text: string | Nothing): Date | Nothing {
  if (typeof text !== 'string') return text;
  const date = new Date(text);
  if (date > now()) return date;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'expires_at', message: 'The expiry must be in the future.', code: 'too_small' }],
  });
}

/** Returns what a key grants. */
const grantOf = ({ permissions, form_ids, expires_at }: ApiKey): Grant => ({
  permissions,
  formIds: form_ids,
  expiresAt: expires_at,
});

const presentKey = ({ maker_role: role, ...key }: ApiKey): Key =>
  asWireValue({
    ...key,
    created_by_role: role,
    withheld:
      role === null ? [] : (key.permissions ?? dataPermissions).filter((name) => !roleMay(role, name)),
  });
