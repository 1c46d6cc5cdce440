import { mostPerPage } from '#kit/pagination.ts';
import { type Columns, columns, nullable, nullableColumns, statement, textEnum } from '#kit/statement.ts';
import {
  answeredVersionSql,
  foundColumns,
  type SubmissionStatus,
  submissionSelection,
} from '#submissions/submission-rows.ts';
import { stageIdSql } from '#workspaces/stages.ts';
import { inSpanSql } from './filter/read-where.ts';
import {
  conditionsColumns,
  declareByFilterKind,
  declareByFilterReceived,
  receivedAtSql,
  spanColumns,
  submissionFilterSql,
} from './filter/where-of-forms.ts';

/** A row of the table. */
export const rowColumns = columns(
  'id version answers:text reference:text respondent:text? created_at updated_at completed_at? tags stage_id:text assignee_id:text?',
  { status: textEnum<SubmissionStatus>() },
);

export const rowSelection = `s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference, s.respondent::text as respondent,
  s.created_at, s.updated_at, s.completed_at, s.tags, ${stageIdSql('s')} as stage_id, s.assignee_id`;

/**
 * The columns that a page reads from each submission `s`: those of the API, with the version that was
 * answered, or those of the table.
 */
type Projection<Found extends Columns> = { found: Found; selection: string; version?: string };
const asSubmission = { found: foundColumns, selection: submissionSelection, version: answeredVersionSql };
const asRow = { found: rowColumns, selection: rowSelection };

/**
 * One page of a form's submissions, newest first, with the exact total in each row. A page without
 * submissions is one row of nulls with the total; for a deleted form there is no row. The ids of the page
 * come from the index alone, so a deep page reads no skipped rows. They are read from the nearer end, which
 * the total determines. Each submission is then looked up by its id. For a page of unknown length PostgreSQL
 * expects a tenth of the table, and would read all of it (33 ms for 26,000 short submissions instead of 0.2).
 *
 * The length of the page is in subselects, next to the maximum as a constant: otherwise PostgreSQL would plan
 * each length anew.
 */
const plainPage = <Found extends Columns>(
  { found, selection, version }: Projection<Found>,
  statusCondition: string,
) => {
  const listed = `select p.id from submissions p
       where p.workspace_id = f.workspace_id and p.form_id = f.id and p.trashed_at is null ${statusCondition}`;
  return statement(
    ['workspace_id form_id limit offset', { status: nullable(textEnum<SubmissionStatus>()) }],
    ['total', nullableColumns(found)],
  )`
    select count.total, ${selection}
    from forms f
    cross join lateral (
      select coalesce(sum(c.count), 0)::bigint as total from submission_counts c
      where c.workspace_id = f.workspace_id and c.form_id = f.id and ($status is null or c.status = $status)) count
    left join lateral (
      select id from (
        (${listed} and $offset <= count.total / 2
         order by p.id desc limit (select $limit) offset (select $offset))
        union all
        (${listed} and $offset > count.total / 2
         order by p.id limit (select least($limit, greatest(0, count.total - $offset)))
         offset (select greatest(0, count.total - $offset - $limit)))) ids
       limit ${mostPerPage + 1}) page on true
    left join lateral (
      select * from submissions where workspace_id = f.workspace_id and id = page.id limit 1) s on true
    ${version ? `left join ${version} on true` : ''}
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
    order by s.id desc`;
};

/** Declares the statements for a page of a form without any filter, and with a status only. */
const plainPages = <Found extends Columns>(projection: Projection<Found>) => ({
  any: plainPage(projection, ''),
  one: plainPage(projection, 'and p.status = $status'),
});

/** The submissions `p` that meet the condition of their form, whose number is `f.condition`. */
const metByForm = `${inSpanSql} and ${submissionFilterSql('($conditions)[f.condition]')}`;

const forms = columns('workspace_id form_ids?');

const cut = columns('limit offset');

/** The given forms, or all forms of the workspace, except those that are being deleted. */
const ofForms = `f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))`;

const allForms = `(select f.workspace_id, f.id from forms f where ${ofForms})`;

/** Forms, each with its own condition. */
const filteredForms = `(
  select f.workspace_id, f.id, input.condition from unnest($form_ids, $condition_of) as input (id, condition)
  join forms f on f.workspace_id = $workspace_id and f.id = input.id and f.deleted_at is null)`;

const ofForm = 'p.workspace_id = f.workspace_id and p.form_id = f.id';

/**
 * The order of a page: by id, which is the time when the submission was begun, or by the time when it was
 * received.
 */
type PageOrder = { by: (received: string, id: string) => string; isReceived?: true };
const newest: PageOrder = { by: (_, id) => `${id} desc` };
const oldest: PageOrder = { by: (_, id) => id };
const received: PageOrder = { by: (at, id) => `${at} desc, ${id} desc`, isReceived: true };

/**
 * Reads up to a page of each form from the form's index, and merges them, so that no form is read completely.
 */
const selectPage = (
  { selection, version }: Pick<Projection<Columns>, 'selection' | 'version'>,
  { by, isReceived }: PageOrder,
  { from, met }: { from: string; met: string },
): string =>
  `select ${selection}
   from (
     select p.id${isReceived ? ', p.received_at' : ''}
     from ${from} f
     cross join lateral (
       select p.id${isReceived ? `, ${receivedAtSql} as received_at` : ''} from submissions p where ${ofForm} and ${met}
       order by ${by(receivedAtSql, 'p.id')} limit $limit + $offset) p
     order by ${by('p.received_at', 'p.id')} limit $limit offset $offset) page
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   ${version ? `cross join ${version}` : ''}
   order by ${by('page.received_at', 's.id')}`;

/** A page of filtered submissions, without the total: one statement for each kind of filter. */
const filteredPages = <Found extends Columns>(projection: Projection<Found>, order: PageOrder) =>
  (order.isReceived ? declareByFilterReceived : declareByFilterKind)(
    (columns, met) =>
      statement([forms, columns, cut], projection.found)`
      ${selectPage(projection, order, { from: allForms, met })}`,
  );

/** A page of filtered submissions of forms that each have their own condition. */
const pageByForm = (order: PageOrder) =>
  statement(['workspace_id', conditionsColumns, cut], foundColumns)`
    ${selectPage(asSubmission, order, { from: filteredForms, met: metByForm })}`;

/** Pages of lists, as the API returns submissions. */
export const submissionPageStatements = {
  plain: plainPages(asSubmission),
  newest: {
    ...filteredPages(asSubmission, newest),
    byForm: pageByForm(newest),
  },
  oldest: {
    ...filteredPages(asSubmission, oldest),
    byForm: pageByForm(oldest),
  },
};

/** Pages of the table of a form. */
export const rowPageStatements = {
  plain: plainPages(asRow),
  newest: filteredPages(asRow, newest),
  received: filteredPages(asRow, received),
};

const selectTotal = (from: string, met: string): string =>
  `select coalesce(sum(counted.count), 0)::bigint as total
   from ${from} f
   cross join lateral (select count(*) as count from submissions p where ${ofForm} and ${met}) counted`;

const countBy = (each: typeof declareByFilterKind) =>
  each((columns, met) => statement([forms, columns], 'total')`${selectTotal(allForms, met)}`);

/** The statements that count the submissions that match a filter. */
export const countStatements = {
  byId: countBy(declareByFilterKind),
  byReceived: countBy(declareByFilterReceived),
  byForm: statement(['workspace_id', conditionsColumns], 'total')`
    ${selectTotal(filteredForms, metByForm)}`,
  /** For a filter by status only; reads the counters. */
  byCounters: statement([{ status: spanColumns.status }, forms], 'total')`
    select coalesce(sum(c.count), 0)::bigint as total
    from forms f
    join submission_counts c on c.workspace_id = f.workspace_id and c.form_id = f.id
    where ${ofForms} and ($status is null or c.status = $status)`,
};
