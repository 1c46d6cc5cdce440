import { findInAllCells } from '#cells/across-cells.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/**
 * SQL that reserves the short address of the form `form` for as long as the form exists. If another form has it, the
 * NULL that is not allowed makes the whole statement fail, also if both are saved at the same time.
 */
export const insertSlugSql = `
    insert into slug_lookup (slug, workspace_id, form_id)
    select settings ->> 'slug', workspace_id, id from form where settings ->> 'slug' is not null
    on conflict (slug) do update set form_id = case when slug_lookup.form_id = excluded.form_id then excluded.form_id end`;

const notNullViolation = '23502';

/** @throws ApiError validation_error if a statement with `insertSlugSql` failed because the short address is taken. */
export async function rejectDuplicateSlug<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    const { code, table } = cause as { code?: unknown; table?: unknown };
    if (code !== notNullViolation || table !== 'slug_lookup') throw cause;
    throw new ApiError('validation_error', 'The settings are not valid.', { errors: [duplicateSlug], cause });
  }
}

const duplicateSlug: ErrorItem = {
  field: 'slug',
  message: '"slug" is already in use. Choose another short address.',
  code: 'duplicate',
};

const findHolder = statement('slug:text', 'form_id')`
  /* lookup: across workspaces */
  select form_id from slug_lookup where slug = $slug`;

/** Returns the problem of a short address that another form has or had, in any cell. */
export async function findSlugProblems(
  db: Queryable,
  slug: string | undefined,
  formId: string,
): Promise<ErrorItem[]> {
  if (slug === undefined) return [];
  const holders = await findInAllCells(db, (cell) => findHolder(cell, { slug }));
  return holders.some(({ form_id }) => form_id !== formId) ? [duplicateSlug] : [];
}

/** @throws ApiError validation_error if another form has the short address. */
export async function requireFreeSlug(
  db: Queryable,
  formId: string,
  { slug }: { slug?: string | undefined } = {},
): Promise<void> {
  const errors = await findSlugProblems(db, slug, formId);
  if (errors.length > 0) throw new ApiError('validation_error', 'The settings are not valid.', { errors });
}

const findNamedForm = statement('slug:text form_id?', 'workspace_id id is_open:boolean slug:text?')`
  /* lookup: across workspaces */
  select f.workspace_id, f.id, f.settings ->> 'slug' as slug, f.status <> 'draft' or f.published_at is not null as is_open
  from (select form_id from slug_lookup where slug = $slug union all select $form_id) as named
  join form_lookup l on l.form_id = named.form_id
  join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
  where f.deleted_at is null`;

/** Returns the form with an ID, or with a current or former short address. */
export const findFormByName = (db: Queryable, { slug, id }: { slug: string; id: string | null }) =>
  findNamedForm(db, { slug, form_id: id });
