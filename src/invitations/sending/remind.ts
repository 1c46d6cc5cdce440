import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { InvitedForm, InvitingContext } from '../context.ts';
import { throttleEmail } from '../limit.ts';
import { requireFormSettings } from '#forms/require-form.ts';
import { type MailingContext, mailInvitations } from './mail-invitations.ts';
import { advanceReminders, lockDueReminders, lockUnanswered } from './queries.ts';
import { noMail } from './resend.ts';

/** Nobody is reminded within this time of another mail: a second press of the button does nothing. */
const quietMs = 3_600_000;

/**
 * Reminds those who got the invitation and did not answer: the named, or all of the form. All of them or, when the
 * process ends on the way, none.
 * @returns how many.
 * @throws ApiError not_found, conflict where nothing can be mailed, rate_limit_exceeded.
 */
export async function remindUnanswered(
  context: InvitingContext,
  form: InvitedForm & { accountId: string | null },
  ids: readonly string[] | null,
): Promise<number> {
  await requireFormSettings(context.database, form);
  if (context.config.smtp === undefined) throw new ApiError('conflict', noMail);
  const at = now();
  const count = await transaction(context.database, async (client) => {
    let reminded = 0;
    let after: string | null = null;
    for (;;) {
      const rows = await lockUnanswered(client, {
        workspace_id: form.workspaceId,
        form_id: form.formId,
        ids: ids && [...ids],
        after,
        quiet_since: new Date(at.getTime() - quietMs),
        now: at,
      });
      if (rows.length === 0) return reminded;
      await throttleEmail(client, context, form, rows.length);
      await mailInvitations(client, context, form, rows, 'reminder');
      reminded += rows.length;
      after = rows.at(-1)!.id;
    }
  });
  if (count > 0) context.wakeQueue();
  return count;
}

/**
 * Sends the reminders whose day has come, a batch at a time. Whoever has answered meanwhile, or cannot any more, is
 * left out, and their schedule goes on or ends.
 */
export async function sendDueReminders(
  context: MailingContext & { database: Database; wakeQueue: () => void },
): Promise<void> {
  while ((await remindDue(context)) > 0) context.wakeQueue();
}

async function remindDue(context: MailingContext & { database: Database }): Promise<number> {
  return transaction(context.database, async (client) => {
    const due = await lockDueReminders(client, { now: now() });
    const byForm = Map.groupBy(due, (row) => `${row.workspace_id} ${row.form_id} ${row.created_by}`);
    for (const rows of byForm.values()) {
      const { workspace_id, form_id, created_by } = rows[0]!;
      const open = rows.filter(({ is_open }) => is_open);
      if (context.config.smtp !== undefined)
        await mailInvitations(
          client,
          context,
          { workspaceId: workspace_id, formId: form_id, accountId: created_by },
          open,
          'reminder',
        );
      await advanceReminders(client, { workspace_id, ids: rows.map(({ id }) => id), now: now() });
    }
    return due.length;
  });
}
