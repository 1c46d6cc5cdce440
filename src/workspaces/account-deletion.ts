import { isCellUnavailable, runInEachCell, runWithCellTransactions } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { normalizeMailAddress } from '#kit/outbox/address.ts';
import { type Failures, processInBatches, throwFailures } from '#kit/queue/periodic.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { notifyKeyChange, revokeKeysOfUser } from './api-key.ts';
import { enqueueAccountChangeEmail, enqueueEmailEvent } from './audit/email-events.ts';
import {
  type AccountEvent,
  addAuditEntry,
  recordAccountEvent,
  type WorkspaceAuditEntry,
} from './audit/record-account-event.ts';
import { clearKeyCache } from './authenticate.ts';
import { ownersSql } from './members.ts';

/**
 * Jobs of a closed workspace are postponed until this long after its scheduled deletion, so that they do not
 * run if the deletion is late.
 */
const jobPostponement = `interval '30 days'`;

/**
 * Closes a workspace until it is deleted: its forms can't be found, and its jobs do not run. Running jobs
 * lose their lease, and so write nothing more. Jobs are locked last, in the same order as in the jobs
 * themselves; in another order, deleting a form in parallel would deadlock. Returns no row if it is already
 * closed.
 */
const closeWorkspace = statement('workspace_id ends_at now', 'name')`
  with ended as (
    update workspaces set ends_at = $ends_at, updated_at = $now
     where id = $workspace_id and ends_at is null
    returning id, name),
  ways as (delete from form_lookup l using ended where l.workspace_id = ended.id returning l.form_id),
  waiting as (
    update jobs set run_at = greatest(jobs.run_at, $now) + ($ends_at - $now + ${jobPostponement}), lease_token = null
      from ended where jobs.workspace_id = ended.id and (select count(*) from ways) >= 0)
  select name from ended`;

/**
 * Reopens a workspace unchanged. Returns no row if it is not closed. Each job keeps its remaining time, so
 * that jobs do not all become due at the same time.
 */
const reopenWorkspace = statement('workspace_id now', 'name')`
  with closed as (
    select id, ends_at from workspaces where id = $workspace_id and ends_at > $now for update),
  opened as (
    update workspaces set ends_at = null, updated_at = $now from closed where workspaces.id = closed.id
    returning workspaces.id, workspaces.name),
  ways as (
    insert into form_lookup (form_id, workspace_id)
    select f.id, f.workspace_id from forms f join opened on opened.id = f.workspace_id where f.deleted_at is null
    on conflict do nothing),
  waiting as (
    update jobs set run_at = jobs.run_at - (${jobPostponement} + (closed.ends_at - $now))
      from closed where jobs.workspace_id = closed.id and jobs.run_at >= closed.ends_at + ${jobPostponement})
  select name from opened`;

/**
 * Selects whether a workspace has an owner, or no members at all because the operator created it for API
 * keys.
 */
const hasOwnerOrNoMembers = statement('workspace_id', 'is_anybodys:boolean')`
  select exists (${ownersSql('$workspace_id')})
      or not exists (select from members where workspace_id = $workspace_id) as is_anybodys`;

/**
 * Closes an account and ends its sessions; the caller has checked the password. Returns no row if it is
 * already closed.
 */
const closeUser = statement('user_id ends_at now', 'email')`
  with ended as (
    update users set ends_at = $ends_at, updated_at = $now where id = $user_id and ends_at is null returning id, email),
  sessions_ended as (delete from sessions s using ended where s.user_id = ended.id),
  resets as (delete from password_resets r using ended where r.user_id = ended.id)
  select email from ended`;

const reopenUser = statement('user_id now', 'email')`
  update users set ends_at = null, updated_at = $now where id = $user_id and ends_at > $now returning email`;

export const findUserByEmail = statement('email', 'id:text is_confirmed')`
  select id, email_verified as is_confirmed from users where email = $email`;

/** Finds the names of workspaces that have no other owner and are not being deleted. */
const findOrphans = statement('user_id', 'names')`
  /* lookup: across workspaces */
  select coalesce(array_agg(w.name order by w.name), '{}') as names
    from members m join workspaces w on w.id = m.workspace_id and w.ends_at is null
   where m.user_id = $user_id and m.role = 'owner'
     and not exists (${ownersSql('m.workspace_id', '$user_id')})`;

/** Locks the workspaces of a person while the caller checks who owns them. */
const lockOwnedWorkspaces = statement('user_id', '')`
  /* lookup: across workspaces */
  select from workspaces where id in (select workspace_id from members where user_id = $user_id)
   order by id for no key update`;

export const findWorkspacesToDelete = statement('now limit without', 'id')`
  /* operator: across workspaces */
  select id from workspaces where ends_at <= $now and id <> all ($without) order by ends_at limit $limit`;

const findEndedUsers = statement('now limit without:texts', 'id:text')`
  select id from users where ends_at <= $now and id <> all ($without) order by ends_at limit $limit`;

/** Locks an account whose deletion is due until the transaction ends; no row if it was restored. */
const lockEndedUser = statement('user_id now', 'email')`
  select email from users where id = $user_id and ends_at <= $now for update`;

const selectWorkspacesOf = statement('user_id', 'workspace_id')`
  /* lookup: across workspaces */
  select workspace_id from members where user_id = $user_id`;

/** Deletes the private emails to the address of an account that ends, and invitations to it. */
const deleteAddressData = statement('email', '')`
  /* sweep: across workspaces */
  with letters as (delete from mails where is_private and lower(recipient) = lower($email))
  delete from member_invitations where email = $email`;

/** Deletes the account, as the last step, with its sessions, two-factor methods and memberships. */
export const deleteUser = statement('user_id', '')`
  delete from users where id = $user_id`;

/** The number of days within which a workspace or account that is being deleted can be restored. */
const daysToRestore = 7;
const dayMs = 86_400_000;

const deletionTime = (): Date => new Date(now().getTime() + daysToRestore * dayMs);

type By = WorkspaceAuditEntry['by'];

/**
 * Closes a workspace immediately, for all members and keys, and schedules its deletion after daysToRestore.
 * Emails its owners and admins.
 * @returns when it will be deleted.
 * @throws ApiError conflict if it does not exist or is already closed.
 */
export async function scheduleWorkspaceDeletion(
  database: Database,
  workspaceId: string,
  by: By,
): Promise<Date> {
  const ends_at = deletionTime();
  await transaction(database, async (client) => {
    const ended = await closeWorkspace(client, { workspace_id: workspaceId, ends_at, now: now() });
    if (ended.length === 0)
      throw new ApiError('conflict', 'This workspace does not exist or is already being deleted.');
    await notifyKeyChange(client, {});
    await addAuditEntry(client, { workspaceId, operation: 'deleteWorkspace', by });
    await enqueueEmailEvent(client, workspaceId, { kind: 'workspace_ending', endsAt: ends_at.toISOString() });
  });
  clearKeyCache();
  return ends_at;
}

/**
 * Restores a workspace that is being deleted, unchanged.
 * @throws ApiError conflict if it is not being deleted, if the time for restoring it has passed, or if it
 * would have no owner.
 */
export function cancelWorkspaceDeletion(database: Database, workspaceId: string, by: By): Promise<void> {
  return transaction(database, async (client) => {
    const opened = await reopenWorkspace(client, { workspace_id: workspaceId, now: now() });
    if (opened.length === 0) throw new ApiError('conflict', 'This workspace is not being deleted.');
    if (!onlyRow(await hasOwnerOrNoMembers(client, { workspace_id: workspaceId }))!.is_anybodys)
      throw new ApiError(
        'conflict',
        'This workspace would have no owner. First restore the account of an owner (`user restore`), or create one (`user create`).',
      );
    await addAuditEntry(client, { workspaceId, operation: 'bringBackWorkspace', by });
    await enqueueEmailEvent(client, workspaceId, { kind: 'workspace_kept' });
  });
}

/**
 * Closes an account immediately, ends its sessions, and schedules its deletion after daysToRestore. Until
 * then, signing in only lets the person restore it. Its API keys work until it is deleted.
 * @returns when it will be deleted.
 * @throws ApiError conflict with the names of workspaces that have no other owner, or if it is already
 * closed.
 */
export async function scheduleAccountDeletion(
  database: Database,
  userId: string,
  by: AccountEvent['by'],
): Promise<Date> {
  let ends_at: Date | undefined;
  try {
    return await runWithCellTransactions(
      database,
      async (others) => (ends_at = await endAccount(database, others, userId, by)),
    );
  } catch (error) {
    // The account is closed. The node that became unavailable afterwards only had locks.
    if (ends_at === undefined || !isCellUnavailable(error)) throw error;
    return ends_at;
  }
}

function endAccount(
  database: Database,
  others: readonly Queryable[],
  userId: string,
  by: AccountEvent['by'],
): Promise<Date> {
  return transaction(database, async (client) => {
    const orphans: string[] = [];
    const look = async (cell: Queryable): Promise<void> => {
      await lockOwnedWorkspaces(cell, { user_id: userId });
      orphans.push(...onlyRow(await findOrphans(cell, { user_id: userId }))!.names);
    };
    for (const cell of [client, ...others]) await look(cell);
    if (orphans.length > 0)
      throw new ApiError(
        'conflict',
        `${orphans.join(', ')} would have no owner. Make another member an owner first, or delete the workspace.`,
      );
    const ends_at = deletionTime();
    const ended = await closeUser(client, { user_id: userId, ends_at, now: now() });
    if (ended.length === 0) throw new ApiError('conflict', 'This account is already being deleted.');
    await recordAccountEvent(client, { who: { userId }, operation: 'deleteAccount', by });
    await enqueueAccountChangeEmail(client, userId, 'deleteAccount');
    return ends_at;
  });
}

/** Restores an account. @throws ApiError conflict if it is not being deleted, or its time has passed. */
export function cancelAccountDeletion(
  database: Database,
  userId: string,
  by: AccountEvent['by'],
): Promise<void> {
  return transaction(database, async (client) => {
    const back = await reopenUser(client, { user_id: userId, now: now() });
    if (back.length === 0) throw new ApiError('conflict', 'This account is not being deleted.');
    await recordAccountEvent(client, { who: { userId }, operation: 'bringBackAccount', by });
    await enqueueAccountChangeEmail(client, userId, 'bringBackAccount');
  });
}

/** Returns the id of the account with an address, for the operator. @throws ApiError not_found. */
export async function findAccountId(db: Queryable, email: string): Promise<string> {
  const found = onlyRow(await findUserByEmail(db, { email: normalizeMailAddress(email) }));
  if (!found) throw new ApiError('not_found', `There is no account with the email address ${email}.`);
  return found.id;
}

/**
 * Deletes accounts whose deletion is due and revokes their API keys.
 * @throws AggregateError for accounts that could not be deleted; the others are deleted.
 */
export async function deleteDueAccounts(database: Database): Promise<void> {
  const failures: Failures = new Map();
  await processInBatches(failures, {
    batch: 10,
    find: (next) => findEndedUsers(database, { now: now(), ...next }),
    partOf: ({ id }) => id,
    work: ([ended]) => deleteDueAccount(database, ended!.id),
  });
  throwFailures(failures);
}

async function deleteDueAccount(database: Database, userId: string): Promise<void> {
  const at = now();
  await transaction(database, async (client) => {
    const ended = onlyRow(await lockEndedUser(client, { user_id: userId, now: at }));
    if (!ended) return;
    await runInEachCell(client, async (cell) => {
      for (const { workspace_id } of await selectWorkspacesOf(cell, { user_id: userId }))
        await revokeKeysOfUser(cell, { workspace_id, user_id: userId, now: at });
      await deleteAddressData(cell, ended);
    });
    await notifyKeyChange(client, {});
    await deleteUser(client, { user_id: userId });
  });
  clearKeyCache();
}

/** Deletes a batch from a large table of a workspace whose deletion is due, with dependent rows. */
const deleteBatchOfWorkspace = (table: string, note = '') =>
  statement('workspace_id', 'count')`
    ${note}with gone as (
    delete from ${table} where workspace_id = $workspace_id and id in (
      select id from ${table} where workspace_id = $workspace_id limit 500)
    returning id)
   select count(*) as count from gone`;

export const deleteSubmissionsOfWorkspace = deleteBatchOfWorkspace(
  'submissions',
  '/* with the trash, trashed_at or not */ ',
);
export const deleteDeliveriesOfWorkspace = deleteBatchOfWorkspace('deliveries');
export const deleteEventsOfWorkspace = deleteBatchOfWorkspace('events');
export const deleteEmailsOfWorkspace = deleteBatchOfWorkspace('mails');

/** Deletes the workspace with the rest of its data, as the last step. */
export const deleteWorkspace = statement('workspace_id now', 'id')`
  delete from workspaces where id = $workspace_id and ends_at <= $now returning id`;
