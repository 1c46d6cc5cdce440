import { isDeepStrictEqual } from 'node:util';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { changeForm } from '../forms.ts';
import { lockForm, setFormStatus } from '../queries.ts';
import { now } from '#kit/clock.ts';
import { changedMeanwhile, readBuilderForm } from './draft.ts';
import { rebaseDraft } from './queries.ts';

/** What the person saw when they decided to publish: the working copy's revision and the live version. */
export type Publication = {
  workspaceId: string;
  formId: string;
  revision: number;
  version: number;
  userId: string;
};

/**
 * Makes the working copy the live version and the form published (docs/rules.md 5), in the way that the API's PUT does.
 * A copy that equals the live version makes no new one.
 * @throws ApiError not_found; conflict for an archived form; precondition_failed when the copy or the live version
 *   is not the one that was seen; validation_error with the path of every problem.
 */
export async function publishWorkingCopy(database: Database, publication: Publication): Promise<void> {
  const { workspaceId, formId, userId } = publication;
  await transaction(database, async (client) => {
    const [locked] = await lockForm(client, { workspace_id: workspaceId, id: formId });
    if (!locked) throw new ApiError('not_found');
    if (locked.status === 'archived')
      throw new ApiError('conflict', 'This form is archived. Restore it before you publish it.');
    const { form, draft } = await readBuilderForm(client, workspaceId, formId);
    if (draft.revision !== publication.revision) throw changedMeanwhile(draft);
    if (locked.version !== publication.version) {
      throw new ApiError('precondition_failed', 'The live form was changed after you compared with it.');
    }
    const isSame =
      JSON.stringify(draft.structure) === JSON.stringify(form.structure) &&
      isDeepStrictEqual(draft.settings, form.settings);
    if (isSame) {
      await setFormStatus(client, { workspace_id: workspaceId, id: formId, status: 'published', now: now() });
    } else {
      await changeForm(client, workspaceId, formId, {
        structure: draft.structure,
        settings: draft.settings,
        status: 'published',
        changedBy: userId,
      });
    }
    await rebaseDraft(client, { workspace_id: workspaceId, form_id: formId });
  });
}
