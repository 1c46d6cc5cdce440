import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type FormStatus, lockForm, setFormStatus } from './queries.ts';

/** Where a person may take a form from each status (docs/rules.md 5). To `published` leads publishing alone. */
const changes: Readonly<Record<FormStatus, readonly FormStatus[]>> = {
  draft: ['archived'],
  published: ['draft', 'archived'],
  archived: ['draft'],
};

/**
 * Unpublishes (`draft`), archives, or restores (`draft`) a form; its live version stays.
 * @throws ApiError not_found; conflict when its status does not lead there.
 */
export async function changeStatus(
  database: Database,
  workspaceId: string,
  id: string,
  status: FormStatus,
): Promise<void> {
  await transaction(database, async (client) => {
    const [form] = await lockForm(client, { workspace_id: workspaceId, id });
    if (!form) throw new ApiError('not_found');
    if (form.status === status) return;
    if (!changes[form.status].includes(status)) {
      throw new ApiError('conflict', `A form that is ${form.status} cannot become ${status} in this way.`);
    }
    await setFormStatus(client, { workspace_id: workspaceId, id, status, now: now() });
  });
}
