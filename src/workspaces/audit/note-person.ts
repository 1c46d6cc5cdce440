import { inEachCell } from '#cells/across-cells.ts';
import { newId } from '#kit/clock.ts';
import { databaseOf, homeOf, transaction } from '#kit/database.ts';
import type { Origin, Person, Visitor } from '#kit/operation.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { jsonb, nullable, type Queryable, statement, word } from '#kit/statement.ts';
import { type LineActor, ofMember, personalColumns } from './audit-lines.ts';
import type { Changes, PersonalDeed } from './personal-audit.ts';

/**
 * Adds an event to an account, found by id or address. @returns the person; no row if no account has the
 * address.
 */
const insertPersonalLine = statement(
  'audit.insert_personal_line',
  ['user_id? email?', personalColumns],
  'user_id',
  `insert into person_lines (user_id, id, actor_kind, operation, status, address, agent, session_id)
   select u.id, $id, $actor_kind, $operation, $status, $address, $agent, $session_id
     from users u where u.id = $user_id or u.email = $email
   returning user_id`,
);

/** Adds the audit entry to each workspace of the person in a cell. An existing entry does not change. */
const insertLinesOfMember = statement(
  'audit.insert_lines_of_member',
  ofMember,
  '',
  `/* lookup: across workspaces */
   insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, status, address, agent,
                            session_id)
   select m.workspace_id, $id, $actor_kind, case when $actor_kind = 'person' then m.user_id end, $operation, '', '',
          m.user_id::uuid, $status, $address, $agent, $session_id
     from members m where m.user_id = $user_id
   on conflict (workspace_id, id) do nothing`,
);

/** Adds an audit entry for a change of a workspace outside the API operations. */
const insertWorkspaceLine = statement(
  'audit.insert_workspace_line',
  [
    'workspace_id id actor_id? operation thing_id address? agent? session_id?',
    { actor_kind: word<LineActor>(), changes: nullable(jsonb<Changes>()) },
  ],
  '',
  `insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, status, address, agent,
                            session_id, changes)
   values ($workspace_id, $id, $actor_kind, $actor_id, $operation, '', '', $thing_id, 200, $address, $agent, $session_id,
           $changes)`,
);

/** An event of an account. */
export type PersonalLine = {
  /** The account: an id, or an address that may have no account. */
  who: { userId: string } | { email: string };
  operation: PersonalDeed;
  /** The status of the response; 200 unless the attempt was refused. */
  status?: number;
  /** Undefined for the operator, on the command line. */
  by: { origin: Origin; sessionId?: string } | undefined;
};

/**
 * Records an event for the person, and in the audit log of each of their workspaces. Nothing for an address
 * without an account. Workspaces on an unavailable node do not get the entry.
 */
export async function notePerson(
  where: Queryable,
  { who, operation, status = 200, by }: PersonalLine,
): Promise<void> {
  const db = homeOf(where);
  if (db === databaseOf(db))
    return transaction(db, (client) => notePerson(client, { who, operation, status, by }));
  const line = {
    id: newId(),
    actor_kind: by ? 'person' : 'operator',
    operation,
    status,
    address: by?.origin.address ?? null,
    agent: by?.origin.agent ?? null,
    session_id: by?.sessionId ?? null,
  } as const;
  const [person] = await insertPersonalLine(db, {
    ...line,
    user_id: 'userId' in who ? who.userId : null,
    email: 'email' in who ? normalizeAddress(who.email) : null,
  });
  if (!person) return;
  const { user_id } = person;
  await inEachCell(db, async (cell) => void (await insertLinesOfMember(cell, { ...line, user_id })), {
    isPartial: true,
  });
}

/** Returns the IP address and User-Agent of a visitor's request. */
export const originOf = ({ ip, headers }: Pick<Visitor, 'ip' | 'headers'>): Origin => ({
  address: ip,
  agent: headers.get('User-Agent') || null,
});

/** Returns the event of a signed-in person who changes their account. */
export const personalLine = (
  { person, visitor }: { person: Pick<Person, 'id' | 'sessionId'>; visitor: Pick<Visitor, 'ip' | 'headers'> },
  operation: PersonalLine['operation'],
) =>
  ({
    who: { userId: person.id },
    operation,
    by: { origin: originOf(visitor), sessionId: person.sessionId },
  }) satisfies PersonalLine;

/** A change of a workspace outside the API operations: it is created, left, or changed by the operator. */
export type WorkspaceLine = {
  workspaceId: string;
  operation: string;
  /** Undefined for the operator, on the command line. */
  by: { userId: string; origin: Origin; sessionId?: string } | 'service' | undefined;
  thingId?: string;
  changes?: Changes | undefined;
};

/** Adds an entry to the audit log of a workspace, in the caller's transaction. */
export async function noteInWorkspace(
  db: Queryable,
  { workspaceId, operation, by, thingId, changes }: WorkspaceLine,
): Promise<void> {
  const person = by === 'service' ? undefined : by;
  await insertWorkspaceLine(db, {
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
export const noteByRetention = (
  db: Queryable,
  { workspaceId, formId, kind, count }: { workspaceId: string; formId: string; kind: string; count: number },
): Promise<void> =>
  noteInWorkspace(db, {
    workspaceId,
    operation: 'applyRetention',
    by: 'service',
    thingId: formId,
    changes: { [kind]: { from: count, to: 0 } },
  });
