import { type Database, transaction } from '#kit/database.ts';
import { createForm } from '../forms.ts';
import { type DraftChange, readBuilderForm, saveFirstCopy } from './draft.ts';

/** What becomes a form of its own, and who wants it. */
type CopyRequest = Pick<DraftChange, 'workspaceId' | 'formId' | 'structure' | 'settings' | 'userId'>;

/**
 * A new draft form whose working copy is what is sent, complete or not: how an editor keeps what another one's save
 * was in the way of. Its first version is the live one of the form that it comes from.
 * @throws ApiError not_found, validation_error.
 */
export async function copyAsNewForm(database: Database, request: CopyRequest): Promise<{ id: string }> {
  const { workspaceId, formId, ...copy } = request;
  return transaction(database, async (client) => {
    const { form } = await readBuilderForm(client, workspaceId, formId);
    const { id } = await createForm(client, workspaceId, {
      structure: form.structure,
      settings: form.settings,
      changedBy: copy.userId,
    });
    await saveFirstCopy(client, { ...copy, workspaceId, formId: id });
    return { id };
  });
}
