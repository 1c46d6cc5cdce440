import { getProperty, isRecord, isSameJson } from '#ast/basics/json.ts';
import { changedSettings, mergeSettings, type SettingName, type Settings } from '#ast/settings.ts';
import { includesOrigin } from '#ast/settings-by-condition.ts';
import { now } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { RequestScope } from '#kit/operation.ts';
import { type Queryable, requireRow, statement } from '#kit/statement.ts';
import type { Permission } from '#rules/permissions.ts';
import { readBuilderForm, saveDraftRevision } from './draft.ts';
import {
  type FormStatus,
  hashPasswordChange,
  lockForm,
  readPasswordChange,
  requireFormSettings,
  setFormStatus,
} from './form-rows.ts';
import { changeForm, validateFormChange } from './forms.ts';

/** Sets the password that settings.access may require; null removes it. No version includes it. */
const setFormPassword = statement('workspace_id id password_hash? now', 'id')`
  update forms set password_hash = $password_hash, updated_at = greatest($now, updated_at + interval '1 ms')
  where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`;

/** Sets the labels, unless the form has them already. No version includes them. */
const setFormLabels = statement('workspace_id id labels now', '')`
  update forms set labels = $labels, updated_at = greatest($now, updated_at + interval '1 ms')
  where workspace_id = $workspace_id and id = $id and labels <> $labels`;

/** A change to settings: the changed settings, or a function that returns them for the current ones. */
type SettingsChange = object | ((settings: Settings) => object);

/**
 * Changes the given settings of the live form and keeps the others, so that concurrent changes of different
 * settings lose nothing. Null removes a setting. The change is live immediately and creates a version; a
 * password creates none. The working copy gets the change too, unless it has changed that setting itself.
 * Returns all settings except the password.
 * @throws ApiError not_found, validation_error with the name of each invalid setting.
 */
export async function changeSettings(
  database: Database,
  workspaceId: string,
  id: string,
  given: SettingsChange,
  userId?: string,
): Promise<Settings> {
  return transaction(database, async (client) => {
    requireRow(await lockForm(client, { workspace_id: workspaceId, id }));
    return changeLockedSettings(client, { workspaceId, id, userId }, given);
  });
}

/** Changes settings of a form that the transaction has locked. */
async function changeLockedSettings(
  client: Queryable,
  { workspaceId, id, userId }: { workspaceId: string; id: string; userId?: string | undefined },
  given: SettingsChange,
): Promise<Settings> {
  const key = { workspace_id: workspaceId, id };
  const { form, draft } = await readBuilderForm(client, workspaceId, id);
  const changes = typeof given === 'function' ? given(form.settings) : given;
  const change = { structure: form.structure, settings: { ...form.settings, ...changes } };
  const { settings = {} } = validateFormChange(change);
  if (changedSettings(form.settings, settings).length === 0) {
    const { changes_password, password_hash } = await hashPasswordChange(readPasswordChange(changes));
    if (changes_password) await setFormPassword(client, { ...key, password_hash, now: now() });
    return settings;
  }
  await changeForm(client, workspaceId, id, {
    ...change,
    ...(userId !== undefined && { changedBy: userId }),
  });
  // A form without a saved copy is edited from its live version. A copy that is saved in the meantime stays
  // based on the old version, and its editor is warned.
  if (draft.revision > 0) {
    await saveDraftRevision(client, {
      workspace_id: workspaceId,
      form_id: id,
      revisions: [draft.revision],
      structure: JSON.stringify(draft.structure),
      settings: mergeSettings(form.settings, draft.settings, settings).settings,
      base_version: draft.base_version === form.version ? form.version + 1 : draft.base_version,
      saved_by: userId ?? null,
      now: now(),
    });
  }
  return settings;
}

/**
 * Adds a site to `embed_origins`. If there was no list, only this site can embed the form from now on.
 * @throws as changeSettings.
 */
export async function allowOrigin(
  database: Database,
  workspaceId: string,
  id: string,
  { origin, userId }: { origin: string; userId: string | undefined },
): Promise<void> {
  const named = ({ embed_origins: list = [] }: Settings) => ({
    embed_origins: includesOrigin(list, origin) ? list : [...list, origin],
  });
  await changeSettings(database, workspaceId, id, named, userId);
}

/** Settings that send answers to people other than the visitor. */
const sendsAnswers = ['notification_email', 'notifications'] as const satisfies readonly SettingName[];

/** Returns the permissions that a setting gives to the people whom it emails: an edit link lets them change answers. */
const permissionsOf = (value: unknown): readonly Permission[] =>
  JSON.stringify(value).includes('edit_url')
    ? ['submissions:read', 'submissions:write']
    : ['submissions:read'];

/** Returns the problem of settings that let people sign in on an instance without an identity provider. */
export const findProviderProblems = (
  { canSignIn }: Pick<RequestScope, 'canSignIn'>,
  settings: unknown,
): ErrorItem[] =>
  canSignIn !== false || !isRecord(settings) || getProperty(settings, 'access') !== 'organisation'
    ? []
    : [
        {
          field: 'access',
          message:
            '"access" can be "organisation" only if the server has an identity provider (OIDC_ISSUER).',
          code: 'invalid_choice',
        },
      ];

/**
 * Requires the permission to read answers from a caller who changes where answers are sent. Other callers can
 * only keep or clear these settings. Also requires an identity provider if people must sign in to respond.
 * @param given the settings as they were sent; other problems are found elsewhere.
 * @param readCurrent returns the current settings of the form.
 * @throws ApiError forbidden, naming the setting and the permission; validation_error.
 */
export async function requireAllowedSettings(
  caller: Pick<RequestScope, 'may' | 'canSignIn'>,
  given: unknown,
  readCurrent: () => Promise<Settings>,
): Promise<void> {
  if (!isRecord(given)) return;
  const errors = findProviderProblems(caller, given);
  if (errors.length > 0 && (await readCurrent()).access !== 'organisation')
    throw new ApiError('validation_error', 'The settings are not valid.', { errors });
  for (const name of sendsAnswers) {
    const value = getProperty(given, name) ?? null;
    const needed = permissionsOf(value).find((permission) => !caller.may(permission));
    if (value === null || !needed || isSameJson(value, (await readCurrent())[name])) continue;
    throw new ApiError(
      'forbidden',
      `The setting "${name}" sends answers by email, so it requires the permission ${needed}.`,
    );
  }
}

/** Applies a JSON merge patch to a value (RFC 7396): null removes a member, and objects are merged. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete merged[name];
    // Not an assignment, because a member may be named __proto__.
    else Object.defineProperty(merged, name, { ...writable, value: mergePatch(merged[name], value) });
  return merged;
}

const writable = { writable: true, enumerable: true, configurable: true } as const;

/** A change to a form's settings, status or labels, with its author and the state that it is based on. */
type FormPatch = {
  workspaceId: string;
  formId: string;
  settings?: object | undefined;
  status?: FormStatus | undefined;
  labels?: string[] | undefined;
  unchanged: IfMatchTimes;
  userId: string | null;
  caller: Pick<RequestScope, 'may' | 'canSignIn'>;
};

/**
 * Changes individual settings, the status and the labels of a form. Omitted settings are kept, so that concurrent changes
 * of different settings lose nothing. The status `published` makes the current version live.
 * @throws ApiError not_found, precondition_failed, forbidden, validation_error with the name of each setting.
 */
export async function patchForm(database: Database, patch: FormPatch): Promise<void> {
  const { workspaceId, formId, status, labels, userId } = patch;
  const key = { workspace_id: workspaceId, id: formId };
  await transaction(database, async (client) => {
    const form = requireRow(await lockForm(client, key));
    requireUnchanged(patch.unchanged, form.updated_at);
    if (patch.settings !== undefined) {
      const settings = await requireFormSettings(client, { workspaceId, formId });
      const changes = patchedSettingsOf(settings, patch.settings);
      await requireAllowedSettings(patch.caller, changes, async () => settings);
      await changeLockedSettings(client, { workspaceId, id: formId, userId: userId ?? undefined }, changes);
    }
    if (status !== undefined && status !== form.status)
      await setFormStatus(client, { ...key, status, now: now() });
    if (labels) await setFormLabels(client, { ...key, labels, now: now() });
  });
}

/** Returns the new values of the settings that a merge patch names; null for a removed setting. */
export const patchedSettingsOf = (settings: Settings, patch: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [
      name,
      isRecord(value)
        ? mergePatch(Object.hasOwn(settings, name) ? settings[name as keyof Settings] : undefined, value)
        : value,
    ]),
  );
