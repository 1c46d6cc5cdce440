import { isRecord, own } from '#ast/json.ts';
import type { Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { type Database, transaction } from '#kit/database.ts';
import { saveFirstCopy } from './drafts/draft.ts';
import { createForm } from './forms.ts';
import { judgeForm } from './check/judge.ts';
import { findMissingImages } from './images/images.ts';

/** What is taken in, complete or not, and by whom. */
type Import = { workspaceId: string; structure: object; settings: Settings; userId: string | null };

/**
 * Makes a draft of what was exported, here or elsewhere. What is incomplete, as a draft may be, becomes the working copy
 * of an empty form. Images that this workspace does not have are left out, and named.
 */
export async function importForm(database: Database, { workspaceId, structure, settings, userId }: Import) {
  const missing = (await findMissingImages(database, workspaceId, { settings })).map(({ field }) => field!);
  const kept = withoutImages(settings, missing);
  const document = { structure, settings: kept };
  const { problems } = await judgeForm(database, workspaceId, document);
  if (problems.length === 0)
    return {
      row: await createForm(database, workspaceId, { ...document, changedBy: userId }),
      structure,
      missing,
    };
  return transaction(database, async (client) => {
    const empty = emptyForm(structure);
    const row = await createForm(client, workspaceId, { structure: empty, changedBy: userId });
    await saveFirstCopy(client, { ...document, workspaceId, formId: row.id, userId });
    return { row, structure: empty, missing };
  });
}

/** Settings without the keys of a theme that name images which are not there (`theme.logo`). */
export function withoutImages(settings: Settings, missing: readonly string[]): Settings {
  if (missing.length === 0 || !settings.theme) return settings;
  const theme = Object.entries(settings.theme).filter(([key]) => !missing.includes(`theme.${key}`));
  return { ...settings, theme: Object.fromEntries(theme) };
}

/** A form of nothing but the name of what is not one yet, where it has one. */
function emptyForm(structure: object): object {
  const attrs = own(structure as Record<string, unknown>, 'attrs');
  const called = (name: unknown) => ({
    type: 'form',
    attrs: { name },
    children: [{ type: 'step', attrs: {}, children: [] }],
  });
  const named = called(isRecord(attrs) ? own(attrs, 'name') : undefined);
  return validateStructure(named).ok ? named : called('Untitled form');
}
