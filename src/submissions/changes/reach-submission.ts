import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { only, statement } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import type { FormKey } from './event.ts';

/** The form of a submission, and whether it lies in the trash. */
const findPlace = statement(
  'submissions.find_place',
  'workspace_id id',
  'form_id is_trashed',
  `select s.form_id, s.trashed_at is not null as is_trashed from submissions s
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and f.deleted_at is null`,
);

/**
 * Where a submission lies, for a caller who reaches its form.
 * @param where whether it must lie in the trash, must not, or may.
 * @throws ApiError not_found.
 */
export async function reachSubmission(
  database: Database,
  { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
  id: string,
  where: 'live' | 'trash' | 'anywhere' = 'live',
): Promise<FormKey & { id: string }> {
  const found = only(await findPlace(database, { workspace_id: workspaceId, id }));
  if (!found || (where !== 'anywhere' && found.is_trashed !== (where === 'trash')))
    throw new ApiError('not_found');
  requireReach(formIds, found.form_id);
  return { workspaceId, formId: found.form_id, id };
}
