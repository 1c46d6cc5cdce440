import { inEachCell } from '#cells/across-cells.ts';
import { newId } from '#kit/clock.ts';
import { databaseOf, homeOf, transaction } from '#kit/database.ts';
import type { Origin, Person, Visitor } from '#kit/operation.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { jsonb, nullable, type Queryable, statement, word } from '#kit/statement.ts';
import { type LineActor, ofMember, personalColumns } from './audit-lines.ts';
import type { Changes, PersonalDeed } from './personal-audit.ts';

/** For the person, whose id or address is given. @returns who that is; nobody has some addresses, and nothing is noted of them. */
const insertPersonalLine = statement(
  'audit.insert_personal_line',
  ['user_id? email?', personalColumns],
  'user_id',
  `insert into person_lines (user_id, id, actor_kind, operation, status, address, agent, session_id)
   select u.id, $id, $actor_kind, $operation, $status, $address, $agent, $session_id
     from users u where u.id = $user_id or u.email = $email
   returning user_id`,
);

/** For the workspaces that the person has in a cell. A line that is there stays as it is. */
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

/** What was done to a workspace outside of the table of operations. */
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

/** Something that concerns an account, for whose it is. */
export type PersonalLine = {
  /** Whose: an id, or an address that somebody has perhaps. */
  who: { userId: string } | { email: string };
  operation: PersonalDeed;
  /** What was answered; 200 unless somebody only tried. */
  status?: number;
  /** Undefined: the operator did it, at the command line. */
  by: { origin: Origin; sessionId?: string } | undefined;
};

/**
 * Notes it for the person, and in the audit log of each of their workspaces; nothing for an address without an account. Workspaces whose
 * node is away do not get the line.
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

/** Where a visitor's request comes from. */
export const originOf = ({ ip, headers }: Pick<Visitor, 'ip' | 'headers'>): Origin => ({
  address: ip,
  agent: headers.get('User-Agent') || null,
});

/** The line of what somebody who is signed in does about their account. */
export const personalLine = (
  { person, visitor }: { person: Pick<Person, 'id' | 'sessionId'>; visitor: Pick<Visitor, 'ip' | 'headers'> },
  operation: PersonalLine['operation'],
) =>
  ({
    who: { userId: person.id },
    operation,
    by: { origin: originOf(visitor), sessionId: person.sessionId },
  }) satisfies PersonalLine;

/** What happens to a workspace outside of the table of operations: that it is made, left, or changed by the operator. */
export type WorkspaceLine = {
  workspaceId: string;
  operation: string;
  /** Undefined: the operator did it, at the command line. */
  by: { userId: string; origin: Origin; sessionId?: string } | 'service' | undefined;
  thingId?: string;
  changes?: Changes | undefined;
};

/** Notes something in the audit log of one workspace, with the caller's transaction. */
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

/** Notes that things of a form went because their time was over: how many, and nothing of what they were. */
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
