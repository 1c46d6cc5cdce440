import { cellOfWorkspace, findInAllCells, newestFirst } from '#cells/across-cells.ts';
import { chooseCellForWorkspace } from '#cells/choose-cell.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { sendMailJobKind } from '#kit/outbox.ts';
import { restartParkedJob, selectParkedJobs } from '#kit/queue/park-job.ts';
import { announceJobs } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import { retryMail } from '#mail/endpoints.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import {
  cancelAccountDeletion,
  cancelWorkspaceDeletion,
  findAccountId,
  scheduleAccountDeletion,
  scheduleWorkspaceDeletion,
} from '#workspaces/account-deletion.ts';
import { createUser, setTemporaryPassword } from '#workspaces/accounts/users.ts';
import { addAuditEntry, recordAccountEvent } from '#workspaces/audit/record-account-event.ts';
import { addVerifiedDomain } from '#workspaces/domains.ts';
import { createInvitationLink } from '#workspaces/member-invitations/invite.ts';
import { addMember } from '#workspaces/members.ts';
import { resetFactors } from '#workspaces/sign-in/second-factor.ts';
import { createWorkspace, listWorkspaces, setPlan } from '#workspaces/workspaces.ts';
import { defineDatabaseCommand, optionalOption, requiredOption } from './command.ts';
import { idValue, planValue, roleValue, textValue, UsageError, wholeNumberValue } from './values.ts';

const selectAllKeys = statement('', [
  'id workspace_id name prefix permissions:texts? form_ids? created_at expires_at?',
  'revoked_at? last_used_at?',
])`
  /* operator: across workspaces */
  select id, workspace_id, name, prefix, permissions, form_ids, created_at, expires_at, revoked_at, last_used_at
    from api_keys
   order by id desc`;

const rateOptions = {
  'rate-limit': optionalOption(wholeNumberValue),
  burst: optionalOption(wholeNumberValue),
};

export const workspaceCommands = [
  defineDatabaseCommand({
    name: 'workspace create',
    summary:
      'Creates a workspace on DEFAULT_PLAN or another plan. --rate-limit and --burst override the rate limit of the plan.',
    parameters: { name: textValue('<name>') },
    options: {
      plan: optionalOption(planValue),
      ...rateOptions,
      cell: {
        ...optionalOption(textValue('<name>')),
        about: 'The cell for the workspace. Default: the smallest cell.',
      },
    },
    run: async (
      { database, config },
      { name, plan = config.defaultPlan, 'rate-limit': rateLimit, burst, cell },
    ) =>
      transaction(await chooseCellForWorkspace(database, cell), async (client) => {
        const created = await createWorkspace(client, { name, plan, rateLimit, burst });
        await addAuditEntry(client, { workspaceId: created.id, operation: 'createWorkspace', by: undefined });
        return created;
      }),
  }),
  defineDatabaseCommand({
    name: 'workspace list',
    summary: 'Lists the workspaces with their effective rate limits, newest first.',
    run: async ({ database }) => ({ data: await listWorkspaces(database) }),
  }),
  defineDatabaseCommand({
    name: 'workspace delete',
    summary: 'Closes a workspace immediately, and deletes it with all its data after 7 days.',
    parameters: { id: idValue },
    note: 'Its owners are notified by email. Until it is deleted, an owner or `workspace restore` can restore it.',
    run: async ({ database }, { id }) => ({
      id,
      ends_at: await scheduleWorkspaceDeletion(await cellOfWorkspace(database, id), id, undefined),
    }),
  }),
  defineDatabaseCommand({
    name: 'workspace restore',
    summary: 'Restores a workspace that is being deleted.',
    parameters: { id: idValue },
    async run({ database }, { id }) {
      await cancelWorkspaceDeletion(await cellOfWorkspace(database, id), id, undefined);
      return { id };
    },
  }),
  defineDatabaseCommand({
    name: 'workspace plan',
    summary: 'Sets the plan of a workspace. --rate-limit and --burst override the rate limit of the plan.',
    parameters: { id: idValue, plan: planValue },
    options: rateOptions,
    run: async ({ database }, { id, plan, 'rate-limit': rateLimit, burst }) =>
      transaction(await cellOfWorkspace(database, id), async (client) => {
        const set = await setPlan(client, { workspaceId: id, plan, rateLimit, burst });
        await addAuditEntry(client, {
          workspaceId: id,
          operation: 'setPlan',
          by: undefined,
          changes: { plan: { to: plan }, rate_limit: { to: rateLimit }, burst: { to: burst } },
        });
        return set;
      }),
  }),
  defineDatabaseCommand({
    name: 'domain verify',
    summary: 'Adds a domain to a workspace without a TXT record. Its forms are served at the domain.',
    parameters: { domain: textValue('<domain>') },
    options: { workspace: requiredOption(idValue) },
    async run({ database: instance, vault, config }, { domain, workspace }) {
      const database = await cellOfWorkspace(instance, workspace);
      const verified = await addVerifiedDomain({ database, vault, config }, workspace, domain);
      const changes = { domain: { to: verified.domain } };
      const operation = 'verifyDomain';
      await addAuditEntry(database, { workspaceId: workspace, operation, by: undefined, changes });
      return verified;
    },
  }),
  defineDatabaseCommand({
    name: 'key list',
    summary: 'Lists the API keys of all workspaces, newest first.',
    run: async ({ database }) => ({
      data: await findInAllCells(database, (cells) => selectAllKeys(cells, {}), { order: newestFirst }),
    }),
  }),
];

export const userCommands = [
  defineDatabaseCommand({
    name: 'user create',
    summary: 'Creates an account and, with --workspace, makes it a member of the workspace.',
    options: {
      email: requiredOption(textValue('<address>')),
      password: requiredOption(textValue('<text>')),
      workspace: optionalOption(idValue),
      role: optionalOption(roleValue),
    },
    async run({ database }, { email, password, workspace, role }) {
      if ((workspace === undefined) !== (role === undefined))
        throw new UsageError('--workspace and --role must be used together.');
      const cell = workspace === undefined ? database : await cellOfWorkspace(database, workspace);
      return transaction(cell, async (client) => {
        const user = await createUser(client, { email, password, isConfirmed: true });
        if (workspace && role) await addMember(client, { workspaceId: workspace, userId: user.id, role });
        await recordAccountEvent(client, {
          who: { userId: user.id },
          operation: 'createUser',
          by: undefined,
        });
        return user;
      });
    },
  }),
  defineDatabaseCommand({
    name: 'user invite',
    summary: 'Creates a link that lets a person join a workspace, with a new or an existing account.',
    options: {
      email: requiredOption(textValue('<address>')),
      workspace: requiredOption(idValue),
      role: requiredOption(roleValue),
    },
    note: 'The link can be used once, within 7 days. Give it only to the person with this email address.',
    async run({ database: instance, vault, config }, { email, workspace, role }) {
      const database = await cellOfWorkspace(instance, workspace);
      const link = await createInvitationLink(
        { database, vault, config },
        { workspaceId: workspace, email, role },
      );
      const changes = { email: { to: email }, role: { to: role } };
      await addAuditEntry(database, {
        workspaceId: workspace,
        operation: 'inviteMember',
        by: undefined,
        changes,
      });
      return link;
    },
  }),
  defineDatabaseCommand({
    name: 'user password',
    summary:
      'Sets a temporary password for a person who lost theirs. It is valid for one day and must be changed at the next sign-in.',
    options: { email: requiredOption(textValue('<address>')) },
    note: 'The password will not be shown again. The person was signed out everywhere.',
    async run({ database }, { email }) {
      return transaction(database, async (client) => {
        const { id, temporaryPassword } = await setTemporaryPassword(client, email);
        await recordAccountEvent(client, {
          who: { userId: id },
          operation: 'replacePassword',
          by: undefined,
        });
        return { id, temporary_password: temporaryPassword };
      });
    },
  }),
  defineDatabaseCommand({
    name: 'user second-factor',
    summary:
      'Turns off two-factor for a person who lost access: removes the authenticator app, passkeys and recovery codes. The password stays.',
    options: { email: requiredOption(textValue('<address>')) },
    note: 'Make sure that the request really came from this person. They have been signed out everywhere and will be notified by email.',
    async run({ database }, { email }) {
      const { id, hadAny } = await resetFactors(database, email);
      return { id, had_any: hadAny };
    },
  }),
  defineDatabaseCommand({
    name: 'user delete',
    summary: 'Signs a person out everywhere, and deletes their account after 7 days.',
    options: { email: requiredOption(textValue('<address>')) },
    note: 'The person can sign in until then to restore the account. Their work in workspaces stays. Their API keys stop working when the account is deleted.',
    async run({ database }, { email }) {
      const id = await findAccountId(database, email);
      return { id, ends_at: await scheduleAccountDeletion(database, id, undefined) };
    },
  }),
  defineDatabaseCommand({
    name: 'user restore',
    summary: 'Restores an account that is being deleted.',
    options: { email: requiredOption(textValue('<address>')) },
    async run({ database }, { email }) {
      const id = await findAccountId(database, email);
      await cancelAccountDeletion(database, id, undefined);
      return { id };
    },
  }),
];

/** The maximum number of jobs in the list. Further jobs are listed after these are retried. */
const mostListed = 1_000;

const listParked = (database: Database) =>
  findInAllCells(database, (cells) => selectParkedJobs(cells, { limit: mostListed }));

export const jobCommands = [
  defineDatabaseCommand({
    name: 'job list',
    summary:
      'Lists background jobs that were parked because the server stopped three times while running them.',
    async run({ database }) {
      return { data: await listParked(database) };
    },
  }),
  defineDatabaseCommand({
    name: 'job retry',
    summary: 'Retries a parked job on a running server.',
    parameters: { id: idValue },
    async run({ database }, { id: jobId }) {
      const job = (await listParked(database)).find((each) => each.id === jobId);
      if (!job)
        throw new UsageError(
          `The parked job ${jobId} does not exist. Run \`job list\` to see all parked jobs.`,
        );
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
    if (kind === deliverJobKind) await retryDelivery({ database }, { ...place, deliveryId: jobId });
    else if (kind === sendMailJobKind) await retryMail({ database, wakeQueue: () => undefined }, place);
  } catch (error) {
    // The delivery or email was deleted, or must not be sent. The job then ends without sending it.
    if (!(error instanceof ApiError)) throw error;
  }
  await restartParkedJob(database, { workspace_id, id: jobId });
}
