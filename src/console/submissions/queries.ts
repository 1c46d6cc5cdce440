import type { Form } from '#ast/tree.ts';
import {
  bigint,
  boolean,
  integer,
  json,
  jsonb,
  jsonText,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import { conditionRows, matchesConditions } from '#submissions/filter/queries.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import type { TableSettings } from './shapes.ts';

/** A row of the table; every column is null where the page is empty. */
const rowColumns = {
  id: nullable(uuid),
  status: nullable(word<SubmissionStatus>()),
  version: nullable(integer),
  answers: nullable(text),
  reference: nullable(text),
  created_at: nullable(timestamp),
  updated_at: nullable(timestamp),
  completed_at: nullable(timestamp),
  tags: nullable(texts),
} as const;

const rowSelection = `s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
  s.created_at, s.updated_at, s.completed_at, s.tags`;

/** What every statement on a view without a search is given: times are given as the ids that were made then. */
const viewParameters = {
  workspace_id: uuid,
  form_id: uuid,
  status: nullable(word<SubmissionStatus>()),
  from_id: uuid,
  to_id: uuid,
} as const;
const filterParameters = { ...viewParameters, conditions: jsonText } as const;

const inView = `p.workspace_id = $workspace_id and p.form_id = $form_id and p.trashed_at is null
  and p.id >= $from_id and p.id < $to_id`;

/** Two statements for each question, as in src/submissions/queries.ts: with a status another index answers. */
const byStatus = <Declared>(name: string, declare: (name: string, viewed: string) => Declared) => ({
  any: declare(`view.${name}`, `${inView} and $status is null`),
  one: declare(`view.${name}_by_status`, `${inView} and p.status = $status`),
});

/** For the third one of each question, which looks into the answers, and so reads more than an index. */
const inFilter = `${inView} and ($status is null or p.status = $status) and ${matchesConditions}`;

const countersTotal = `(select coalesce(sum(c.count), 0)::bigint from submission_counts c
  where c.workspace_id = $workspace_id and c.form_id = $form_id and ($status is null or c.status = $status))`;

const pageParameters = { limit: integer, offset: bigint } as const;
const pageColumns = { total: bigint, ...rowColumns } as const;

const pageSelection = (total: string, page: string): string => `
  select count.total, ${rowSelection}
  from (select ${total} as total) count
  left join lateral (${page} order by p.id desc limit $limit offset $offset) page on true
  left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
  order by s.id desc`;

/** A page of the view, newest first, with the exact total in each row; at least one row. */
export const listView = {
  ...byStatus('list_view', (name, viewed) =>
    statement(
      name,
      { ...viewParameters, is_dated: boolean, ...pageParameters },
      pageColumns,
      pageSelection(
        `case when $is_dated then (select count(*) from submissions p where ${viewed}) else ${countersTotal} end`,
        `select p.id from submissions p where ${viewed}`,
      ),
    ),
  ),
  filtered: statement(
    'view.list_view_filtered',
    { ...filterParameters, ...pageParameters },
    pageColumns,
    // Found once, and then both counted and cut.
    `with ${conditionRows},
     found as materialized (select p.id from submissions p where ${inFilter})
     ${pageSelection('(select count(*) from found)', 'select p.id from found p')}`,
  ),
};

const neighbours = { previous_id: nullable(uuid), next_id: nullable(uuid) } as const;
const neighboursSelection = (viewed: string): string => `
  select (select p.id from submissions p where ${viewed} and p.id > $id order by p.id limit 1) as previous_id,
         (select p.id from submissions p where ${viewed} and p.id < $id order by p.id desc limit 1) as next_id`;

/** The submissions above and below one in the view. */
export const findNeighbours = {
  ...byStatus('find_neighbours', (name, viewed) =>
    statement(name, { ...viewParameters, id: uuid }, neighbours, neighboursSelection(viewed)),
  ),
  filtered: statement(
    'view.find_neighbours_filtered',
    { ...filterParameters, id: uuid },
    neighbours,
    `with ${conditionRows} ${neighboursSelection(inFilter)}`,
  ),
};

const idsSelection = (viewed: string): string => `
  select coalesce(array_agg(id order by id desc), '{}') as ids from (
    select p.id from submissions p where ${viewed} order by p.id desc limit $limit) page`;

/** Every id of the view, newest first, up to one more than is allowed. */
export const listViewIds = {
  ...byStatus('list_view_ids', (name, viewed) =>
    statement(name, { ...viewParameters, limit: integer }, { ids: uuids }, idsSelection(viewed)),
  ),
  filtered: statement(
    'view.list_view_ids_filtered',
    { ...filterParameters, limit: integer },
    { ids: uuids },
    `with ${conditionRows} ${idsSelection(inFilter)}`,
  ),
};

const exportedColumns = {
  id: uuid,
  status: word<SubmissionStatus>(),
  answers: text,
  reference: text,
  created_at: text,
  completed_at: nullable(text),
} as const;

// All as text, as it is written: with the driver's dates and objects a row takes 8 µs to fetch instead of 4.
const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const exportedRow = `p.id, p.status, p.answers::text as answers, p.reference::text as reference,
  ${isoTime('p.created_at')} as created_at, ${isoTime('p.completed_at')} as completed_at`;

const exportedSelection = (viewed: string): string => `
  select ${exportedRow} from submissions p where ${viewed} order by p.id desc limit $limit`;

/** The next rows of an export, newest first, from `to_id` downwards. */
export const readViewDown = {
  ...byStatus('read_view_down', (name, viewed) =>
    statement(name, { ...viewParameters, limit: integer }, exportedColumns, exportedSelection(viewed)),
  ),
  filtered: statement(
    'view.read_view_down_filtered',
    { ...filterParameters, limit: integer },
    exportedColumns,
    `with ${conditionRows} ${exportedSelection(inFilter)}`,
  ),
};

/** These submissions of the form, in the order of the list; what is gone by now is left out. */
export const readListed = statement(
  'view.read_listed',
  { workspace_id: uuid, form_id: uuid, ids: uuids },
  exportedColumns,
  `select ${exportedRow}
   from unnest($ids) with ordinality as listed (id, place)
   join submissions p on p.workspace_id = $workspace_id and p.form_id = $form_id and p.id = listed.id and p.trashed_at is null
   order by listed.place`,
);

/** One submission with the version that it answered. */
export const findViewedSubmission = statement(
  'view.find_viewed_submission',
  { workspace_id: uuid, form_id: uuid, id: uuid },
  {
    ...rowColumns,
    fields: text,
    has_files: boolean,
    form_name: text,
    structure: json<Form>(),
    is_live_version: boolean,
  },
  `select ${rowSelection}, v.fields::text as fields, s.has_files, v.name as form_name, v.structure,
          v.version = f.version as is_live_version
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`,
);

/** A file of a submission. */
export const findSubmissionFile = statement(
  'view.find_submission_file',
  { workspace_id: uuid, form_id: uuid, submission_id: uuid, id: uuid },
  { filename: text, content_type: text, size: bigint },
  `select file.filename, file.content_type, file.size from files file
   join forms f on f.workspace_id = file.workspace_id and f.id = file.form_id and f.deleted_at is null
   join submissions s on s.workspace_id = file.workspace_id and s.id = file.submission_id and s.trashed_at is null
   where file.workspace_id = $workspace_id and file.form_id = $form_id
     and file.submission_id = $submission_id and file.id = $id`,
);

/** When a submission came. */
export const findTimes = statement(
  'view.find_times',
  { workspace_id: uuid, form_id: uuid, submission_id: uuid },
  { created_at: timestamp, completed_at: nullable(timestamp) },
  `select s.created_at, s.completed_at from submissions s
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $submission_id and s.trashed_at is null`,
);

/**
 * Whom a submission was told: each delivery when it began, and each time that a person sent it again, alone or
 * with others.
 */
export const listDeliveriesOf = statement(
  'view.list_deliveries_of',
  { workspace_id: uuid, form_id: uuid, submission_id: uuid },
  {
    at: timestamp,
    is_resend: boolean,
    event: text,
    status: word<'Success' | 'Failed' | 'Retrying'>(),
    webhook_id: uuid,
    delivery_id: uuid,
    url: text,
  },
  `with told as (
     select d.workspace_id, d.id, d.kind, d.status, d.webhook_id, d.created_at, w.url
     from events e
     join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id and not d.is_test
     join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
     where e.workspace_id = $workspace_id and e.form_id = $form_id and e.submission_id = $submission_id
     order by d.id desc limit 200)
   select created_at as at, false as is_resend, kind as event, status, webhook_id, id as delivery_id, url from told
   union all
   select a.started_at, true, told.kind, told.status, told.webhook_id, told.id, told.url
   from told join attempts a on a.workspace_id = told.workspace_id and a.delivery_id = told.id
     and a.trigger in ('manual', 'replay')`,
);

export const findTableSettings = statement(
  'view.find_table_settings',
  { workspace_id: uuid, form_id: uuid, user_id: text },
  { settings: jsonb<TableSettings>() },
  `select settings from table_settings
   where workspace_id = $workspace_id and form_id = $form_id and user_id = $user_id`,
);

export const saveTableSettings = statement(
  'view.save_table_settings',
  { workspace_id: uuid, form_id: uuid, user_id: text, settings: jsonb<TableSettings>() },
  {},
  `insert into table_settings (workspace_id, form_id, user_id, settings)
   values ($workspace_id, $form_id, $user_id, $settings)
   on conflict (workspace_id, form_id, user_id) do update set settings = excluded.settings`,
);
