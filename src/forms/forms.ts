import { listSearchLanguages } from '#ast/basics/languages.ts';
import { describeFields } from '#ast/form/describe.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { IfMatchTimes } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor, AuditEntry } from '#kit/operation.ts';
import { json, jsonb, nullable, type Queryable, statement, textEnum } from '#kit/statement.ts';
import { searchRules } from '#rules/search-rules.ts';
import { createTask } from '#tasks/run-tasks.ts';
import { toAuditEntryParameters } from '#workspaces/audit/audit-log.ts';
import { auditEntryParameters, insertAuditEntrySql } from '#workspaces/audit-endpoints.ts';
import { enqueuePromotion } from './enqueue-promotion.ts';
import {
  type FormStatus,
  findForm,
  formColumns,
  hashPasswordChange,
  type PasswordChange,
  publicAddressColumns,
  publicAddressSql,
  readPasswordChange,
  withoutPassword,
} from './form-rows.ts';
import { claimImages } from './images/images.ts';
import { insertSlugSql, rejectDuplicateSlug, requireFreeSlug } from './slugs.ts';

/**
 * Inserts a form, its first version, its lookup row, its search languages and its audit entry, all or
 * nothing, in one round trip.
 */
const insertForm = statement(
  [
    'workspace_id id name description password_hash? labels languages structure:jsonText created_at',
    'created_by?',
    { status: textEnum<FormStatus>(), settings: jsonb<Settings>(), fields: json<object>() },
    auditEntryParameters,
  ],
  [formColumns, publicAddressColumns],
)`
  with form as (
    insert into forms (workspace_id, id, name, description, status, settings, password_hash, labels, version, created_at, updated_at, published_at)
    values ($workspace_id, $id, $name, $description, $status, $settings, $password_hash, $labels, 1, $created_at, $created_at,
            case when $status = 'published' then $created_at end)
    returning *),
  version as (
    insert into form_versions (workspace_id, form_id, version, name, structure, settings, fields, created_at, created_by)
    select workspace_id, id, version, name, $structure, settings, $fields, created_at, $created_by from form),
  lookup as (
    insert into form_lookup (form_id, workspace_id) select id, workspace_id from form),
  slug as (
    ${insertSlugSql}),
  language as (
    insert into search_languages (workspace_id, language) select $workspace_id, unnest($languages) on conflict do nothing),
  segment as (
    insert into search_segments (workspace_id, first_id, rules)
    select $workspace_id, '00000000-0000-0000-0000-000000000000', ${searchRules}
    where not exists (select from search_segments where workspace_id = $workspace_id) on conflict do nothing),
  line as (
    ${insertAuditEntrySql('form')})
  select id, workspace_id, name, description, status, labels, created_at, updated_at, published_at, ${publicAddressSql}
  from form f`;

/**
 * Updates a form and adds the next version, which is live. Concurrent updates run one after the other, so two
 * structures never mix. published_at is the time of the first publication since the form was a draft.
 */
const updateForm = statement(
  [
    'workspace_id id name description changes_password:boolean password_hash? labels? languages',
    'structure:jsonText created_by? unchanged? now',
    {
      status: nullable(textEnum<FormStatus>()),
      settings: nullable(jsonb<Settings>()),
      fields: json<object>(),
    },
  ],
  'id',
)`
  with form as (
    update forms set
      name = $name, description = $description, version = version + 1,
      status = coalesce($status, status), settings = coalesce($settings, settings), labels = coalesce($labels, labels),
      password_hash = case when $changes_password then $password_hash else password_hash end,
      updated_at = greatest($now, updated_at + interval '1 ms'),
      published_at = case when coalesce($status, status) = 'published' and (status <> 'published' or published_at is null)
                          then $now else published_at end
    where workspace_id = $workspace_id and id = $id and deleted_at is null
      and ($unchanged is null or updated_at = any ($unchanged))
    returning *),
  version as (
    insert into form_versions (workspace_id, form_id, version, name, structure, settings, fields, created_at, created_by)
    select workspace_id, id, version, name, $structure, settings, $fields, $now, $created_by from form),
  slug as (
    ${insertSlugSql}),
  language as (
    insert into search_languages (workspace_id, language)
    select workspace_id, unnest($languages) from form on conflict do nothing)
  select id from form`;

/**
 * Marks a form as deleted: it returns 404 everywhere from now on. A job removes its data
 * (src/submissions/changes/remove-form.ts).
 */
const markFormDeleted = statement('workspace_id id unchanged? now', 'id')`
  update forms set deleted_at = $now
  where workspace_id = $workspace_id and id = $id and deleted_at is null
    and ($unchanged is null or updated_at = any ($unchanged)) returning id`;

/** The job that removes a deleted form's submissions (src/submissions/changes/remove-form.ts). */
export const removeFormJob = 'form.remove';

/**
 * A change as it was sent: undefined properties are kept. `toChangedBy` is the person who used the builder, if
 * any; `unchanged` is the state that the change is based on (kit/conditional.ts).
 */
type FormChange = {
  structure: unknown;
  status?: FormStatus;
  settings?: unknown;
  /** Normalized (normalizeLabels). */
  labels?: string[] | undefined;
  changedBy?: string | null;
  unchanged?: IfMatchTimes;
  /** The time of the change, for imported forms. Default: now. */
  at?: Date;
};

/**
 * Creates a form. Its name and description come from `structure.attrs` (specification, "Forms", note 1).
 * @param line its audit entry, unless the caller writes one.
 * @throws ApiError validation_error with every problem of the structure (`message`, `path`).
 */
export async function createForm(
  database: Queryable,
  workspaceId: string,
  change: FormChange & { id?: string },
  line?: AuditEntry,
) {
  const { form, settings, password } = validateFormChange(change);
  await claimImages(database, workspaceId, { settings, form });
  const { password_hash } = await hashPasswordChange(password);
  const id = change.id ?? newId();
  await requireFreeSlug(database, id, settings);
  const insert = insertForm(database, {
    workspace_id: workspaceId,
    id,
    ...versionOf(form, change.structure),
    status: change.status ?? 'draft',
    settings: settings ?? {},
    password_hash,
    labels: change.labels ?? [],
    languages: listSearchLanguages(settings ?? {}, languagesOf(form)),
    created_at: change.at ?? timeOfId(id),
    created_by: change.changedBy ?? null,
    ...toAuditEntryParameters(line),
  });
  const [row] = await rejectDuplicateSlug(insert);
  return row!;
}

/**
 * Changes a form. If it is published, the change is live immediately (docs/rules.md 5). Submissions stay
 * pinned to the version they answered.
 * @throws ApiError not_found, precondition_failed, validation_error.
 */
export async function changeForm(
  database: Queryable,
  workspaceId: string,
  id: string,
  change: FormChange,
): Promise<void> {
  const { form, settings, password } = validateFormChange(change);
  await claimImages(database, workspaceId, { settings, form });
  await requireFreeSlug(database, id, settings);
  const update = updateForm(database, {
    workspace_id: workspaceId,
    id,
    ...versionOf(form, change.structure),
    status: change.status ?? null,
    settings: settings ?? null,
    ...(await hashPasswordChange(password)),
    labels: change.labels ?? null,
    languages: listSearchLanguages(settings, languagesOf(form)),
    created_by: change.changedBy ?? null,
    unchanged: change.unchanged ?? null,
    now: change.at ?? now(),
  });
  const changed = await rejectDuplicateSlug(update);
  if (changed.length === 0) throw await refusal(database, workspaceId, id);
  await enqueuePromotion(database, { workspace_id: workspaceId, form_id: id });
}

/** Returns why a form could not be changed: it does not exist, or was changed in the meantime. */
async function refusal(database: Queryable, workspaceId: string, id: string): Promise<ApiError> {
  const found = await findForm(database, { workspace_id: workspaceId, id });
  return new ApiError(found.length === 0 ? 'not_found' : 'precondition_failed');
}

const countSubmissions = statement('workspace_id form_id', 'count')`
  -- The counters leave out the trash.
  select ((select coalesce(sum(c.count), 0) from submission_counts c where c.workspace_id = $workspace_id and c.form_id = $form_id)
    + (select count(*) from submissions s where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is not null))::bigint as count`;

/**
 * Deletes a form permanently. It and its submissions return 404 from now on. A job removes the submissions
 * and sends their `submission.deleted` events in batches (docs/rules.md 4). The caller wakes the queue.
 * @throws ApiError not_found, precondition_failed.
 */
export async function deleteForm(
  database: Database,
  workspaceId: string,
  id: string,
  by: Actor,
  unchanged: IfMatchTimes = null,
): Promise<void> {
  await transaction(database, async (client) => {
    const form = { workspace_id: workspaceId, id, unchanged, now: now() };
    const marked = await markFormDeleted(client, form);
    if (marked.length === 0) throw await refusal(client, workspaceId, id);
    const [counted] = await countSubmissions(client, { workspace_id: workspaceId, form_id: id });
    const task = { workspaceId, id: newId(), kind: 'forms.delete', subjectId: id, by } as const;
    await createTask(
      client,
      { ...task, total: counted!.count },
      { kind: removeFormJob, lane: removeFormJob },
    );
  });
}

/** Validates a change and returns its parts. Throws ApiError validation_error. */
export function validateFormChange(change: FormChange): {
  form: Form;
  settings: Settings | undefined;
  password: PasswordChange;
} {
  const result = validateStructure(change.structure);
  if (!result.ok)
    throw new ApiError('validation_error', 'The form structure is not valid.', {
      errors: result.errors.map((error) => ({ ...error, path: [...error.path] })),
    });
  if (change.settings === undefined) return { form: result.form, settings: undefined, password: undefined };
  const checked = checkSettings(change.settings, result.form);
  if (!checked.ok)
    throw new ApiError('validation_error', 'The settings are not valid.', { errors: checked.errors });
  return {
    form: result.form,
    settings: withoutPassword(checked.settings),
    password: readPasswordChange(change.settings),
  };
}

/** @param structure the structure as it was sent, which is stored unchanged. */
const versionOf = (form: Form, structure: unknown) => ({
  name: form.attrs.name,
  description: form.attrs.description ?? '',
  structure: JSON.stringify(structure),
  fields: describeFields(form),
});
