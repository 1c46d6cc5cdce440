import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import {
  finishPage,
  listParameters,
  listSchemaOf,
  maximumId,
  readPageRequest,
  upperIdBound,
} from '#kit/pagination.ts';
import { parkedReason } from '#kit/queue/park-job.ts';
import {
  columns,
  jsonb,
  nullable,
  type Queryable,
  requireRow,
  statement,
  textEnum,
  texts,
  uuids,
} from '#kit/statement.ts';
import { strictObject, uuidSchema } from '#kit/validation.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import type { TaskProblem } from './run-tasks.ts';
import { Task, type TaskKind, type TaskState, taskKinds, taskStates } from './shapes.ts';

const filterColumns = columns('workspace_id kinds id? form_id? subject_id:uuid?', {
  form_ids: nullable(uuids),
  states: nullable(texts),
});

/** SQL for the reason why the task `t` stopped, or null. */
export const failedReasonSql = `(select '${parkedReason}' from jobs j
            where j.workspace_id = t.workspace_id and j.id = t.id and j.parked_at is not null)`;

const filtered = `
  from (
    select t.*, ${failedReasonSql} as failed_reason
      from tasks t
     where t.workspace_id = $workspace_id and t.kind = any ($kinds) and ($id is null or t.id = $id)
       and ($form_id is null or t.form_id = $form_id)
       and ($form_ids is null or coalesce(t.form_id, t.subject_id) = any ($form_ids))
       and ($subject_id is null or t.subject_id = $subject_id)) found
  cross join lateral (
    select case when found.cancelled_at is not null then 'cancelled'
                when found.finished_at is not null then 'finished'
                when found.failed_reason is not null then 'failed'
                else 'running' end as state) ends`;
const stateIs = `($states is null or ends.state = any ($states))`;

/** The states of tasks that have not ended. */
export const unfinishedTaskStates: TaskState[] = ['running', 'failed'];

/** Selects tasks, newest first. Everything that displays progress reads tasks with this statement. */
const selectTasks = statement(
  [filterColumns, 'below_id limit offset'],
  [
    'id form_id? subject_id:uuid? member_name:text? key_name:text? total:integer done refused created_at',
    'cancelled_at:timestamp? finished_at? failed_reason?',
    {
      kind: textEnum<TaskKind>(),
      state: textEnum<TaskState>(),
      input: jsonb<object>(),
      result: jsonb<object>(),
      problems: jsonb<TaskProblem[]>(),
    },
  ],
)`
  select found.id, found.kind, ends.state, found.form_id, found.subject_id, u.name as member_name, k.name as key_name,
         found.input, found.result, found.total, found.done, found.refused, found.problems, found.created_at,
         found.cancelled_at, found.finished_at, found.failed_reason ${filtered}
    left join users u on u.id = found.requested_by
    left join api_keys k on k.workspace_id = $workspace_id and k.id = found.api_key_id
   where ${stateIs} and found.id < $below_id
   order by found.id desc limit $limit offset $offset`;

const selectCount = statement(filterColumns, 'count')`
  select count(*) as count ${filtered} where ${stateIs}`;

const findForm = statement('workspace_id form_id', 'id')`
  select id from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null`;

export type TaskRow = Awaited<ReturnType<typeof selectTasks>>[number];
type Filter = Parameters<typeof selectCount>[1];

/** A filter for tasks. Omitted properties match everything. */
export type TaskFilter = Partial<Omit<Filter, 'workspace_id' | 'kinds'>> & {
  workspace_id: string;
  kinds: readonly TaskKind[];
};

const filterOf = ({ kinds, ...given }: TaskFilter): Filter => ({
  id: null,
  form_id: null,
  form_ids: null,
  subject_id: null,
  states: null,
  ...given,
  kinds: [...kinds],
});

/** Reads the tasks that match a filter, newest first. */
export const readTasks = (
  db: Queryable,
  filter: TaskFilter,
  {
    below_id = maximumId,
    limit = 1_000,
    offset = 0,
  }: { below_id?: string; limit?: number; offset?: number } = {},
): Promise<TaskRow[]> => selectTasks(db, { ...filterOf(filter), below_id, limit, offset });

/** Returns a task. @throws ApiError not_found. */
export const readTask = async (db: Queryable, filter: TaskFilter & { id: string }): Promise<TaskRow> =>
  requireRow(await readTasks(db, filter));

/** Reads one page of the tasks that match a filter, and their total number. */
export async function readTaskPage(
  db: Queryable,
  filter: TaskFilter,
  cut: ReturnType<typeof readPageRequest>,
) {
  const part = { below_id: upperIdBound(cut), limit: cut.limit, offset: cut.offset };
  const [found, total] = await Promise.all([
    readTasks(db, filter, part),
    cut.total ?? selectCount(db, filterOf(filter)).then(([counted]) => counted!.count),
  ]);
  return finishPage(cut, found, total);
}

const present = ({ member_name, key_name, cancelled_at, finished_at, ...row }: TaskRow) => ({
  id: row.id,
  kind: row.kind,
  state: row.state,
  form_id: row.form_id,
  subject_id: row.subject_id,
  requested_by: member_name ?? key_name,
  total: row.total,
  done: row.done,
  refused: row.refused,
  problems: row.problems,
  created_at: row.created_at,
  ended_at: cancelled_at ?? finished_at,
  failed_reason: row.failed_reason,
});

/** The kinds that a caller can read, each by the permission of its resource. */
const readable = ({ may }: Pick<RequestScope, 'may'>): TaskKind[] =>
  taskKinds.filter((kind) => may(`${kind.split('.')[0]}:read`));

const rule =
  'Returns only tasks of kinds that the key can read: `people.erase` requires `people:read`, `webhooks.replay` requires `webhooks:read`, and so on. A key limited to certain forms gets only the tasks of those forms.';

/** Operations on background tasks of every kind. */
export function taskEndpoints({ database }: { database: Database }) {
  return {
    listTasks: operation({
      summary: 'List tasks',
      description: `Returns bulk changes, imports, invitations, replays, erasures, deletions of forms and rebuilds of the search index, newest first. ${rule}`,
      permission: 'submissions:read',
      query: strictObject({
        ...listParameters,
        kind: Type.Optional(Type.Enum([...taskKinds])),
        state: Type.Optional(Type.Enum([...taskStates])),
        form_id: Type.Optional(uuidSchema),
      }),
      reply: { status: 200, description: 'A page of tasks.', schema: listSchemaOf(Task) },
      async run({ workspaceId, formIds, query, ...scope }) {
        const { kind, state, form_id = null } = query;
        if (form_id !== null) {
          requireFormAccess(formIds, form_id);
          requireRow(await findForm(database, { workspace_id: workspaceId, form_id }));
        }
        const kinds = readable(scope).filter((one) => kind === undefined || one === kind);
        const form_ids = formIds && [...formIds];
        const states = state === undefined ? null : [state];
        const filter = { workspace_id: workspaceId, kinds, form_ids, form_id, states };
        const { rows, ends } = await readTaskPage(database, filter, readPageRequest(query, 'tasks'));
        return { body: asWireValue({ data: rows.map(present), ...ends }) };
      },
    }),

    getTask: operation({
      summary: 'Get task',
      description: `Returns the progress of a task. ${rule}`,
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The task.', schema: Task },
      async run({ workspaceId, formIds, params, ...scope }) {
        const form_ids = formIds && [...formIds];
        const filter = { workspace_id: workspaceId, kinds: readable(scope), form_ids, id: params.id };
        return { body: asWireValue(present(await readTask(database, filter))) };
      },
    }),
  };
}
