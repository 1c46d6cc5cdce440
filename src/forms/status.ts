import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { requireRow, statement, word } from '#kit/statement.ts';
import type { FormStatus } from './present.ts';

/** A form, kept from changing until the transaction ends. What is read of it in later statements is as it is then. */
export const lockForm = statement(
  'lock_form',
  'workspace_id id',
  ['version updated_at', { status: word<FormStatus>() }],
  `select status, version, updated_at from forms
   where workspace_id = $workspace_id and id = $id and deleted_at is null for update`,
);

/** Status alone, without a version: what visitors would see did not change. published_at as in update_form. */
export const setFormStatus = statement(
  'set_form_status',
  ['workspace_id id now', { status: word<FormStatus>() }],
  'id',
  `update forms set
     status = $status, updated_at = greatest($now, updated_at + interval '1 ms'),
     published_at = case when $status = 'published' and (status <> 'published' or published_at is null)
                         then $now else published_at end
   where workspace_id = $workspace_id and id = $id and deleted_at is null returning id`,
);

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
