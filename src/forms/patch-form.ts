import { isRecord } from '#ast/json.ts';
import type { Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { Scope } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { requireAnswerReader } from './answer-settings.ts';
import { requireFormSettings } from './require-form.ts';
import { changeLockedSettings } from './settings.ts';
import type { FormStatus } from './present.ts';
import { lockForm, setFormStatus } from './status.ts';

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
