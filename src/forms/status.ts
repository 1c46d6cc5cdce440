import type { Unchanged } from '#kit/conditional.ts';
import { requireUnchanged } from '#kit/conditional.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { requireRow } from '#kit/statement.ts';
import { type FormStatus, lockForm, setFormStatus } from './queries.ts';

/** What is done to a form as a whole (docs/rules.md 5): from where, and where to. Publishing has its own way. */
const changes = {
  unpublish: { from: ['published'], to: 'draft' },
  archive: { from: ['draft', 'published'], to: 'archived' },
  restore: { from: ['archived'], to: 'draft' },
} as const satisfies Record<string, { from: readonly FormStatus[]; to: FormStatus }>;
export type StatusChange = keyof typeof changes;

/**
 * Unpublishes, archives, or restores a form; its live version stays. What is done already succeeds again.
 * @throws ApiError not_found; precondition_failed; conflict when it cannot be done to a form of its status.
 */
export async function changeStatus(
  database: Database,
  workspaceId: string,
  id: string,
  change: StatusChange,
  unchanged: Unchanged = null,
): Promise<void> {
  const { from, to }: { from: readonly FormStatus[]; to: FormStatus } = changes[change];
  await transaction(database, async (client) => {
    const form = requireRow(await lockForm(client, { workspace_id: workspaceId, id }));
    requireUnchanged(unchanged, form.updated_at);
    if (form.status === to) return;
    if (!from.includes(form.status))
      throw new ApiError('conflict', `This does not go with a form that is ${form.status}.`);
    await setFormStatus(client, { workspace_id: workspaceId, id, status: to, now: now() });
  });
}
