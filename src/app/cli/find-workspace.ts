import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import {
  findWorkspaceOfDelivery,
  findWorkspaceOfForm,
  findWorkspaceOfKey,
  findWorkspaceOfReplay,
  findWorkspaceOfWebhook,
} from './queries.ts';

/** What the command line names by an id alone, and where its workspace is found. */
const finders = {
  'API key': findWorkspaceOfKey,
  form: findWorkspaceOfForm,
  webhook: findWorkspaceOfWebhook,
  delivery: findWorkspaceOfDelivery,
  replay: findWorkspaceOfReplay,
} as const;

/** @throws ApiError not_found when there is nothing of this kind with this id in any workspace. */
export async function findWorkspace(
  database: Database,
  kind: keyof typeof finders,
  id: string,
): Promise<string> {
  const found = only(await finders[kind](database, { id }));
  if (!found) throw new ApiError('not_found', `There is no ${kind} ${id}.`);
  return found.workspace_id;
}
