import { columns, statement } from '#kit/statement.ts';
import { byFilter, conditionsColumns, metByForm, spanColumns } from '../filter/queries.ts';
import { answeredVersion, foundColumns, submissionSelection } from '../queries.ts';

const forms = columns('workspace_id form_ids?');
const cut = columns('limit offset');

/** Of these forms, or of all of the workspace that are not being deleted. */
const ofForms = `f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))`;
const allForms = `(select f.workspace_id, f.id from forms f where ${ofForms})`;
/** Forms that each have a condition of their own. */
const askedForms = `(
  select f.workspace_id, f.id, asked.condition from unnest($form_ids, $condition_of) as asked (id, condition)
  join forms f on f.workspace_id = $workspace_id and f.id = asked.id and f.deleted_at is null)`;
const ofForm = 'p.workspace_id = f.workspace_id and p.form_id = f.id';

/** Each form gives as many as may be needed, down an index of its own; so no form is read through for another. */
const selectPage = (order: 'desc' | 'asc', asked: string, met: string): string =>
  `select ${submissionSelection}
   from (
     select p.id
     from ${asked} f
     cross join lateral (
       select p.id from submissions p where ${ofForm} and ${met}
       order by p.id ${order} limit $limit + $offset) p
     order by p.id ${order} limit $limit offset $offset) page
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   cross join ${answeredVersion}
   order by s.id ${order}`;

const selectTotal = (asked: string, met: string): string =>
  `select coalesce(sum(counted.count), 0)::bigint as total
   from ${asked} f
   cross join lateral (select count(*) as count from submissions p where ${ofForm} and ${met}) counted`;

const inOrder = (name: string, order: 'desc' | 'asc') => ({
  ...byFilter(name, (each, columns, met) =>
    statement(each, [forms, columns, cut], foundColumns, selectPage(order, allForms, met)),
  ),
  byForm: statement(
    `${name}_by_form`,
    ['workspace_id', conditionsColumns, cut],
    foundColumns,
    selectPage(order, askedForms, metByForm),
  ),
});

/** The filtered submissions of forms, in either order, without their number; `byForm` where each has a condition. */
export const listFiltered = { newest: inOrder('list.newest', 'desc'), oldest: inOrder('list.oldest', 'asc') };

/** How many there are. */
export const countFiltered = {
  ...byFilter('list.count', (name, columns, met) =>
    statement(name, [forms, columns], 'total', selectTotal(allForms, met)),
  ),
  byForm: statement(
    'list.count_by_form',
    ['workspace_id', conditionsColumns],
    'total',
    selectTotal(askedForms, metByForm),
  ),
};

/** The same where nothing but a status is asked for: the counters know. */
export const countByCounters = statement(
  'list.count_by_counters',
  [{ status: spanColumns.status }, forms],
  'total',
  `select coalesce(sum(c.count), 0)::bigint as total
   from forms f
   join submission_counts c on c.workspace_id = f.workspace_id and c.form_id = f.id
   where ${ofForms} and ($status is null or c.status = $status)`,
);
