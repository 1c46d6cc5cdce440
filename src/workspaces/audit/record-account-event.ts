import { runInEachCell } from '#cells/across-cells.ts';
import { newId } from '#kit/clock.ts';
import { databaseOf, sharedDatabaseOf, transaction } from '#kit/database.ts';
import type { ClientInfo, Person, RequestSender } from '#kit/operation.ts';
import { normalizeMailAddress } from '#kit/outbox/address.ts';
import { jsonb, nullable, type Queryable, statement, textEnum } from '#kit/statement.ts';
import type { AccountAction, AuditedChanges } from './account-actions.ts';
import { type AuditActor, accountEventColumns, memberAuditEntryColumns } from './audit-entries.ts';

/**
 * Adds an event to an account, found by id or address.
 * @returns the person; no row if no account has the address.
 */
const insertAccountEvent = statement(['user_id? email?', accountEventColumns], 'user_id')`
  insert into person_lines (user_id, id, actor_kind, operation, status, address, agent, session_id)
  select u.id, $id, $actor_kind, $operation, $status, $address, $agent, $session_id
    from users u where u.id = $user_id or u.email = $email
  returning user_id`;

/** Adds the audit entry to each workspace of the person in a cell. An existing entry does not change. */
const insertMemberEntries = statement(memberAuditEntryColumns, '')`
  /* lookup: across workspaces */
  insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, status, address, agent,
                           session_id)
  select m.workspace_id, $id, $actor_kind, case when $actor_kind = 'person' then m.user_id end, $operation, '', '',
         m.user_id::uuid, $status, $address, $agent, $session_id
    from members m where m.user_id = $user_id
  on conflict (workspace_id, id) do nothing`;

/** Adds an audit entry for a change of a workspace outside the API operations. */
const insertWorkspaceEntry = statement(
  [
    'workspace_id id actor_id? operation thing_id address? agent? session_id?',
    { actor_kind: textEnum<AuditActor>(), changes: nullable(jsonb<AuditedChanges>()) },
  ],
  '',
)`
  insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, status, address, agent,
                           session_id, changes)
  values ($workspace_id, $id, $actor_kind, $actor_id, $operation, '', '', $thing_id, 200, $address, $agent, $session_id,
          $changes)`;

export type AccountEvent = {
  /** The account: an id, or an address that may have no account. */
  who: { userId: string } | { email: string };
  operation: AccountAction;
  /** The status of the response; 200 unless the attempt was refused. */
  status?: number;
  /** Undefined for the operator, on the command line. */
  by: { origin: ClientInfo; sessionId?: string } | undefined;
};

/**
 * Records an event for the person, and in the audit log of each of their workspaces. Does nothing if no
 * account has the address. Workspaces on an unavailable node do not get the entry.
 */
export async function recordAccountEvent(
  where: Queryable,
  { who, operation, status = 200, by }: AccountEvent,
): Promise<void> {
  const db = sharedDatabaseOf(where);
  if (db === databaseOf(db))
    return transaction(db, (client) => recordAccountEvent(client, { who, operation, status, by }));
  const line = {
    id: newId(),
    actor_kind: by ? 'person' : 'operator',
    operation,
    status,
    address: by?.origin.address ?? null,
    agent: by?.origin.agent ?? null,
    session_id: by?.sessionId ?? null,
  } as const;
  const [person] = await insertAccountEvent(db, {
    ...line,
    user_id: 'userId' in who ? who.userId : null,
    email: 'email' in who ? normalizeMailAddress(who.email) : null,
  });
  if (!person) return;
  const { user_id } = person;
  await runInEachCell(db, async (cell) => void (await insertMemberEntries(cell, { ...line, user_id })), {
    isPartial: true,
  });
}

/** Returns the IP address and User-Agent of a visitor's request. */
export const ipAndAgentOf = ({ ip, headers }: Pick<RequestSender, 'ip' | 'headers'>): ClientInfo => ({
  address: ip,
  agent: headers.get('User-Agent') || null,
});

/** Returns the event for a change that a signed-in person makes to their account. */
export const accountEventOf = (
  {
    person,
    visitor,
  }: { person: Pick<Person, 'id' | 'sessionId'>; visitor: Pick<RequestSender, 'ip' | 'headers'> },
  operation: AccountEvent['operation'],
) =>
  ({
    who: { userId: person.id },
    operation,
    by: { origin: ipAndAgentOf(visitor), sessionId: person.sessionId },
  }) satisfies AccountEvent;

/** A change of a workspace outside the API operations: it is created, left, or changed by the operator. */
export type WorkspaceAuditEntry = {
  workspaceId: string;
  operation: string;
  /** Undefined for the operator, on the command line. */
  by: { userId: string; origin: ClientInfo; sessionId?: string } | 'service' | undefined;
  thingId?: string;
  changes?: AuditedChanges | undefined;
};

/** Adds an entry to the audit log of a workspace, in the caller's transaction. */
export async function addAuditEntry(
  db: Queryable,
  { workspaceId, operation, by, thingId, changes }: WorkspaceAuditEntry,
): Promise<void> {
  const person = by === 'service' ? undefined : by;
  await insertWorkspaceEntry(db, {
    workspace_id: workspaceId,
    id: newId(),
    actor_kind: by === 'service' ? by : by ? 'person' : 'operator',
    actor_id: person?.userId ?? null,
    operation,
    thing_id: thingId ?? workspaceId,
    address: person?.origin.address ?? null,
    agent: person?.origin.agent ?? null,
    session_id: person?.sessionId ?? null,
    changes: changes ?? null,
  });
}

/** Records how many items retention deleted in a form, without their content. */
export const recordRetentionDeletion = (
  db: Queryable,
  { workspaceId, formId, kind, count }: { workspaceId: string; formId: string; kind: string; count: number },
): Promise<void> =>
  addAuditEntry(db, {
    workspaceId,
    operation: 'applyRetention',
    by: 'service',
    thingId: formId,
    changes: { [kind]: { from: count, to: 0 } },
  });
