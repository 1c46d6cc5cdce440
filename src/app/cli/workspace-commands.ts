import { cellOfWorkspace, findInAllCells, newestFirst } from '#cells/across-cells.ts';
import { cellForNew } from '#cells/choose-cell.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { sendMailJob } from '#kit/outbox.ts';
import { restartJob, selectParked } from '#kit/queue/park-job.ts';
import { announceJobs } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import { retryMail } from '#mail/endpoints.ts';
import { deliverJob } from '#webhooks/delivery-job.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { createUser, resetUserPassword } from '#workspaces/accounts/users.ts';
import { noteInWorkspace, notePerson } from '#workspaces/audit/note-person.ts';
import { accountOf, beginEnd, beginEndOfAccount, bringBack, bringBackAccount } from '#workspaces/endings.ts';
import { inviteByHand } from '#workspaces/member-invitations/invite.ts';
import { addMember } from '#workspaces/members.ts';
import { forgetFactors } from '#workspaces/sign-in/second-factor.ts';
import { createWorkspace, listWorkspaces, setPlan } from '#workspaces/workspaces.ts';
import { command, optional, required } from './command.ts';
import { id, plan, role, text, UsageError, wholeNumber } from './values.ts';

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

export const userCommands = [
  command({
    name: 'user create',
    summary: 'Makes an account, and a member of a workspace where one is named.',
    options: {
      email: required(text('<address>')),
      password: required(text('<text>')),
      workspace: optional(id),
      role: optional(role),
    },
    async run({ database }, { email, password, workspace, role }) {
      if ((workspace === undefined) !== (role === undefined))
        throw new UsageError('--workspace and --role go together.');
      const cell = workspace === undefined ? database : await cellOfWorkspace(database, workspace);
      return transaction(cell, async (client) => {
        const user = await createUser(client, { email, password, isConfirmed: true });
        if (workspace && role) await addMember(client, { workspaceId: workspace, userId: user.id, role });
        await notePerson(client, { who: { userId: user.id }, operation: 'createUser', by: undefined });
        return user;
      });
    },
  }),
  command({
    name: 'user invite',
    summary: 'Makes a link by which whoever you hand it to joins a workspace, with a new account or theirs.',
    options: { email: required(text('<address>')), workspace: required(id), role: required(role) },
    note: 'The link works once, for 7 days. Give it to nobody but the person who has the address.',
    async run({ database: instance, vault, config }, { email, workspace, role }) {
      const database = await cellOfWorkspace(instance, workspace);
      const link = await inviteByHand({ database, vault, config }, { workspaceId: workspace, email, role });
      const changes = { email: { to: email }, role: { to: role } };
      await noteInWorkspace(database, {
        workspaceId: workspace,
        operation: 'inviteMember',
        by: undefined,
        changes,
      });
      return link;
    },
  }),
  command({
    name: 'user password',
    summary:
      'Gives a person who lost theirs a temporary password, to be changed at the next sign-in, within a day.',
    options: { email: required(text('<address>')) },
    note: 'The password is shown only this once. Every session of the person has ended.',
    async run({ database }, { email }) {
      return transaction(database, async (client) => {
        const { id, temporaryPassword } = await resetUserPassword(client, email);
        await notePerson(client, { who: { userId: id }, operation: 'replacePassword', by: undefined });
        return { id, temporary_password: temporaryPassword };
      });
    },
  }),
  command({
    name: 'user second-factor',
    summary:
      'Takes the second factors from a person who lost them all: the app, passkeys and recovery codes. The password stays.',
    options: { email: required(text('<address>')) },
    note: 'Make sure that it is them who ask. Every session of the person has ended, and they are told by mail.',
    async run({ database }, { email }) {
      const { id, hadAny } = await forgetFactors(database, email);
      return { id, had_any: hadAny };
    },
  }),
  command({
    name: 'user delete',
    summary: 'Signs a person out everywhere, and deletes their account after 7 days.',
    options: { email: required(text('<address>')) },
    note: 'Who signs in until then can come back. What they made in workspaces stays; their API keys end with the account.',
    async run({ database }, { email }) {
      const id = await accountOf(database, email);
      return { id, ends_at: await beginEndOfAccount(database, id, undefined) };
    },
  }),
  command({
    name: 'user restore',
    summary: 'Brings an account back that is being deleted.',
    options: { email: required(text('<address>')) },
    async run({ database }, { email }) {
      const id = await accountOf(database, email);
      await bringBackAccount(database, id, undefined);
      return { id };
    },
  }),
];

/** More are listed after these were retried. */
const mostListed = 1_000;

const listParked = (database: Database) =>
  findInAllCells(database, (cells) => selectParked(cells, { limit: mostListed }));

export const jobCommands = [
  command({
    name: 'job list',
    summary:
      'Lists background jobs that were parked: the server stopped three times while it worked on them.',
    async run({ database }) {
      return { data: await listParked(database) };
    },
  }),
  command({
    name: 'job retry',
    summary: 'Starts a parked job again; a running server does it.',
    parameters: { id },
    async run({ database }, { id: jobId }) {
      const job = (await listParked(database)).find((each) => each.id === jobId);
      if (!job) throw new UsageError(`No parked job has the ID ${jobId}. \`job list\` shows them.`);
      const cell = await cellOfWorkspace(database, job.workspace_id);
      await retry(cell, job);
      await announceJobs(cell);
      return { id: jobId };
    },
  }),
];

type Parked = { workspace_id: string; id: string; kind: string };

async function retry(database: Database, { workspace_id, id: jobId, kind }: Parked): Promise<void> {
  const place = { workspaceId: workspace_id, id: jobId };
  try {
    if (kind === deliverJob) await retryDelivery({ database }, { ...place, deliveryId: jobId });
    else if (kind === sendMailJob) await retryMail({ database, wakeQueue: () => undefined }, place);
  } catch (error) {
    // It was deleted, or is not to be sent any more: then the job below ends without sending.
    if (!(error instanceof ApiError)) throw error;
  }
  await restartJob(database, { workspace_id, id: jobId });
}
