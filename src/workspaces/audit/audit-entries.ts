import { leastIdAtSql } from '#kit/clock.ts';
import type { Actor } from '#kit/operation.ts';
import { columns, jsonb, nullable, statement, textEnum } from '#kit/statement.ts';
import type { AccountAction, AuditedChanges } from './account-actions.ts';

/** The actor of an audit entry: the caller of a request, or the service itself for scheduled work. */
export type AuditActor = Actor['kind'] | 'service';

/** The columns of an event of an account, for the person and for the log of each of their workspaces. */
export const accountEventColumns = columns('id operation status:smallint address? agent? session_id?', {
  actor_kind: textEnum<Actor['kind']>(),
});

export const memberAuditEntryColumns = columns('user_id', accountEventColumns);

/** Lists the events of an account, newest first. */
export const selectAccountEvents = statement('user_id below limit offset', [
  'id status:smallint address? agent? session_id?',
  { actor_kind: textEnum<Actor['kind']>(), operation: textEnum<AccountAction>() },
])`
  select id, actor_kind, operation, status, address, agent, session_id
    from person_lines where user_id = $user_id and id < $below
   order by id desc
   limit $limit offset $offset`;

export const auditFilterParameters = columns(
  'workspace_id actor_kind:text? actor_id? operation? thing_id? from:timestamp?',
  'to:timestamp?',
);

export const auditFilterSql = `a.workspace_id = $workspace_id and ($actor_kind is null or a.actor_kind = $actor_kind)
      and ($actor_id is null or a.actor_id = $actor_id) and ($operation is null or a.operation = $operation) and ($thing_id is null or a.thing_id = $thing_id)
      and ($from is null or a.id >= ${leastIdAtSql('$from')}) and ($to is null or a.id < ${leastIdAtSql('$to')})`;

/** Lists audit entries, newest first, with the current names of people and keys. */
export const selectAuditEntries = statement(
  ['below limit offset', auditFilterParameters],
  [
    'id actor_id? actor_name:text? operation method path thing_id? request_id:uuid?',
    'status:smallint? address? agent? session_id?',
    { actor_kind: textEnum<AuditActor>(), changes: nullable(jsonb<AuditedChanges>()) },
  ],
)`
  select a.id, a.actor_kind, a.actor_id, coalesce(u.name, k.name) as actor_name, a.operation, a.method, a.path,
         a.thing_id, a.request_id, a.status, a.address, a.agent, a.session_id, a.changes
    from audit_lines a
    left join users u on a.actor_kind = 'person' and u.id = a.actor_id
    left join api_keys k on a.actor_kind = 'key' and k.workspace_id = a.workspace_id and k.id::text = a.actor_id
   where ${auditFilterSql} and a.id < $below
   order by a.id desc
   limit $limit offset $offset`;

/**
 * Deletes audit entries that are older than their workspace keeps them.
 * @returns the deleted entries; a full batch of 1,000 means that there may be more.
 */
export const deleteOldAuditEntries = statement('now', 'id')`
  /* sweep: across workspaces */
  delete from audit_lines where (workspace_id, id) in (
    select a.workspace_id, a.id from workspaces w cross join lateral (
      select workspace_id, id from audit_lines
       where workspace_id = w.id and id < ${leastIdAtSql('($now - make_interval(secs => w.audit_days * 86400))')}
       order by id limit 1000) a
    limit 1000)
  returning id`;
