import { createKey, revokeKey } from '#workspaces/keys.ts';
import { command, optional, required } from './command.ts';
import { findWorkspace } from './find-place.ts';
import { selectAllKeys } from './queries.ts';
import { date, id, ids, list, text } from './values.ts';

export const keyCommands = [
  command({
    name: 'key create',
    summary: 'Makes an API key, with every permission and for every form unless some are named.',
    options: {
      workspace: required(id),
      name: required(text('<text>')),
      permissions: optional(list),
      expires: optional(date),
      forms: optional(ids),
    },
    note: 'The key is shown only this once.',
    run: ({ database }, { workspace, name, permissions, expires, forms }) =>
      createKey(database, { workspaceId: workspace, name, permissions, expiresAt: expires, formIds: forms }),
  }),
  command({
    name: 'key list',
    summary: 'Lists the API keys of all workspaces, newest first.',
    run: async ({ database }) => ({ data: await selectAllKeys(database, {}) }),
  }),
  command({
    name: 'key revoke',
    summary: 'Ends an API key at once.',
    parameters: { id },
    run: async ({ database }, { id }) => {
      const workspaceId = await findWorkspace(database, 'keys', id);
      const { revokedAt } = await revokeKey(database, { workspaceId, keyId: id });
      return { id, revoked_at: revokedAt };
    },
  }),
];
