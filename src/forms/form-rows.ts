import { effectiveForm, fillNodes } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { tagOf } from '#kit/replies/tag-of.ts';
import { type Column, columns, jsonb, type Queryable, requireRow, statement, word } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';

/** A structure as it was sent, with `attrs` and `children` at every node: for answers of the API. */
export const sentStructure: Column<object> = { pg: 'json', read: (value) => fillNodes(value) as object };

/** A structure as it is understood (ast/effective-form.ts): for everything that works with the form. */
export const formTree: Column<Form> = { pg: 'json', read: (value) => effectiveForm(value as object) };

/** The columns of every answer about a form. */
export const formColumns = columns('id workspace_id name description created_at updated_at published_at?', {
  status: word<FormStatus>(),
});

/** How many submissions the form `f` has. */
export const submissionCount = `(
  select coalesce(sum(count), 0)::bigint from submission_counts c
  where c.workspace_id = f.workspace_id and c.form_id = f.id)`;

export const findForm = statement(
  'find_form',
  'workspace_id id',
  ['submission_count', { settings: jsonb<Settings>(), structure: sentStructure }, formColumns],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          f.settings, v.structure, ${submissionCount} as submission_count
   from forms f join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`,
);

/** Of a form that is there. */
export const findFormSettings = statement(
  'find_form_settings',
  'workspace_id id',
  { settings: jsonb<Settings>() },
  'select settings from forms where workspace_id = $workspace_id and id = $id and deleted_at is null',
);

/** A form of a workspace. @throws ApiError not_found, for that of another workspace as for none. */
export async function requireForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findForm(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found;
}

/** The same without reading what it asks: its settings. @throws ApiError not_found. */
export async function requireFormSettings(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findFormSettings(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found.settings;
}

/** The key of a form that is there, and within reach of who asks. @throws ApiError not_found. */
export async function reachForm(
  db: Queryable,
  { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
  formId: string,
): Promise<{ workspaceId: string; formId: string }> {
  requireReach(formIds, formId);
  await requireFormSettings(db, { workspaceId, formId });
  return { workspaceId, formId };
}

/** Specification, "Form status". */
export type FormStatus = 'draft' | 'published' | 'archived';

/** Where a form's pages are. docs/rules.md 18. */
export type FormAddresses = { publicUrl: string };
export const publicUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/f/${formId}`;
const builderUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/app/forms/${formId}`;

type FormRow = {
  id: string;
  workspace_id: string;
  name: string;
  description: string;
  status: FormStatus;
  created_at: Date;
  updated_at: Date;
  published_at: Date | null;
};

const summary = ({ id, workspace_id, name, description, status }: FormRow) => ({
  id,
  workspace_id,
  name,
  description,
  status,
});
const times = ({ created_at, updated_at, published_at }: FormRow) => ({
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
  published_at: published_at && published_at.toISOString(),
});

export const presentListItem = (row: FormRow & { submission_count: number }) => ({
  ...summary(row),
  submission_count: row.submission_count,
  ...times(row),
});

/** As Get form shows it: `settings.access` says what holds, also where nobody set it (specification, "Form"). */
export const presentForm = (
  row: FormRow & { structure: object; settings: object; submission_count: number },
) => ({
  ...summary(row),
  structure: row.structure,
  settings: { access: 'public', ...row.settings },
  submission_count: row.submission_count,
  ...times(row),
});

export const presentCreated = (row: FormRow, structure: object, addresses: FormAddresses) => ({
  ...summary(row),
  structure: fillNodes(structure) as object,
  public_url: publicUrlOf(addresses, row.id),
  builder_url: builderUrlOf(addresses, row.id),
  ...times(row),
});

/** A form as it is shown, with its ETag. @throws ApiError not_found. */
export async function readForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const row = await requireForm(db, key);
  return { body: presentForm(row), tag: tagOf(row.updated_at, row.submission_count) };
}

/** A form that visitors do not see, or never saw, is called what its working copy is called. */
export const draftJoin = `left join form_drafts d
     on d.workspace_id = f.workspace_id and d.form_id = f.id and (f.status = 'draft' or f.published_at is null)`;
export const shownName = `coalesce(d.name, f.name)`;

/** A form, kept from changing until the transaction ends. What is read of it in later statements is as it is then. */
export const lockForm = statement(
  'lock_form',
  'workspace_id id',
  ['version updated_at', { status: word<FormStatus>() }],
  `select status, version, updated_at from forms
   where workspace_id = $workspace_id and id = $id and deleted_at is null for update`,
);

/** Status alone, without a version: what visitors would see did not change. published_at as in update_form. */
export const setFormStatus = statement(
  'set_form_status',
  ['workspace_id id now', { status: word<FormStatus>() }],
  'id',
  `update forms set
     status = $status, updated_at = greatest($now, updated_at + interval '1 ms'),
     published_at = case when $status = 'published' and (status <> 'published' or published_at is null)
                         then $now else published_at end
   where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`,
);

/** What is done to a form as a whole (docs/rules.md 5): from where, and where to. Publishing has its own way. */
const changes = {
  unpublish: { from: ['published'], to: 'draft' },
  archive: { from: ['draft', 'published'], to: 'archived' },
  restore: { from: ['archived'], to: 'draft' },
} as const satisfies Record<string, { from: readonly FormStatus[]; to: FormStatus }>;
export type StatusChange = keyof typeof changes;

/**
 * Unpublishes, archives, or restores a form; its live version stays. What is done already succeeds again.
 * @throws ApiError not_found; precondition_failed; conflict when it cannot be done to a form of its status.
 */
export async function changeStatus(
  database: Database,
  workspaceId: string,
  id: string,
  change: StatusChange,
  unchanged: Unchanged = null,
): Promise<void> {
  const { from, to }: { from: readonly FormStatus[]; to: FormStatus } = changes[change];
  await transaction(database, async (client) => {
    const form = requireRow(await lockForm(client, { workspace_id: workspaceId, id }));
    requireUnchanged(unchanged, form.updated_at);
    if (form.status === to) return;
    if (!from.includes(form.status))
      throw new ApiError('conflict', `This does not go with a form that is ${form.status}.`);
    await setFormStatus(client, { workspace_id: workspaceId, id, status: to, now: now() });
  });
}

/** A change of a form's password: undefined leaves it, null takes it away, a text is the new one. */
export type PasswordChange = string | null | undefined;

/** Settings without the password, which is written and never shown. */
export function withoutPassword(settings: Settings): Settings {
  const { password: _, ...shown } = settings;
  return shown;
}

/** What settings as they were sent say of the password. Left out, it stays: they were read without it. */
export function passwordIn(sent: unknown): PasswordChange {
  if (typeof sent !== 'object' || sent === null || !Object.hasOwn(sent, 'password')) return undefined;
  const { password } = sent as { password: unknown };
  return typeof password === 'string' ? password : null;
}

/** What is stored of a change: the hash (scrypt, as of people's passwords), and whether it replaces the one there. */
export const storedPassword = async (
  change: PasswordChange,
): Promise<{ changes_password: boolean; password_hash: string | null }> => ({
  changes_password: change !== undefined,
  password_hash: typeof change === 'string' ? await hashPassword(change) : null,
});
