import { addMissingNodeMembers, effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestScope } from '#kit/operation.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import {
  columns,
  jsonb,
  type Queryable,
  requireRow,
  type StatementColumn,
  statement,
  textEnum,
} from '#kit/statement.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { linkDomainSql } from '#workspaces/domains.ts';

/** A structure as it was sent, with `attrs` and `children` added at every node, for responses of the API. */
export const sentStructureColumn: StatementColumn<object> = {
  pg: 'json',
  read: (value) => addMissingNodeMembers(value) as object,
};

/** A structure as an effective form (ast/form/effective-form.ts), for all code that works with the form. */
export const effectiveFormColumn: StatementColumn<Form> = {
  pg: 'json',
  read: (value) => effectiveForm(value as object),
};

/** The columns of every response about a form. */
export const formColumns = columns(
  'id workspace_id name description labels created_at updated_at published_at?',
  {
    status: textEnum<FormStatus>(),
  },
);

/** SQL for the number of submissions of the form `f`. */
export const submissionCountSql = `(
  select coalesce(sum(count), 0)::bigint from submission_counts c
  where c.workspace_id = f.workspace_id and c.form_id = f.id)`;

export const findForm = statement('workspace_id id', [
  'submission_count',
  { settings: jsonb<Settings>(), structure: sentStructureColumn },
  formColumns,
])`
  select f.id, f.workspace_id, f.name, f.description, f.status, f.labels, f.created_at, f.updated_at, f.published_at,
         f.settings, v.structure, ${submissionCountSql} as submission_count
  from forms f join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
  where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`;

export const findFormSettings = statement('workspace_id id', {
  settings: jsonb<Settings>(),
})`
  select settings from forms where workspace_id = $workspace_id and id = $id and deleted_at is null`;

/** Returns a form of a workspace. @throws ApiError not_found, also for a form of another workspace. */
export async function requireForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findForm(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found;
}

/** Returns the settings of a form without reading its structure. @throws ApiError not_found. */
export async function requireFormSettings(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findFormSettings(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found.settings;
}

/**
 * Checks that a form exists and that the caller may use it, and returns its key. @throws ApiError not_found.
 */
export async function requireReachableForm(
  db: Queryable,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  formId: string,
): Promise<{ workspaceId: string; formId: string }> {
  requireFormAccess(formIds, formId);
  await requireFormSettings(db, { workspaceId, formId });
  return { workspaceId, formId };
}

/** The status of a form (specification, "Form status"). */
export type FormStatus = 'draft' | 'published' | 'archived';

/** The base URL of public pages and the builder (docs/rules.md 18). */
export type FormAddresses = { publicUrl: string };

/** What the public URL of a form consists of: its workspace's domain, and its short address or else its ID. */
type PublicAddress = { id: string; domain: string | null; slug?: string | null | undefined };

/** The columns of the public address of a form `f`, and their SQL. */
export const publicAddressColumns = columns('domain:text? slug:text?');
export const publicAddressSql = `${linkDomainSql('f.workspace_id')} as domain, f.settings ->> 'slug' as slug`;

/** Returns the origin of public links of a workspace. Its own domain is always served over https. */
export const publicOriginOf = (
  { publicUrl }: FormAddresses,
  { domain }: Pick<PublicAddress, 'domain'>,
): string => (domain === null ? publicUrl : `https://${domain}`);

export const publicUrlOf = (addresses: FormAddresses, form: PublicAddress): string =>
  `${publicOriginOf(addresses, form)}/f/${form.slug ?? form.id}`;

const findPublicAddress = statement('workspace_id id', publicAddressColumns)`
  select ${publicAddressSql} from forms f where f.workspace_id = $workspace_id and f.id = $id`;

/** Returns the public URL of a form. @throws ApiError not_found. */
export async function readPublicUrl(
  db: Queryable,
  addresses: FormAddresses,
  { workspaceId, formId: id }: { workspaceId: string; formId: string },
): Promise<string> {
  const found = requireRow(await findPublicAddress(db, { workspace_id: workspaceId, id }));
  return publicUrlOf(addresses, { id, ...found });
}

const builderUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/app/forms/${formId}`;

type FormRow = {
  id: string;
  workspace_id: string;
  name: string;
  description: string;
  status: FormStatus;
  labels: string[];
  created_at: Date;
  updated_at: Date;
  published_at: Date | null;
};

const summary = ({ id, workspace_id, name, description, status, labels }: FormRow) => ({
  id,
  workspace_id,
  name,
  description,
  status,
  labels,
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

/**
 * Formats a form as Get form returns it. `settings.access` is always included, with its default if unset
 * (specification, "Form").
 */
export const presentForm = (
  row: FormRow & { structure: object; settings: object; submission_count: number },
) => ({
  ...summary(row),
  structure: row.structure,
  settings: { access: 'public', ...row.settings },
  submission_count: row.submission_count,
  ...times(row),
});

export const presentCreated = (
  row: FormRow & PublicAddress,
  structure: object,
  addresses: FormAddresses,
) => ({
  ...summary(row),
  structure: addMissingNodeMembers(structure) as object,
  public_url: publicUrlOf(addresses, row),
  builder_url: builderUrlOf(addresses, row.id),
  ...times(row),
});

/** Returns a form as the API shows it, with its ETag. @throws ApiError not_found. */
export async function readForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const row = await requireForm(db, key);
  return { body: presentForm(row), tag: formatEtag(row.updated_at, row.submission_count) };
}

/** Joins the working copy, which provides the name of a form that is a draft or was never published. */
export const draftJoin = `left join form_drafts d
     on d.workspace_id = f.workspace_id and d.form_id = f.id and (f.status = 'draft' or f.published_at is null)`;
export const formNameSql = `coalesce(d.name, f.name)`;

/** Locks a form until the transaction ends, so that later statements read it unchanged. */
export const lockForm = statement('workspace_id id', [
  'version updated_at',
  { status: textEnum<FormStatus>() },
])`
  select status, version, updated_at from forms
  where workspace_id = $workspace_id and id = $id and deleted_at is null for update`;

/**
 * Sets only the status. There is no new version, because the form itself does not change. published_at is set
 * as in update_form.
 */
export const setFormStatus = statement(['workspace_id id now', { status: textEnum<FormStatus>() }], 'id')`
  update forms set
    status = $status, updated_at = greatest($now, updated_at + interval '1 ms'),
    published_at = case when $status = 'published' and (status <> 'published' or published_at is null)
                        then $now else published_at end
  where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`;

/**
 * For each status change, the statuses from which it is allowed and the resulting status (docs/rules.md 5).
 * Publishing has its own function.
 */
const changes = {
  unpublish: { from: ['published'], to: 'draft' },
  archive: { from: ['draft', 'published'], to: 'archived' },
  restore: { from: ['archived'], to: 'draft' },
} as const satisfies Record<string, { from: readonly FormStatus[]; to: FormStatus }>;
export type StatusChange = keyof typeof changes;

/**
 * Unpublishes, archives or restores a form. Its live version stays. Repeating a change succeeds.
 * @throws ApiError not_found; precondition_failed; conflict if the form's status does not allow the change.
 */
export async function changeFormStatus(
  database: Database,
  workspaceId: string,
  id: string,
  change: StatusChange,
  unchanged: IfMatchTimes = null,
): Promise<void> {
  const { from, to }: { from: readonly FormStatus[]; to: FormStatus } = changes[change];
  await transaction(database, async (client) => {
    const form = requireRow(await lockForm(client, { workspace_id: workspaceId, id }));
    requireUnchanged(unchanged, form.updated_at);
    if (form.status === to) return;
    if (!from.includes(form.status))
      throw new ApiError('conflict', `A form with the status "${form.status}" does not allow this change.`);
    await setFormStatus(client, { workspace_id: workspaceId, id, status: to, now: now() });
  });
}

/** A change to a form's password: undefined keeps it, null removes it, a string sets it. */
export type PasswordChange = string | null | undefined;

/** Returns settings without the password, which is write-only. */
export function withoutPassword(settings: Settings): Settings {
  const { password: _, ...shown } = settings;
  return shown;
}

/**
 * Returns the password change in the settings of a request. An omitted password is kept, because settings are
 * returned without it.
 */
export function readPasswordChange(sent: unknown): PasswordChange {
  if (typeof sent !== 'object' || sent === null || !Object.hasOwn(sent, 'password')) return undefined;
  const { password } = sent as { password: unknown };
  return typeof password === 'string' ? password : null;
}

/**
 * Returns what to store for a change: the hash (scrypt, as for accounts), and whether it replaces the stored
 * one.
 */
export const hashPasswordChange = async (
  change: PasswordChange,
): Promise<{ changes_password: boolean; password_hash: string | null }> => ({
  changes_password: change !== undefined,
  password_hash: typeof change === 'string' ? await hashPassword(change) : null,
});
