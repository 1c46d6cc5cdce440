import { findInAllCells, newestFirst } from '#kit/cells/in-cells.ts';
import type { Permission } from '#rules/permissions.ts';
import { call } from './api.ts';
import { apiCommand, command, optional, required } from './command.ts';
import { selectAllKeys } from './queries.ts';
import { date, id, ids, list, text } from './values.ts';

/** Names of before every operation was a command; scripts depend on them and on what they answer (docs/rules.md 18). */
export const keyCommands = [
  apiCommand({
    name: 'key create',
    summary:
      'Makes an API key in the workspace that --workspace <id> names, for all data and every form unless some are named.',
    options: {
      name: required(text('<text>')),
      permissions: optional(list),
      expires: optional(date),
      forms: optional(ids),
    },
    note: 'The key is shown only this once.',
    async run({ api }, { name, permissions, expires, forms }) {
      const { id, key } = await call(api, 'createKey', {
        body: {
          name,
          // What is no permission is said by the operation.
          ...(permissions && { permissions: permissions as Permission[] }),
          ...(forms && { form_ids: forms }),
          ...(expires && { expires_at: expires.toISOString() }),
        },
      });
      return { id, key };
    },
  }),
  command({
    name: 'key list',
    summary: 'Lists the API keys of all workspaces, newest first.',
    run: async ({ database }) => ({
      data: await findInAllCells(database, (cells) => selectAllKeys(cells, {}), { order: newestFirst }),
    }),
  }),
  apiCommand({
    name: 'key revoke',
    summary: 'Ends an API key at once. It does not ask.',
    parameters: { id },
    async run({ api }, { id }) {
      await call(api, 'revokeKey', { params: { id } });
      return { id };
    },
  }),
];
