import { inEachCell, isAway, whileInCells } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { type Failures, tellFailures, workOff } from '#kit/queue/periodic.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import { reportNews, reportPersonalNews } from './audit/mail-news.ts';
import { noteInWorkspace, notePerson, type PersonalLine, type WorkspaceLine } from './audit/note-person.ts';
import { forgetKeys } from './authenticate.ts';
import { revokeKeysOf, tellOfKeys } from './key-rows.ts';
import { ownersOf } from './members.ts';

/** What waits in the queue of a closed workspace is due so long after its end: what is late to delete it finds it waiting. */
const wellBeyond = `interval '30 days'`;

/**
 * Closes a workspace until it is gone: its forms are found by nobody, and its queue stands still. Whoever is at a job of it loses
 * its lease, and so writes nothing more. The queue comes last, as in what jobs do: whoever deletes a form at the same time would
 * else wait for this, and this for that. Nothing for one that is closed already.
 */
const endWorkspace = statement(
  'endings.end_workspace',
  'workspace_id ends_at now',
  'name',
  `with ended as (
     update workspaces set ends_at = $ends_at, updated_at = $now
      where id = $workspace_id and ends_at is null
     returning id, name),
   ways as (delete from form_lookup l using ended where l.workspace_id = ended.id returning l.form_id),
   waiting as (
     update jobs set run_at = greatest(jobs.run_at, $now) + ($ends_at - $now + ${wellBeyond}), lease_token = null
       from ended where jobs.workspace_id = ended.id and (select count(*) from ways) >= 0)
   select name from ended`,
);

/**
 * Opens it again, as it was; nothing for one that is not closed. Its queue goes on where it stood: each job is as far from its
 * time as it was, so that what came due meanwhile does not come all at once.
 */
const reviveWorkspace = statement(
  'endings.revive_workspace',
  'workspace_id now',
  'name',
  `with held as (
     select id, ends_at from workspaces where id = $workspace_id and ends_at > $now for update),
   opened as (
     update workspaces set ends_at = null, updated_at = $now from held where workspaces.id = held.id
     returning workspaces.id, workspaces.name),
   ways as (
     insert into form_lookup (form_id, workspace_id)
     select f.id, f.workspace_id from forms f join opened on opened.id = f.workspace_id where f.deleted_at is null
     on conflict do nothing),
   waiting as (
     update jobs set run_at = jobs.run_at - (${wellBeyond} + (held.ends_at - $now))
       from held where jobs.workspace_id = held.id and jobs.run_at >= held.ends_at + ${wellBeyond})
   select name from opened`,
);

/** Whether somebody owns a workspace, or it has no members at all: the operator made it for keys alone. */
const isAnybodys = statement(
  'endings.is_anybodys',
  'workspace_id',
  'is_anybodys:boolean',
  `select exists (${ownersOf('$workspace_id')})
       or not exists (select from members where workspace_id = $workspace_id) as is_anybodys`,
);

/** A person's password is asked before; this closes the account and ends every session. Nothing for one that is closed. */
const endUser = statement(
  'endings.end_user',
  'user_id ends_at now',
  'email',
  `with ended as (
     update users set ends_at = $ends_at, updated_at = $now where id = $user_id and ends_at is null returning id, email),
   sessions_ended as (delete from sessions s using ended where s.user_id = ended.id),
   resets as (delete from password_resets r using ended where r.user_id = ended.id)
   select email from ended`,
);

const reviveUser = statement(
  'endings.revive_user',
  'user_id now',
  'email',
  `update users set ends_at = null, updated_at = $now where id = $user_id and ends_at > $now returning email`,
);

export const findUserByEmail = statement(
  'endings.find_user_by_email',
  'email',
  'id:text is_confirmed',
  `select id, email_verified as is_confirmed from users where email = $email`,
);

/** The names of the workspaces that nobody else owns, and that do not end themselves. */
const findOrphans = statement(
  'endings.find_orphans',
  'user_id',
  'names',
  `/* lookup: across workspaces */
   select coalesce(array_agg(w.name order by w.name), '{}') as names
     from members m join workspaces w on w.id = m.workspace_id and w.ends_at is null
    where m.user_id = $user_id and m.role = 'owner'
      and not exists (${ownersOf('m.workspace_id', '$user_id')})`,
);

/** The workspaces of a person, to hold them while it is looked at who owns them. */
const lockOwnWorkspaces = statement(
  'endings.lock_own_workspaces',
  'user_id',
  '',
  `/* lookup: across workspaces */
   select from workspaces where id in (select workspace_id from members where user_id = $user_id)
    order by id for no key update`,
);

/** Workspaces whose time has come. */
export const findEndedWorkspaces = statement(
  'endings.find_ended_workspaces',
  'now limit without',
  'id',
  `/* operator: across workspaces */
   select id from workspaces where ends_at <= $now and id <> all ($without) order by ends_at limit $limit`,
);

/** People whose time has come. */
const findEndedUsers = statement(
  'endings.find_ended_users',
  'now limit without:texts',
  'id:text',
  `select id from users where ends_at <= $now and id <> all ($without) order by ends_at limit $limit`,
);

/** One of them, who stays so until the transaction ends; nothing for who came back. */
const lockEndedUser = statement(
  'endings.lock_ended_user',
  'user_id now',
  'email',
  `select email from users where id = $user_id and ends_at <= $now for update`,
);

/** The workspaces that a person is a member of, in a cell. */
const selectWorkspacesOf = statement(
  'endings.select_workspaces_of',
  'user_id',
  'workspace_id',
  `/* lookup: across workspaces */
   select workspace_id from members where user_id = $user_id`,
);

/** The mails between us and an account that ends, and invitations to its address. */
const forgetAddress = statement(
  'endings.forget_address',
  'email',
  '',
  `/* sweep: across workspaces */
   with letters as (delete from mails where is_private and lower(recipient) = lower($email))
   delete from member_invitations where email = $email`,
);

/** The last step: the account, with sessions, factors and memberships. */
export const deleteUser = statement(
  'endings.delete_user',
  'user_id',
  '',
  `delete from users where id = $user_id`,
);

/** For how many days what is to be deleted can be brought back. */
const daysToComeBack = 7;
const dayMs = 86_400_000;

const endFromNow = (): Date => new Date(now().getTime() + daysToComeBack * dayMs);

type By = WorkspaceLine['by'];

/**
 * Closes a workspace at once, for everybody and every key, and has it deleted after daysToComeBack. Its owners are told by mail.
 * @returns when it is gone.
 * @throws ApiError not_found; conflict when it is closed already.
 */
export async function beginEnd(database: Database, workspaceId: string, by: By): Promise<Date> {
  const ends_at = endFromNow();
  await transaction(database, async (client) => {
    const ended = await endWorkspace(client, { workspace_id: workspaceId, ends_at, now: now() });
    if (ended.length === 0)
      throw new ApiError('conflict', 'There is no such workspace, or it is being deleted already.');
    await tellOfKeys(client, {});
    await noteInWorkspace(client, { workspaceId, operation: 'deleteWorkspace', by });
    await reportNews(client, workspaceId, { kind: 'workspace_ending', endsAt: ends_at.toISOString() });
  });
  forgetKeys();
  return ends_at;
}

/**
 * Opens a workspace again that is being deleted, as it was.
 * @throws ApiError conflict when it is not, its time is over, or nobody would own it.
 */
export function bringBack(database: Database, workspaceId: string, by: By): Promise<void> {
  return transaction(database, async (client) => {
    const opened = await reviveWorkspace(client, { workspace_id: workspaceId, now: now() });
    if (opened.length === 0) throw new ApiError('conflict', 'This workspace is not being deleted.');
    if (!only(await isAnybodys(client, { workspace_id: workspaceId }))!.is_anybodys)
      throw new ApiError(
        'conflict',
        'Nobody would own this workspace. Bring the account of an owner back first (`user restore`), or make one (`user create`).',
      );
    await noteInWorkspace(client, { workspaceId, operation: 'bringBackWorkspace', by });
    await reportNews(client, workspaceId, { kind: 'workspace_kept' });
  });
}

/**
 * Closes an account at once, in all its sessions, and has it deleted after daysToComeBack. Whoever signs in meanwhile is asked
 * whether they come back, and gets no further. Its API keys work until it is gone.
 * @returns when it is gone.
 * @throws ApiError conflict, with their names, while there are workspaces that nobody else owns; and when it is closed already.
 */
export async function beginEndOfAccount(
  database: Database,
  userId: string,
  by: PersonalLine['by'],
): Promise<Date> {
  let ends_at: Date | undefined;
  try {
    return await whileInCells(
      database,
      async (others) => (ends_at = await endAccount(database, others, userId, by)),
    );
  } catch (error) {
    // It is closed: a node that was lost in the last moment only held locks.
    if (ends_at === undefined || !isAway(error)) throw error;
    return ends_at;
  }
}

function endAccount(
  database: Database,
  others: readonly Queryable[],
  userId: string,
  by: PersonalLine['by'],
): Promise<Date> {
  return transaction(database, async (client) => {
    const orphans: string[] = [];
    const look = async (cell: Queryable): Promise<void> => {
      await lockOwnWorkspaces(cell, { user_id: userId });
      orphans.push(...only(await findOrphans(cell, { user_id: userId }))!.names);
    };
    for (const cell of [client, ...others]) await look(cell);
    if (orphans.length > 0)
      throw new ApiError(
        'conflict',
        `Nobody else owns ${orphans.join(', ')}. Make somebody else an owner first, or delete the workspace.`,
      );
    const ends_at = endFromNow();
    const ended = await endUser(client, { user_id: userId, ends_at, now: now() });
    if (ended.length === 0) throw new ApiError('conflict', 'This account is being deleted already.');
    await notePerson(client, { who: { userId }, operation: 'deleteAccount', by });
    await reportPersonalNews(client, userId, 'deleteAccount');
    return ends_at;
  });
}

/** @throws ApiError conflict when the account is not being deleted, or its time is over. */
export function bringBackAccount(database: Database, userId: string, by: PersonalLine['by']): Promise<void> {
  return transaction(database, async (client) => {
    const back = await reviveUser(client, { user_id: userId, now: now() });
    if (back.length === 0) throw new ApiError('conflict', 'This account is not being deleted.');
    await notePerson(client, { who: { userId }, operation: 'bringBackAccount', by });
    await reportPersonalNews(client, userId, 'bringBackAccount');
  });
}

/** Whose an address is, for the operator. @throws ApiError not_found. */
export async function accountOf(db: Queryable, email: string): Promise<string> {
  const found = only(await findUserByEmail(db, { email: normalizeAddress(email) }));
  if (!found) throw new ApiError('not_found', `There is no account with the address ${email}.`);
  return found.id;
}

/**
 * Deletes the accounts whose time has come; the keys that they made end with them.
 * @throws AggregateError for those with which it failed; the others are gone.
 */
export async function removeEndedAccounts(database: Database): Promise<void> {
  const failures: Failures = new Map();
  await workOff(failures, {
    batch: 10,
    find: (next) => findEndedUsers(database, { now: now(), ...next }),
    partOf: ({ id }) => id,
    work: ([ended]) => removeAccount(database, ended!.id),
  });
  tellFailures(failures);
}

async function removeAccount(database: Database, userId: string): Promise<void> {
  const at = now();
  await transaction(database, async (client) => {
    const ended = only(await lockEndedUser(client, { user_id: userId, now: at }));
    if (!ended) return;
    await inEachCell(client, async (cell) => {
      for (const { workspace_id } of await selectWorkspacesOf(cell, { user_id: userId }))
        await revokeKeysOf(cell, { workspace_id, user_id: userId, now: at });
      await forgetAddress(cell, ended);
    });
    await tellOfKeys(client, {});
    await deleteUser(client, { user_id: userId });
  });
  forgetKeys();
}

/** A batch of what a workspace that has ended has most of; what hangs on it goes with it. */
const deleteEnded = (table: string, note = '') =>
  statement(
    `endings.delete_${table}`,
    'workspace_id',
    'count',
    `${note}with gone as (
     delete from ${table} where workspace_id = $workspace_id and id in (
       select id from ${table} where workspace_id = $workspace_id limit 500)
     returning id)
   select count(*) as count from gone`,
  );

export const deleteEndedSubmissions = deleteEnded('submissions', '/* with the trash, trashed_at or not */ ');
export const deleteEndedDeliveries = deleteEnded('deliveries');
export const deleteEndedEvents = deleteEnded('events');
export const deleteEndedMails = deleteEnded('mails');

/** The last step: everything that is left of it. */
export const deleteWorkspace = statement(
  'endings.delete_workspace',
  'workspace_id now',
  'id',
  `delete from workspaces where id = $workspace_id and ends_at <= $now returning id`,
);
