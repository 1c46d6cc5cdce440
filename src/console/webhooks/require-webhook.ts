import { ApiError } from '#kit/errors.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { findWebhookOfForm } from './queries.ts';

/** @throws ApiError not_found when the form of the path has no webhook of this id. */
export async function requireWebhook(
  db: Queryable,
  workspaceId: string,
  params: { form: string; webhook: string },
): Promise<void> {
  const webhook = { workspace_id: workspaceId, form_id: params.form, id: params.webhook };
  if (!only(await findWebhookOfForm(db, webhook))) throw new ApiError('not_found');
}
