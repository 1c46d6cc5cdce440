import { isRecord, isSameJson, own } from '#ast/basics/json.ts';
import { changedSettings, mergeSettings, type SettingName, type Settings } from '#ast/settings.ts';
import { namesOrigin } from '#ast/settings-by-condition.ts';
import { now } from '#kit/clock.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { type Queryable, requireRow, statement } from '#kit/statement.ts';
import type { Permission } from '#rules/permissions.ts';
import { readBuilderForm, saveDraft } from './draft.ts';
import {
  type FormStatus,
  lockForm,
  passwordIn,
  requireFormSettings,
  setFormStatus,
  storedPassword,
} from './form-rows.ts';
import { changeForm, readChange } from './forms.ts';

/** The password that settings.access may ask for; null for none. It is part of no version. */
const setFormPassword = statement(
  'set_form_password',
  'workspace_id id password_hash? now',
  'id',
  `update forms set password_hash = $password_hash, updated_at = greatest($now, updated_at + interval '1 ms')
   where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`,
);

/** What changes settings: the changes, or what makes them of the settings as they are. */
type SettingsChange = object | ((settings: Settings) => object);

/**
 * Changes the named settings of the live form and leaves the others, so that two who change different ones lose
 * nothing. A null takes the setting away. It holds at once and makes a version; a password makes none. The working
 * copy gets the same change, except where it has another one of its own. Returns all settings but the password.
 * @throws ApiError not_found, validation_error with the name of each setting that does not hold.
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

/** The same for a form that the transaction has locked. */
async function changeLockedSettings(
  client: Queryable,
  { workspaceId, id, userId }: { workspaceId: string; id: string; userId?: string | undefined },
  given: SettingsChange,
): Promise<Settings> {
  const key = { workspace_id: workspaceId, id };
  const { form, draft } = await readBuilderForm(client, workspaceId, id);
  const changes = typeof given === 'function' ? given(form.settings) : given;
  const change = { structure: form.structure, settings: { ...form.settings, ...changes } };
  const { settings = {} } = readChange(change);
  if (changedSettings(form.settings, settings).length === 0) {
    const { changes_password, password_hash } = await storedPassword(passwordIn(changes));
    if (changes_password) await setFormPassword(client, { ...key, password_hash, now: now() });
    return settings;
  }
  await changeForm(client, workspaceId, id, {
    ...change,
    ...(userId !== undefined && { changedBy: userId }),
  });
  // A form without a saved copy is edited from its live version. One that is saved meanwhile rests on the old version,
  // which its editor is told.
  if (draft.revision > 0) {
    await saveDraft(client, {
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

/** Names a site in `embed_origins`; without a list so far, it is the only one from then on. @throws as changeSettings. */
export async function allowOrigin(
  database: Database,
  workspaceId: string,
  id: string,
  { origin, userId }: { origin: string; userId: string | undefined },
): Promise<void> {
  const named = ({ embed_origins: list = [] }: Settings) => ({
    embed_origins: namesOrigin(list, origin) ? list : [...list, origin],
  });
  await changeSettings(database, workspaceId, id, named, userId);
}

/** The settings that send answers to somebody who is not the visitor. */
const sendsAnswers = ['notification_email', 'notifications'] as const satisfies readonly SettingName[];

/**
 * Setting where answers go is reading them: it takes the permission for that. Who lacks it may leave such a setting as
 * it is, and clear it.
 * @param given as it was sent; what else is wrong with it is found elsewhere.
 * @param readCurrent the settings that the form has.
 * @throws ApiError forbidden, naming the setting and the permission.
 */
export async function requireAnswerReader(
  caller: Pick<Scope, 'may'>,
  given: unknown,
  readCurrent: () => Promise<Settings>,
): Promise<void> {
  const needed: Permission = 'submissions:read';
  if (caller.may(needed) || !isRecord(given)) return;
  for (const name of sendsAnswers) {
    const value = own(given, name) ?? null;
    if (value === null || isSameJson(value, (await readCurrent())[name])) continue;
    throw new ApiError(
      'forbidden',
      `The caller lacks the permission ${needed}, which setting "${name}" takes: answers are mailed there.`,
    );
  }
}

/** What a JSON merge patch makes of a value (RFC 7396): null takes a member away, an object goes into an object. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    // Not an assignment: a member may be called __proto__.
    else Object.defineProperty(merged, name, { ...writable, value: mergePatch(merged[name], value) });
  }
  return merged;
}

const writable = { writable: true, enumerable: true, configurable: true } as const;

/** A change of a form apart from its structure, by whom, and what it was made on. */
type FormPatch = {
  workspaceId: string;
  formId: string;
  settings?: object | undefined;
  status?: FormStatus | undefined;
  unchanged: Unchanged;
  userId: string | null;
  caller: Pick<Scope, 'may'>;
};

/**
 * Changes single settings and the status of a form at once; what is left out stays, so that two who change different
 * settings lose nothing. `published` makes what was live before, or was created, live again.
 * @throws ApiError not_found, precondition_failed, forbidden, validation_error with the name of each setting.
 */
export async function patchForm(database: Database, patch: FormPatch): Promise<void> {
  const { workspaceId, formId, status, userId } = patch;
  const key = { workspace_id: workspaceId, id: formId };
  await transaction(database, async (client) => {
    const form = requireRow(await lockForm(client, key));
    requireUnchanged(patch.unchanged, form.updated_at);
    if (patch.settings !== undefined) {
      const settings = await requireFormSettings(client, { workspaceId, formId });
      const changes = settingsAfter(settings, patch.settings);
      await requireAnswerReader(patch.caller, changes, async () => settings);
      await changeLockedSettings(client, { workspaceId, id: formId, userId: userId ?? undefined }, changes);
    }
    if (status !== undefined && status !== form.status)
      await setFormStatus(client, { ...key, status, now: now() });
  });
}

/** The settings that a merge patch names, as they are to be; null for one that goes. */
export const settingsAfter = (settings: Settings, patch: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [
      name,
      isRecord(value)
        ? mergePatch(Object.hasOwn(settings, name) ? settings[name as keyof Settings] : undefined, value)
        : value,
    ]),
  );
