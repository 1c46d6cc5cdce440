import {
  bigint,
  boolean,
  integer,
  jsonb,
  jsonText,
  nullable,
  statement,
  text,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import type { Counts } from './shapes.ts';

/** Of an import, from the first part of its file to its end. */
export type ImportState = 'receiving' | 'running' | 'done' | 'failed';

/** Nothing where another is under way. */
export const insertWorkspaceImport = statement(
  'workspace_package.insert_import',
  { workspace_id: uuid, id: uuid, keeps_ids: boolean, requested_by: nullable(text), created_at: timestamp },
  { id: uuid },
  `insert into workspace_imports (workspace_id, id, state, keeps_ids, requested_by, created_at)
   values ($workspace_id, $id, 'receiving', $keeps_ids, $requested_by, $created_at)
   on conflict (workspace_id) where state in ('receiving', 'running') do nothing
   returning id`,
);

const importColumns = {
  id: uuid,
  state: word<ImportState>(),
  keeps_ids: boolean,
  entries: integer,
  made: jsonb<Partial<Counts>>(),
  left_out: jsonb<{ what: string; why: string }[]>(),
  form_ids: uuids,
  problem: nullable(text),
  requested_by: nullable(text),
  created_at: timestamp,
  finished_at: nullable(timestamp),
  parts: bigint,
  bytes: bigint,
} as const;
const importSelection = `select i.id, i.state, i.keeps_ids, i.entries, i.made, i.left_out, i.form_ids, i.problem, u.name as requested_by, i.created_at,
     i.finished_at, p.parts, p.bytes
   from workspace_imports i left join users u on u.id = i.requested_by
   cross join lateral (
     select count(*) as parts, coalesce(sum(bytes), 0)::bigint as bytes from workspace_import_parts p
     where p.workspace_id = i.workspace_id and p.import_id = i.id) p`;

export const findWorkspaceImport = statement(
  'workspace_package.find_import',
  { workspace_id: uuid, id: uuid },
  importColumns,
  `${importSelection} where i.workspace_id = $workspace_id and i.id = $id`,
);

/** The latest, newest first. */
export const listWorkspaceImports = statement(
  'workspace_package.list_imports',
  { workspace_id: uuid, limit: integer },
  importColumns,
  `${importSelection} where i.workspace_id = $workspace_id order by i.id desc limit $limit`,
);

/** Notes a part before its bytes are stored, so that none is left that nobody knows of. Nothing where no parts are taken any more. */
export const insertPart = statement(
  'workspace_package.insert_part',
  { workspace_id: uuid, import_id: uuid, number: integer, bytes: integer },
  { number: integer },
  `insert into workspace_import_parts (workspace_id, import_id, number, bytes)
   select workspace_id, id, $number, $bytes from workspace_imports
   where workspace_id = $workspace_id and id = $import_id and state = 'receiving'
   on conflict (workspace_id, import_id, number) do update set bytes = excluded.bytes
   returning number`,
);

export const listParts = statement(
  'workspace_package.list_parts',
  { workspace_id: uuid, import_id: uuid },
  { number: integer },
  `select number from workspace_import_parts where workspace_id = $workspace_id and import_id = $import_id order by number`,
);

/** Of files that are being brought. */
export const selectStoredParts = statement(
  'workspace_package.select_stored_parts',
  {},
  { workspace_id: uuid, import_id: uuid, number: integer },
  `/* sweep: across workspaces */
   select p.workspace_id, p.import_id, p.number
   from workspace_imports i
   join workspace_import_parts p on p.workspace_id = i.workspace_id and p.import_id = i.id
   where i.state in ('receiving', 'running')`,
);

/** Parts whose import is over, or was not begun within a day, or is gone with its workspace. */
export const takeIdleParts = statement(
  'workspace_package.take_idle_parts',
  { before: timestamp },
  { workspace_id: uuid, import_id: uuid, number: integer },
  `/* sweep: across workspaces */
   select p.workspace_id, p.import_id, p.number from workspace_import_parts p
   where not exists (
     select from workspace_imports i
     where i.workspace_id = p.workspace_id and i.id = p.import_id
       and (i.state = 'running' or i.state = 'receiving' and i.created_at > $before))
   limit 500`,
);

export const deletePart = statement(
  'workspace_package.delete_part',
  { workspace_id: uuid, import_id: uuid, number: integer },
  {},
  `delete from workspace_import_parts where workspace_id = $workspace_id and import_id = $import_id and number = $number`,
);

/** Nobody sent all of these files within a day. */
export const giveUpIdleImports = statement(
  'workspace_package.give_up_imports',
  { before: timestamp, problem: text, now: timestamp },
  {},
  `/* sweep: across workspaces */
   update workspace_imports set state = 'failed', problem = $problem, finished_at = $now
   where state = 'receiving' and created_at <= $before`,
);

/** The import into a workspace of which parts are awaited is over. */
export const giveUpReceiving = statement(
  'workspace_package.give_up_receiving',
  { workspace_id: uuid, problem: text, now: timestamp },
  {},
  `update workspace_imports set state = 'failed', problem = $problem, finished_at = $now
   where workspace_id = $workspace_id and state = 'receiving'`,
);

/** No row: it takes no parts, as it runs or is over. */
export const startReceived = statement(
  'workspace_package.start_import',
  { workspace_id: uuid, id: uuid },
  { id: uuid },
  `update workspace_imports set state = 'running' where workspace_id = $workspace_id and id = $id and state = 'receiving' returning id`,
);

/** One entry is taken in, for the first time; no row: another was here. */
export const advanceWorkspaceImport = statement(
  'workspace_package.advance_import',
  {
    workspace_id: uuid,
    id: uuid,
    entries: integer,
    made: jsonb<Counts>(),
    left_out: jsonText,
    form_id: nullable(uuid),
  },
  { id: uuid },
  `update workspace_imports
   set entries = $entries, made = $made, left_out = $left_out,
       form_ids = case when $form_id is null then form_ids else form_ids || $form_id end
   where workspace_id = $workspace_id and id = $id and state = 'running' and entries < $entries
   returning id`,
);

export const endWorkspaceImport = statement(
  'workspace_package.end_import',
  {
    workspace_id: uuid,
    id: uuid,
    state: word<ImportState>(),
    problem: nullable(text),
    finished_at: timestamp,
  },
  { form_ids: uuids },
  `update workspace_imports set state = $state, problem = $problem, finished_at = $finished_at
   where workspace_id = $workspace_id and id = $id and state = 'running' returning form_ids`,
);
