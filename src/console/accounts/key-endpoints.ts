import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type ApiKey, createKey, listKeys, revokeKey } from '#workspaces/keys.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { type CreatedKey, type Key, NewKey } from './shapes.ts';

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
    async run({ workspaceId, body }) {
      const made: CreatedKey = await createKey(database, {
        workspaceId,
        name: body.name.trim(),
        permissions: body.permissions,
        expiresAt: readExpiry(body.expires_at),
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

  return [
    ['GET', '/workspaces/:workspace/keys', list],
    ['POST', '/workspaces/:workspace/keys', create],
    ['DELETE', '/workspaces/:workspace/keys/:key', revoke],
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
    created_at: found.createdAt.toISOString(),
    expires_at: isoOrNull(found.expiresAt),
    revoked_at: isoOrNull(found.revokedAt),
    last_used_at: isoOrNull(found.lastUsedAt),
  };
}
