import { leastIdAt } from '#kit/id-times.ts';
import type { Actor } from '#kit/operation.ts';
import { columns, jsonb, nullable, type RowOf, statement, texts, word } from '#kit/statement.ts';
import type { LineActor } from './line-actor.ts';
import type { PersonalDeed } from './personal-deeds.ts';
import type { Changes } from './changes.ts';

/** Notes that operations begin. */
export const insertLines = statement(
  'audit.insert_lines',
  [
    'workspace_ids ids actor_kinds:texts operations:texts methods paths request_ids:texts',
    'addresses agents:texts session_ids:texts',
    {
      /** '' for the operator. */
      actor_ids: texts,
      /** '' where there is none. */
      thing_ids: texts,
    },
  ],
  '',
  `/* sweep: across workspaces */
   insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, address,
                            agent, session_id)
   select given.workspace_id, given.id, actor_kind, nullif(actor_id, ''), operation, method, path,
          nullif(thing_id, '')::uuid, nullif(request_id, '')::uuid, nullif(address, ''), nullif(agent, ''),
          nullif(session_id, '')
     from unnest($workspace_ids, $ids, $actor_kinds, $actor_ids, $operations, $methods, $paths, $thing_ids, $request_ids,
                 $addresses, $agents, $session_ids)
       as given (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, address, agent,
                 session_id)`,
);

/** How something that concerns a person's account is noted, for them and in the log of each of their workspaces. */
const personalColumns = columns('id operation status:smallint address? agent? session_id?', {
  actor_kind: word<Actor['kind']>(),
});

/** For the person, whose id or address is given. @returns who that is; nobody has some addresses, and nothing is noted of them. */
export const insertPersonalLine = statement(
  'audit.insert_personal_line',
  ['user_id? email?', personalColumns],
  'user_id',
  `insert into person_lines (user_id, id, actor_kind, operation, status, address, agent, session_id)
   select u.id, $id, $actor_kind, $operation, $status, $address, $agent, $session_id
     from users u where u.id = $user_id or u.email = $email
   returning user_id`,
);

const ofMember = columns('user_id', personalColumns);
export type LineOfMember = RowOf<typeof ofMember>;

/** For the workspaces that the person has in a cell. A line that is there stays as it is. */
export const insertLinesOfMember = statement(
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
export const insertWorkspaceLine = statement(
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

/** Newest first: what concerns a person's account. */
export const selectPersonalLines = statement(
  'audit.select_personal_lines',
  'user_id below limit offset',
  [
    'id status:smallint address? agent? session_id?',
    { actor_kind: word<Actor['kind']>(), operation: word<PersonalDeed>() },
  ],
  `select id, actor_kind, operation, status, address, agent, session_id
     from person_lines where user_id = $user_id and id < $below
    order by id desc
    limit $limit offset $offset`,
);

export const countPersonalLines = statement(
  'audit.count_personal_lines',
  'user_id',
  'count',
  `select count(*) as count from person_lines where user_id = $user_id`,
);

/** @returns those removed; a full batch of 1,000 means that there may be more. */
export const deleteOldPersonalLines = statement(
  'audit.delete_old_personal_lines',
  'before:uuid',
  'id',
  `delete from person_lines where (user_id, id) in (
     select l.user_id, l.id from users u cross join lateral (
       select user_id, id from person_lines where user_id = u.id and id < $before order by id limit 1000) l
     limit 1000)
   returning id`,
);

/** The parameters of a statement that makes something and notes it. */
export const lineParameters = columns(
  'line_id:uuid? line_actor_kind:text? line_actor_id:text? line_operation:text?',
  'line_method:text? line_path:text? line_request_id:uuid? line_address:text?',
  'line_agent:text? line_session_id:text?',
);

/** For its `with`: the line of what it has made (workspace_id, id), with how that ended. */
export const insertedLine = (made: string): string =>
  `insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, status,
                            address, agent, session_id)
     select workspace_id, $line_id, $line_actor_kind, $line_actor_id, $line_operation, $line_method, $line_path, id,
            $line_request_id, 201, $line_address, $line_agent, $line_session_id
       from ${made} where $line_id is not null`;

/** Notes how they ended: those that were refused did nothing, and their lines go. */
export const settleLines = statement(
  'audit.settle_lines',
  'workspace_ids ids statuses thing_ids changes:texts',
  '',
  `/* sweep: across workspaces */
   with given as (
     select * from unnest($workspace_ids, $ids, $statuses, $thing_ids, $changes)
       as given (workspace_id, id, status, thing_id, changes)),
   refused as (
     delete from audit_lines a using given
      where a.workspace_id = given.workspace_id and a.id = given.id and given.status >= 400)
   update audit_lines a set status = given.status, thing_id = coalesce(a.thing_id, nullif(given.thing_id, '')::uuid),
                            changes = nullif(given.changes, '')::jsonb
     from given where a.workspace_id = given.workspace_id and a.id = given.id and given.status < 400`,
);

const filter = columns(
  'workspace_id actor_kind:text? actor_id? operation? thing_id? from:timestamp?',
  'to:timestamp?',
);

const filtered = `a.workspace_id = $workspace_id and ($actor_kind is null or a.actor_kind = $actor_kind)
      and ($actor_id is null or a.actor_id = $actor_id) and ($operation is null or a.operation = $operation) and ($thing_id is null or a.thing_id = $thing_id)
      and ($from is null or a.id >= ${leastIdAt('$from')}) and ($to is null or a.id < ${leastIdAt('$to')})`;

/** Newest first, with the names that people and keys have now. */
export const selectLines = statement(
  'audit.select_lines',
  ['below limit offset', filter],
  [
    'id actor_id? actor_name:text? operation method path thing_id? request_id:uuid?',
    'status:smallint? address? agent? session_id?',
    { actor_kind: word<LineActor>(), changes: nullable(jsonb<Changes>()) },
  ],
  `select a.id, a.actor_kind, a.actor_id, coalesce(u.name, k.name) as actor_name, a.operation, a.method, a.path,
          a.thing_id, a.request_id, a.status, a.address, a.agent, a.session_id, a.changes
     from audit_lines a
     left join users u on a.actor_kind = 'person' and u.id = a.actor_id
     left join api_keys k on a.actor_kind = 'key' and k.workspace_id = a.workspace_id and k.id::text = a.actor_id
    where ${filtered} and a.id < $below
    order by a.id desc
    limit $limit offset $offset`,
);

export const countLines = statement(
  'audit.count_lines',
  filter,
  'count',
  `select count(*) as count from audit_lines a where ${filtered}`,
);

/**
 * Lines whose time in their workspace is over.
 * @returns those removed; a full batch of 1,000 means that there may be more.
 */
export const deleteOldLines = statement(
  'audit.delete_old_lines',
  'now',
  'id',
  `/* sweep: across workspaces */
   delete from audit_lines where (workspace_id, id) in (
     select a.workspace_id, a.id from workspaces w cross join lateral (
       select workspace_id, id from audit_lines
        where workspace_id = w.id and id < ${leastIdAt('($now - make_interval(secs => w.audit_days * 86400))')}
        order by id limit 1000) a
     limit 1000)
   returning id`,
);
