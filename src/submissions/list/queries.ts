import { bigint, integer, nullable, statement, uuid, uuids } from '#kit/statement.ts';
import { byFilter, spanColumns } from '../filter/queries.ts';
import { answeredVersion, foundColumns, submissionSelection } from '../queries.ts';

const forms = { workspace_id: uuid, form_ids: nullable(uuids) } as const;

/** Of these forms, or of all of the workspace that are not being deleted. */
const ofForms = `f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))`;
const ofForm = 'p.workspace_id = f.workspace_id and p.form_id = f.id';

/** Each form gives as many as may be needed, down an index of its own; so no form is read through for another. */
const inOrder = (direction: 'newest' | 'oldest') =>
  byFilter(`list.${direction}`, (name, columns, met) => {
    const order = direction === 'newest' ? 'desc' : 'asc';
    return statement(
      name,
      { ...forms, ...columns, limit: integer, offset: bigint },
      foundColumns,
      `select ${submissionSelection}
       from (
         select p.id
         from forms f
         cross join lateral (
           select p.id from submissions p where ${ofForm} and ${met}
           order by p.id ${order} limit $limit + $offset) p
         where ${ofForms}
         order by p.id ${order} limit $limit offset $offset) page
       join submissions s on s.workspace_id = $workspace_id and s.id = page.id
       cross join ${answeredVersion}
       order by s.id ${order}`,
    );
  });

/** The filtered submissions of forms, in either order, without their number. */
export const listFiltered = { newest: inOrder('newest'), oldest: inOrder('oldest') };

/** How many there are. */
export const countFiltered = byFilter('list.count', (name, columns, met) =>
  statement(
    name,
    { ...forms, ...columns },
    { total: bigint },
    `select coalesce(sum(counted.count), 0)::bigint as total
     from forms f
     cross join lateral (select count(*) as count from submissions p where ${ofForm} and ${met}) counted
     where ${ofForms}`,
  ),
);

/** The same where nothing but a status is asked for: the counters know. */
export const countByCounters = statement(
  'list.count_by_counters',
  { ...forms, status: spanColumns.status },
  { total: bigint },
  `select coalesce(sum(c.count), 0)::bigint as total
   from forms f
   join submission_counts c on c.workspace_id = f.workspace_id and c.form_id = f.id
   where ${ofForms} and ($status is null or c.status = $status)`,
);
