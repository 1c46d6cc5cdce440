import { limits } from '#ast/limits.ts';
import { cutToBytes } from '#ast/text.ts';
import type { FormNode } from '#ast/tree.ts';
import { type Database, transaction } from '#kit/database.ts';
import { createForm } from '../forms.ts';
import { readBuilderForm, saveFirstCopy } from './draft.ts';

const suffix = ' (copy)';

/**
 * A draft form like another one: its live version and its working copy where it has one, with their settings, each
 * under the name with "(copy)" behind it. Submissions and webhooks stay with the original.
 * @throws ApiError not_found.
 */
export async function duplicateForm(
  database: Database,
  { workspaceId, formId, userId }: { workspaceId: string; formId: string; userId: string | null },
): Promise<{ id: string }> {
  return transaction(database, async (client) => {
    const { form, draft } = await readBuilderForm(client, workspaceId, formId);
    const { id } = await createForm(client, workspaceId, {
      structure: renamed(form.structure),
      settings: form.settings,
      changedBy: userId,
    });
    if (draft.revision > 0) {
      await saveFirstCopy(client, {
        workspaceId,
        formId: id,
        structure: renamed(draft.structure),
        settings: draft.settings,
        userId,
      });
    }
    return { id };
  });
}

/** A working copy may have lost its name; then there is nothing to add to. */
function renamed(structure: object): object {
  const { attrs, ...rest } = structure as FormNode;
  const name = attrs?.['name'];
  if (typeof name !== 'string') return structure;
  return {
    ...rest,
    attrs: { ...attrs, name: `${cutToBytes(name, limits.labelBytes - suffix.length)}${suffix}` },
  };
}
