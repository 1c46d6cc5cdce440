import { defaultLanguage } from '#ast/languages.ts';
import { checkSettings, type Settings, settingsFor } from '#ast/settings.ts';
import type { Form } from '#ast/tree.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { claimImages } from './images/images.ts';
import { passwordIn, storedPassword, withoutPassword } from './password.ts';
import { lockForm, setFormSettings } from './queries.ts';

/**
 * Changes the named settings and leaves the others, so that two people who change different ones lose nothing. A
 * null takes the setting away. It holds at once; settings have no working copy. Returns all settings but the password.
 * @throws ApiError not_found, validation_error with the name of each setting that does not hold.
 */
export async function changeSettings(
  database: Database,
  workspaceId: string,
  id: string,
  changes: object,
): Promise<Settings> {
  return transaction(database, async (client) => {
    const [form] = await lockForm(client, { workspace_id: workspaceId, id });
    if (!form) throw new ApiError('not_found');
    // The structure was validated when it became the live version.
    const structure = form.structure as Form;
    const checked = checkSettings({ ...settingsFor(structure, form.settings), ...changes }, structure);
    if (!checked.ok)
      throw new ApiError('validation_error', 'The settings are not valid.', { errors: checked.errors });
    const settings = withoutPassword(checked.settings);
    await claimImages(client, workspaceId, settings);
    await setFormSettings(client, {
      workspace_id: workspaceId,
      id,
      settings,
      ...(await storedPassword(passwordIn(changes))),
      language: settings.language ?? defaultLanguage,
      now: now(),
    });
    return settings;
  });
}
