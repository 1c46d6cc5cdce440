import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { findForm } from './queries.ts';

/** A form of a workspace. @throws ApiError not_found, for that of another workspace as for none. */
export async function requireForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const [found] = await findForm(db, { workspace_id: key.workspaceId, id: key.formId });
  if (!found) throw new ApiError('not_found');
  return found;
}
