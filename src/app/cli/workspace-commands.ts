import { cellForNew } from '#cells/choose-cell.ts';
import { cellOfWorkspace, findInAllCells, newestFirst } from '#cells/across-cells.ts';
import { transaction } from '#kit/database.ts';
import { noteInWorkspace } from '#workspaces/audit/note-person.ts';
import { beginEnd, bringBack } from '#workspaces/endings.ts';
import { createWorkspace, listWorkspaces, setPlan } from '#workspaces/workspaces.ts';
import { command, optional } from './command.ts';
import { id, plan, text, wholeNumber } from './values.ts';
import { statement } from '#kit/statement.ts';

/** Newest first. */
const selectAllKeys = statement(
  'cli.select_all_keys',
  '',
  [
    'id workspace_id name prefix permissions:texts? form_ids? created_at expires_at?',
    'revoked_at? last_used_at?',
  ],
  `/* operator: across workspaces */
   select id, workspace_id, name, prefix, permissions, form_ids, created_at, expires_at, revoked_at, last_used_at
     from api_keys
    order by id desc`,
);

const ownRate = { 'rate-limit': optional(wholeNumber), burst: optional(wholeNumber) };

export const workspaceCommands = [
  command({
    name: 'workspace create',
    summary:
      "Creates a workspace on the plan that DEFAULT_PLAN names, or on another one. A rate of its own replaces the plan's.",
    parameters: { name: text('<name>') },
    options: {
      plan: optional(plan),
      ...ownRate,
      cell: {
        ...optional(text('<name>')),
        about: 'Where it is to lie; without it where the fewest bytes are.',
      },
    },
    run: async (
      { database, config },
      { name, plan = config.defaultPlan, 'rate-limit': rateLimit, burst, cell },
    ) =>
      transaction(await cellForNew(database, cell), async (client) => {
        const made = await createWorkspace(client, { name, plan, rateLimit, burst });
        await noteInWorkspace(client, { workspaceId: made.id, operation: 'createWorkspace', by: undefined });
        return made;
      }),
  }),
  command({
    name: 'workspace list',
    summary: 'Lists the workspaces, newest first, with the rate that is in force.',
    run: async ({ database }) => {
      const workspaces = await listWorkspaces(database);
      return {
        data: workspaces.map((each) => ({
          id: each.id,
          name: each.name,
          plan: each.plan,
          rate_limit: each.perMinute,
          burst: each.burst,
          created_at: each.createdAt,
        })),
      };
    },
  }),
  command({
    name: 'workspace delete',
    summary: 'Closes a workspace at once, and deletes it with all that is in it after 7 days.',
    parameters: { id },
    note: 'Its owners are told by mail. Until then `workspace restore` or an owner brings it back.',
    run: async ({ database }, { id }) => ({
      id,
      ends_at: await beginEnd(await cellOfWorkspace(database, id), id, undefined),
    }),
  }),
  command({
    name: 'workspace restore',
    summary: 'Brings a workspace back that is being deleted.',
    parameters: { id },
    async run({ database }, { id }) {
      await bringBack(await cellOfWorkspace(database, id), id, undefined);
      return { id };
    },
  }),
  command({
    name: 'workspace plan',
    summary: "Puts a workspace on a plan, with the plan's rate unless it gets one of its own.",
    parameters: { id, plan },
    options: ownRate,
    run: async ({ database }, { id, plan, 'rate-limit': rateLimit, burst }) =>
      transaction(await cellOfWorkspace(database, id), async (client) => {
        const set = await setPlan(client, { workspaceId: id, plan, rateLimit, burst });
        await noteInWorkspace(client, {
          workspaceId: id,
          operation: 'setPlan',
          by: undefined,
          changes: { plan: { to: plan }, rate_limit: { to: rateLimit }, burst: { to: burst } },
        });
        return set;
      }),
  }),
  command({
    name: 'key list',
    summary: 'Lists the API keys of all workspaces, newest first.',
    run: async ({ database }) => ({
      data: await findInAllCells(database, (cells) => selectAllKeys(cells, {}), { order: newestFirst }),
    }),
  }),
];
