import { describeFields } from '#ast/describe.ts';
import { searchLanguages } from '#ast/languages.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { type Form, languagesOf } from '#ast/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { Unchanged } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import type { AuditLine } from '#kit/operation.ts';
import { enqueueJob } from '#kit/queue.ts';
import type { Queryable } from '#kit/statement.ts';
import { lineValues } from '#workspaces/audit/audit-log.ts';
import { claimImages } from './images/images.ts';
import { type PasswordChange, passwordIn, storedPassword, withoutPassword } from './password.ts';
import { findForm, type FormStatus, insertForm, markFormDeleted, updateForm } from './queries.ts';

/** The job that removes a deleted form's submissions (src/submissions/remove-form.ts). */
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

/**
 * Deletes a form for good: it and its submissions answer 404 from now on; they are removed, and their
 * `submission.deleted` events fired, in batches behind (docs/rules.md 4). The caller wakes the queue.
 * @throws ApiError not_found, precondition_failed.
 */
export async function deleteForm(
  database: Database,
  workspaceId: string,
  id: string,
  unchanged: Unchanged = null,
): Promise<void> {
  await transaction(database, async (client) => {
    const form = { workspace_id: workspaceId, id, unchanged, now: now() };
    const marked = await markFormDeleted(client, form);
    if (marked.length === 0) throw await refusal(client, workspaceId, id);
    await enqueueJob(client, {
      workspace_id: workspaceId,
      id: newId(),
      kind: removeFormJob,
      lane: removeFormJob,
      payload: { form_id: id },
      delay: 0,
    });
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
