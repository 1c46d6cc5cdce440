import { inEachCell, isAway, whileInCells } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type Failures, tellFailures, workOff } from '#kit/periodic.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { noteInWorkspace, notePerson, type PersonalLine, type WorkspaceLine } from '../audit/note-person.ts';
import { forgetKeys } from '../authenticate.ts';
import { revokeKeysOf, tellOfKeys } from '../keys/queries.ts';
import { reportNews, reportPersonalNews } from '../mail-news.ts';
import {
  deleteUser,
  endUser,
  endWorkspace,
  findEndedUsers,
  findOrphans,
  findUserByEmail,
  forgetAddress,
  isAnybodys,
  lockEndedUser,
  lockOwnWorkspaces,
  reviveUser,
  reviveWorkspace,
  selectWorkspacesOf,
} from './queries.ts';

/** For how many days what is to be deleted can be brought back. */
export const daysToComeBack = 7;
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
