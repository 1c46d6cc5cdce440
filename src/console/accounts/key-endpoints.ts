import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type ApiKey, changeKey, createKey, listKeys, revokeKey, rotateKey } from '#workspaces/keys.ts';
import { listRequests } from '#workspaces/request-log/queries.ts';
import { keptRequests } from '#workspaces/request-log/request-log.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { type CreatedKey, type Key, KeyEdit, KeyRotation, NewKey, type RotatedKey } from './shapes.ts';

const key = Type.Object({ key: Type.String({ format: 'uuid' }) });

/** The API keys of a workspace: they reach all of its data, so admins alone see and make them. */
export function keyRoutes({ database }: ConsoleServices): readonly ConsoleRoute[] {
  const list = consoleEndpoint({
    role: 'admin',
    run: async ({ workspaceId }) => ({
      status: 200,
      body: { data: (await listKeys(database, workspaceId)).map(presentKey) },
    }),
  });

  const create = consoleEndpoint({
    role: 'admin',
    body: NewKey,
    async run({ workspaceId, user, body }) {
      const made: CreatedKey = await createKey(database, {
        workspaceId,
        name: body.name.trim(),
        permissions: body.permissions,
        formIds: body.form_ids,
        expiresAt: readExpiry(body.expires_at),
        createdBy: user.id,
      });
      return { status: 201, body: made };
    },
  });

  const revoke = consoleEndpoint({
    role: 'admin',
    params: key,
    async run({ workspaceId, params }) {
      await revokeKey(database, { workspaceId, keyId: params.key });
      return { status: 204 };
    },
  });

  const change = consoleEndpoint({
    role: 'admin',
    params: key,
    body: KeyEdit,
    async run({ workspaceId, params, body }) {
      const given = { name: body.name.trim(), permissions: body.permissions, formIds: body.form_ids };
      const expiresAt = readExpiry(body.expires_at ?? undefined) ?? null;
      await changeKey(database, { workspaceId, keyId: params.key }, { ...given, expiresAt });
      return { status: 204 };
    },
  });

  const rotate = consoleEndpoint({
    role: 'admin',
    params: key,
    body: KeyRotation,
    async run({ workspaceId, user, params, body }) {
      const rotated = await rotateKey(database, {
        workspaceId,
        keyId: params.key,
        graceHours: body.grace_hours,
        rotatedBy: user.id,
      });
      const shown: RotatedKey = {
        id: rotated.id,
        key: rotated.key,
        former_until: rotated.formerUntil.toISOString(),
      };
      return { status: 200, body: shown };
    },
  });

  const requests = consoleEndpoint({
    role: 'admin',
    params: key,
    async run({ workspaceId, params }) {
      const filter = { workspace_id: workspaceId, key_id: params.key, limit: keptRequests };
      const data = await listRequests(database, filter);
      const isKnown =
        data.length > 0 || (await listKeys(database, workspaceId)).some(({ id }) => id === params.key);
      if (!isKnown) throw new ApiError('not_found');
      return { status: 200, body: { data } };
    },
  });

  return [
    ['GET', '/workspaces/:workspace/keys', list],
    ['POST', '/workspaces/:workspace/keys', create],
    ['PUT', '/workspaces/:workspace/keys/:key', change],
    ['DELETE', '/workspaces/:workspace/keys/:key', revoke],
    ['POST', '/workspaces/:workspace/keys/:key/rotations', rotate],
    ['GET', '/workspaces/:workspace/keys/:key/requests', requests],
  ];
}

function readExpiry(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  if (date > now()) return date;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'expires_at', message: 'A key expires in the future.' }],
  });
}

const isoOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

function presentKey(found: ApiKey): Key {
  return {
    id: found.id,
    name: found.name,
    prefix: found.prefix,
    permissions: found.permissions ? [...found.permissions] : null,
    form_ids: found.formIds ? [...found.formIds] : null,
    created_by: found.createdBy,
    created_at: found.createdAt.toISOString(),
    expires_at: isoOrNull(found.expiresAt),
    revoked_at: isoOrNull(found.revokedAt),
    last_used_at: isoOrNull(found.lastUsedAt),
    last_used_address: found.lastUsedAddress,
    former_until: isoOrNull(found.formerUntil),
    requests: found.requests,
  };
}
