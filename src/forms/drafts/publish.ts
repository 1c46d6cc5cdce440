import { isDeepStrictEqual } from 'node:util';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { changeForm } from '../forms.ts';
import { now } from '#kit/clock.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { requireAnswerReader } from '../answer-settings.ts';
import { type BuilderForm, readBuilderForm, requireRevision } from './draft.ts';
import { lockForm, setFormStatus } from '../status.ts';

/** The working copy rests on the form's live version from now on. */
const rebaseDraft = statement(
  'rebase_draft',
  'workspace_id form_id',
  '',
  `update form_drafts d set base_version = f.version
   from forms f
   where d.workspace_id = $workspace_id and d.form_id = $form_id and f.workspace_id = d.workspace_id and f.id = d.form_id`,
);

/**
 * Who publishes, and what they saw when they decided to: the revisions of the working copy of which one must be its,
 * and the live version; what is left out may be any.
 */
type Publication = {
  workspaceId: string;
  formId: string;
  revisions: readonly number[] | null;
  version?: number | undefined;
  userId: string | null;
  caller: Pick<Scope, 'may'>;
};

/**
 * Makes the working copy the live version and the form published (docs/rules.md 5), in the way that the API's PUT does.
 * A copy that equals the live version makes no new one.
 * @throws ApiError as requirePublishable; validation_error with the path of every problem.
 */
export async function publishWorkingCopy(database: Database, publication: Publication): Promise<void> {
  const { workspaceId, formId, userId } = publication;
  await transaction(database, async (client) => {
    requireRow(await lockForm(client, { workspace_id: workspaceId, id: formId }));
    const found = await readBuilderForm(client, workspaceId, formId);
    await requirePublishable(found, publication);
    const { form, draft } = found;
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

/**
 * @throws ApiError conflict for an archived form; precondition_failed when the copy or the live version is not the one
 *   that was seen; forbidden where it would mail answers elsewhere and the caller may not read them.
 */
export async function requirePublishable(
  { form, draft }: BuilderForm,
  { revisions, version, caller }: Pick<Publication, 'revisions' | 'version' | 'caller'>,
): Promise<void> {
  if (form.status === 'archived')
    throw new ApiError('conflict', 'This form is archived. Restore it before you publish it.');
  requireRevision(draft, revisions);
  if (version !== undefined && form.version !== version)
    throw new ApiError('precondition_failed', 'The live form was changed after you compared with it.');
  await requireAnswerReader(caller, draft.settings, async () => form.settings);
}
