import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestScope } from '#kit/operation.ts';
import { finishPageByPosition, readPageRequestByPosition } from '#kit/pagination.ts';
import { jsonb, nullable, requireRow, statement } from '#kit/statement.ts';
import { type BuilderForm, readBuilderForm, requireRevision } from './draft.ts';
import { lockForm, sentStructureColumn, setFormStatus } from './form-rows.ts';
import { changeForm } from './forms.ts';
import { requireAllowedSettings } from './settings.ts';

/** Lists one page of a form's versions, newest first. */
const listVersions = statement(
  'workspace_id form_id below_version:integer limit offset',
  'version name created_at created_by? is_live',
)`
  select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
  left join users u on u.id = v.created_by
  where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
    and v.version < $below_version
  order by v.version desc limit $limit offset $offset`;

/**
 * Versions are never removed individually, so the number of the live version is their count. Returns no row
 * if the form does not exist.
 */
const countVersions = statement('workspace_id form_id', 'total:integer')`
  select version as total from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null`;

export const findVersionDetails = statement('workspace_id form_id version', [
  'version name created_at created_by? is_live',
  { structure: sentStructureColumn, settings: nullable(jsonb<Settings>()) },
])`
  select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live, v.structure, v.settings
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
  left join users u on u.id = v.created_by
  where f.workspace_id = $workspace_id and f.id = $form_id and v.version = $version and f.deleted_at is null`;

/**
 * Returns a page of a form's versions, newest first, without structures.
 * @throws ApiError not_found.
 */
export async function listFormVersions(
  database: Database,
  workspaceId: string,
  formId: string,
  query: { page?: number; per_page?: number; cursor?: string },
) {
  const cut = readPageRequestByPosition(/^\d{1,9}$/, query, 'versions', formId);
  const form = { workspace_id: workspaceId, form_id: formId };
  const [found, [count]] = await Promise.all([
    listVersions(database, {
      ...form,
      below_version: cut.after === null ? 2_147_483_647 : Number(cut.after),
      limit: cut.limit,
      offset: cut.offset,
    }),
    countVersions(database, form),
  ]);
  if (!count) throw new ApiError('not_found');
  const { rows, ends } = finishPageByPosition(cut, found, cut.total ?? count.total, ({ version }) =>
    String(version),
  );
  return { data: [...rows], ...ends };
}

/**
 * Returns a version with its structure.
 * @throws ApiError not_found.
 */
export async function readVersion(database: Database, workspaceId: string, formId: string, version: number) {
  const row = requireRow(
    await findVersionDetails(database, { workspace_id: workspaceId, form_id: formId, version }),
  );
  return row;
}

/** Bases the working copy on the form's live version. */
const rebaseDraft = statement('workspace_id form_id', '')`
  update form_drafts d set base_version = f.version
  from forms f
  where d.workspace_id = $workspace_id and d.form_id = $form_id and f.workspace_id = d.workspace_id and f.id = d.form_id`;

/**
 * Who publishes, and the state that they saw: one of the revisions of the working copy, and the live version.
 * If omitted, any state is accepted.
 */
type Publication = {
  workspaceId: string;
  formId: string;
  revisions: readonly number[] | null;
  version?: number | undefined;
  userId: string | null;
  caller: Pick<RequestScope, 'may' | 'canSignIn'>;
};

/**
 * Makes the working copy the live version and publishes the form (docs/rules.md 5), as PUT does in the API. A
 * copy that equals the live version creates no new version.
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
    if (isSame)
      await setFormStatus(client, { workspace_id: workspaceId, id: formId, status: 'published', now: now() });
    else
      await changeForm(client, workspaceId, formId, {
        structure: draft.structure,
        settings: draft.settings,
        status: 'published',
        changedBy: userId,
      });
    await rebaseDraft(client, { workspace_id: workspaceId, form_id: formId });
  });
}

/**
 * @throws ApiError conflict if the form is archived; precondition_failed if the copy or the live version has
 * changed; forbidden if the copy sends answers elsewhere and the caller may not read them.
 */
export async function requirePublishable(
  { form, draft }: BuilderForm,
  { revisions, version, caller }: Pick<Publication, 'revisions' | 'version' | 'caller'>,
): Promise<void> {
  if (form.status === 'archived')
    throw new ApiError('conflict', 'This form is archived. Restore it before you publish it.');
  requireRevision(draft, revisions);
  if (version !== undefined && form.version !== version)
    throw new ApiError(
      'precondition_failed',
      'The live form has changed since you compared it. Compare it again.',
    );
  await requireAllowedSettings(caller, draft.settings, async () => form.settings);
}
