import { describeFields } from '#ast/describe.ts';
import { searchLanguages } from '#ast/languages.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { type Form, languagesOf } from '#ast/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { Unchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor, AuditLine } from '#kit/operation.ts';
import { json, jsonb, nullable, type Queryable, statement, word } from '#kit/statement.ts';
import { startTask } from '#tasks/run-tasks.ts';
import { lineValues } from '#workspaces/audit/audit-log.ts';
import { insertedLine, lineParameters } from '#workspaces/audit/endpoints.ts';
import {
  type FormStatus,
  findForm,
  formColumns,
  type PasswordChange,
  passwordIn,
  storedPassword,
  withoutPassword,
} from './form-rows.ts';
import { claimImages } from './images/images.ts';

/**
 * A form, its first version, the way to it from its id alone, the languages its answers will be searched in, and its line
 * in the audit log: all of it or nothing, in one round trip.
 */
const insertForm = statement(
  'insert_form',
  [
    'workspace_id id name description password_hash? languages structure:jsonText created_at',
    'created_by?',
    { status: word<FormStatus>(), settings: jsonb<Settings>(), fields: json<object>() },
    lineParameters,
  ],
  formColumns,
  `with form as (
     insert into forms (workspace_id, id, name, description, status, settings, password_hash, version, created_at, updated_at, published_at)
     values ($workspace_id, $id, $name, $description, $status, $settings, $password_hash, 1, $created_at, $created_at,
             case when $status = 'published' then $created_at end)
     returning *),
   version as (
     insert into form_versions (workspace_id, form_id, version, name, structure, settings, fields, created_at, created_by)
     select workspace_id, id, version, name, $structure, settings, $fields, created_at, $created_by from form),
   lookup as (
     insert into form_lookup (form_id, workspace_id) select id, workspace_id from form),
   language as (
     insert into search_languages (workspace_id, language) select $workspace_id, unnest($languages) on conflict do nothing),
   segment as (
     insert into search_segments (workspace_id, first_id)
     select $workspace_id, '00000000-0000-0000-0000-000000000000'
     where not exists (select from search_segments where workspace_id = $workspace_id) on conflict do nothing),
   line as (
     ${insertedLine('form')})
   select id, workspace_id, name, description, status, created_at, updated_at, published_at from form`,
);

/**
 * A live change: the next version becomes the form. Statement snapshots make two updates at once take turns, so a
 * structure is never mixed. published_at is the time of the first publication since the form was a draft.
 */
const updateForm = statement(
  'update_form',
  [
    'workspace_id id name description changes_password:boolean password_hash? languages',
    'structure:jsonText created_by? unchanged? now',
    { status: nullable(word<FormStatus>()), settings: nullable(jsonb<Settings>()), fields: json<object>() },
  ],
  'id',
  `with form as (
     update forms set
       name = $name, description = $description, version = version + 1,
       status = coalesce($status, status), settings = coalesce($settings, settings),
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
   language as (
     insert into search_languages (workspace_id, language)
     select workspace_id, unnest($languages) from form on conflict do nothing)
   select id from form`,
);

/** From here on the form answers 404 everywhere; what it held is removed behind (src/submissions/changes/remove-form.ts). */
const markFormDeleted = statement(
  'mark_form_deleted',
  'workspace_id id unchanged? now',
  'id',
  `update forms set deleted_at = $now
   where workspace_id = $workspace_id and id = $id and deleted_at is null
     and ($unchanged is null or updated_at = any ($unchanged)) returning id`,
);

/** The job that removes a deleted form's submissions (src/submissions/changes/remove-form.ts). */
export const removeFormJob = 'form.remove';

/**
 * A change as it is sent: what is undefined stays as it is. `changedBy` is the person in the builder, if it was one;
 * `unchanged` what the change was made on (kit/conditional.ts).
 */
type FormChange = {
  structure: unknown;
  status?: FormStatus;
  settings?: unknown;
  changedBy?: string | null;
  unchanged?: Unchanged;
  /** When it was made, of what is brought here from elsewhere; else it is made now. */
  at?: Date;
};

/**
 * Creates a form; name and description come from `structure.attrs` (specification, "Forms", note 1).
 * @param line its line in the audit log, where nobody else writes one.
 * @throws ApiError validation_error with every problem of the structure (`message`, `path`).
 */
export async function createForm(
  database: Queryable,
  workspaceId: string,
  change: FormChange & { id?: string },
  line?: AuditLine,
) {
  const { form, settings, password } = readChange(change);
  await claimImages(database, workspaceId, { settings, form });
  const { password_hash } = await storedPassword(password);
  const id = change.id ?? newId();
  const [row] = await insertForm(database, {
    workspace_id: workspaceId,
    id,
    ...versionOf(form, change.structure),
    status: change.status ?? 'draft',
    settings: settings ?? {},
    password_hash,
    languages: searchLanguages(settings ?? {}, languagesOf(form)),
    created_at: change.at ?? timeOfId(id),
    created_by: change.changedBy ?? null,
    ...lineValues(line),
  });
  return row!;
}

/**
 * Changes a form; when it is published, the change is live at once (docs/rules.md 5). Submissions stay pinned to the
 * version that they answered.
 * @throws ApiError not_found, precondition_failed, validation_error.
 */
export async function changeForm(
  database: Queryable,
  workspaceId: string,
  id: string,
  change: FormChange,
): Promise<void> {
  const { form, settings, password } = readChange(change);
  await claimImages(database, workspaceId, { settings, form });
  const changed = await updateForm(database, {
    workspace_id: workspaceId,
    id,
    ...versionOf(form, change.structure),
    status: change.status ?? null,
    settings: settings ?? null,
    ...(await storedPassword(password)),
    languages: searchLanguages(settings, languagesOf(form)),
    created_by: change.changedBy ?? null,
    unchanged: change.unchanged ?? null,
    now: change.at ?? now(),
  });
  if (changed.length === 0) throw await refusal(database, workspaceId, id);
}

/** Why a form could not be changed: it is absent, or was changed meanwhile. */
async function refusal(database: Queryable, workspaceId: string, id: string): Promise<ApiError> {
  const found = await findForm(database, { workspace_id: workspaceId, id });
  return new ApiError(found.length === 0 ? 'not_found' : 'precondition_failed');
}

const countSubmissions = statement(
  'forms.count_submissions',
  'workspace_id form_id',
  'count',
  `/* with the trash: trashed_at is not asked */
   select count(*) as count from submissions where workspace_id = $workspace_id and form_id = $form_id`,
);

/**
 * Deletes a form for good: it and its submissions answer 404 from now on; they are removed, and their
 * `submission.deleted` events fired, in batches behind (docs/rules.md 4). The caller wakes the queue.
 * @throws ApiError not_found, precondition_failed.
 */
export async function deleteForm(
  database: Database,
  workspaceId: string,
  id: string,
  by: Actor,
  unchanged: Unchanged = null,
): Promise<void> {
  await transaction(database, async (client) => {
    const form = { workspace_id: workspaceId, id, unchanged, now: now() };
    const marked = await markFormDeleted(client, form);
    if (marked.length === 0) throw await refusal(client, workspaceId, id);
    const [counted] = await countSubmissions(client, { workspace_id: workspaceId, form_id: id });
    const task = { workspaceId, id: newId(), kind: 'forms.delete', subjectId: id, by } as const;
    await startTask(client, { ...task, total: counted!.count }, { kind: removeFormJob, lane: removeFormJob });
  });
}

/** What a change says, checked; throws ApiError validation_error. */
export function readChange(change: FormChange): {
  form: Form;
  settings: Settings | undefined;
  password: PasswordChange;
} {
  const result = validateStructure(change.structure);
  if (!result.ok) {
    throw new ApiError('validation_error', 'The form structure is not valid.', {
      errors: result.errors.map((error) => ({ ...error, path: [...error.path] })),
    });
  }
  if (change.settings === undefined) return { form: result.form, settings: undefined, password: undefined };
  const checked = checkSettings(change.settings, result.form);
  if (!checked.ok)
    throw new ApiError('validation_error', 'The settings are not valid.', { errors: checked.errors });
  return {
    form: result.form,
    settings: withoutPassword(checked.settings),
    password: passwordIn(change.settings),
  };
}

/** @param structure as it was sent: that is stored. */
const versionOf = (form: Form, structure: unknown) => ({
  name: form.attrs.name,
  description: form.attrs.description ?? '',
  structure: JSON.stringify(structure),
  fields: describeFields(form),
});
