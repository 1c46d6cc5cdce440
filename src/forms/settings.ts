import { changedSettings, mergeSettings, type Settings } from '#ast/settings.ts';
import { namesOrigin } from '#ast/settings-by-condition.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type Queryable, requireRow, statement } from '#kit/statement.ts';
import { readBuilderForm, saveDraft } from './drafts/draft.ts';
import { changeForm, readChange } from './forms.ts';
import { passwordIn, storedPassword } from './password.ts';
import { lockForm } from './status.ts';

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
export async function changeLockedSettings(
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
