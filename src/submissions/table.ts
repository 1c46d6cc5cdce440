import { formTree } from '#forms/form-rows.ts';
import { columns, jsonb, nullable, statement, word } from '#kit/statement.ts';
import {
  byFilter,
  type FilterKind,
  filterColumns,
  isMet,
  receivedAt,
  spanColumns,
} from './filter/where-of-forms.ts';
import type { TableSettings } from './shapes.ts';
import type { SubmissionStatus } from './submission-rows.ts';

/**
 * Declares the statements for lists sorted by `receivedAt`, whose index answers all of them. The planner must
 * not use the index of ids for the span, which it wrongly expects to match few rows: `is true` prevents that.
 */
const byFilterReceived = <Declared>(
  name: string,
  declare: (name: string, columns: typeof spanColumns | typeof filterColumns, met: string) => Declared,
): Record<FilterKind, Declared> => {
  const isIn = 'p.trashed_at is null and (p.id >= $from_id and p.id < $to_id) is true';
  const filtered = declare(
    `${name}_filtered`,
    filterColumns,
    `${isIn} and ${receivedAt} >= coalesce($received_from, '-infinity')
     and ${receivedAt} < coalesce($received_to, 'infinity') and ${isMet}`,
  );
  return {
    any: declare(name, spanColumns, `${isIn} and $status is null`),
    one: declare(`${name}_by_status`, spanColumns, `${isIn} and p.status = $status`),
    filtered,
    tagged: filtered,
  };
};

/** A row of the table; all columns are null if the page is empty. */
export const rowColumns = columns(
  'id? version? answers:text? reference:text? created_at? updated_at? completed_at? tags?',
  { status: nullable(word<SubmissionStatus>()) },
);

export const rowSelection = `s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
  s.created_at, s.updated_at, s.completed_at, s.tags`;

const form = columns('workspace_id form_id');
const ofForm = 'p.workspace_id = $workspace_id and p.form_id = $form_id';

const countersTotal = `(select coalesce(sum(c.count), 0)::bigint from submission_counts c
  where c.workspace_id = $workspace_id and c.form_id = $form_id and ($status is null or c.status = $status))`;

/** The order of a view without sort columns: by start, which ids contain, or by time received. */
export type ViewOrder = 'begun' | 'received';

const pageBy =
  (order: (of: string) => string) =>
  (name: string, columns: typeof spanColumns | typeof filterColumns, met: string) =>
    statement(
      name,
      ['is_counted:boolean limit offset', form, columns],
      ['total', rowColumns],
      // Conditions on rows are checked once, for both the count and the page.
      `with found as ${'tag' in columns ? '' : 'not'} materialized (
       select p.id, ${receivedAt} as received_at from submissions p where ${ofForm} and ${met})
     select count.total, ${rowSelection}
     from (select case when $is_counted then (select count(*) from found) else ${countersTotal} end as total) count
     left join lateral (select id, received_at from found order by ${order('found')} limit $limit offset $offset) page on true
     left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
     order by ${order('page')}`,
    );

/** Selects a page of the view with the exact total in each row; at least one row. */
export const listView = {
  begun: byFilter(
    'view.list_view',
    pageBy((of) => `${of}.id desc`),
  ),
  received: byFilterReceived(
    'view.list_received',
    pageBy((of) => `${of}.received_at desc, ${of}.id desc`),
  ),
} as const;

/** The submissions before and after a submission in the view. */
const neighboursColumns = columns('previous_id? next_id?');
export const findNeighbours = {
  begun: byFilter('view.find_neighbours', (name, columns, met) =>
    statement(
      name,
      ['id', form, columns],
      neighboursColumns,
      `select (select p.id from submissions p where ${ofForm} and ${met} and p.id > $id order by p.id limit 1) as previous_id,
              (select p.id from submissions p where ${ofForm} and ${met} and p.id < $id order by p.id desc limit 1) as next_id`,
    ),
  ),
  received: byFilterReceived('view.find_received_neighbours', (name, columns, met) =>
    statement(
      name,
      ['id', form, columns],
      neighboursColumns,
      `with here as (
         select ${receivedAt} as at, p.id from submissions p where p.workspace_id = $workspace_id and p.id = $id)
       select
         (select p.id from submissions p, here where ${ofForm} and ${met} and (${receivedAt}, p.id) > (here.at, here.id)
          order by ${receivedAt}, p.id limit 1) as previous_id,
         (select p.id from submissions p, here where ${ofForm} and ${met} and (${receivedAt}, p.id) < (here.at, here.id)
          order by ${receivedAt} desc, p.id desc limit 1) as next_id`,
    ),
  ),
} as const;

/** Selects every id of the view, newest first, up to one more than the limit. */
export const listViewIds = byFilter('view.list_view_ids', (name, columns, met) =>
  statement(
    name,
    ['limit', form, columns],
    'ids',
    `select coalesce(array_agg(id order by id desc), '{}') as ids from (
       select p.id from submissions p where ${ofForm} and ${met} order by p.id desc limit $limit) page`,
  ),
);

const exportedColumns = columns('id answers:text reference:text created_at:text completed_at:text?', {
  status: word<SubmissionStatus>(),
});

// All columns are text, as the file needs them: with the driver's dates and objects, fetching a row takes 8
// µs instead of 4.
const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const exportedRow = `p.id, p.status, p.answers::text as answers, p.reference::text as reference,
  ${isoTime('p.created_at')} as created_at, ${isoTime('p.completed_at')} as completed_at`;

/** Selects the next rows of an export, newest first, below `to_id`. */
export const readViewDown = byFilter('view.read_view_down', (name, columns, met) =>
  statement(
    name,
    ['limit', form, columns],
    exportedColumns,
    `select ${exportedRow} from submissions p where ${ofForm} and ${met} order by p.id desc limit $limit`,
  ),
);

/** Selects these submissions of the form, in the order of the list; deleted ones are omitted. */
export const readListed = statement(
  'view.read_listed',
  'workspace_id form_id ids',
  exportedColumns,
  `select ${exportedRow}
   from unnest($ids) with ordinality as listed (id, place)
   join submissions p on p.workspace_id = $workspace_id and p.form_id = $form_id and p.id = listed.id and p.trashed_at is null
   order by listed.place`,
);

/** Selects a submission with the version that it answers. */
export const findViewedSubmission = statement(
  'view.find_viewed_submission',
  'workspace_id id',
  ['form_id fields:text form_name is_live_version:boolean', { structure: formTree }, rowColumns],
  `select ${rowSelection}, s.form_id, v.fields::text as fields, v.name as form_name, v.structure,
          v.version = f.version as is_live_version
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`,
);

export const findTableSettings = statement(
  'view.find_table_settings',
  'workspace_id form_id user_id',
  { settings: jsonb<TableSettings>() },
  `select settings from table_settings
   where workspace_id = $workspace_id and form_id = $form_id and user_id = $user_id`,
);

export const saveTableSettings = statement(
  'view.save_table_settings',
  ['workspace_id form_id user_id', { settings: jsonb<TableSettings>() }],
  '',
  `insert into table_settings (workspace_id, form_id, user_id, settings)
   values ($workspace_id, $form_id, $user_id, $settings)
   on conflict (workspace_id, form_id, user_id) do update set settings = excluded.settings`,
);
