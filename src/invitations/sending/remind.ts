import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { InvitedForm, InvitingContext } from '../context.ts';
import { throttleEmail } from '../limit.ts';
import { requireFormSettings } from '#forms/form-rows.ts';
import { mailColumns, type MailingContext, mailInvitations } from './mail-invitations.ts';
import { isOpen, mailSelection, mailSource, noMail, wantsMail } from './resend.ts';
import { statement } from '#kit/statement.ts';
import { statusOf } from '../links-file.ts';

/**
 * Up to a thousand of a form's whose people got the invitation and did not answer, after `after`; those who got a mail
 * since `quiet_since`, or whose mail has not left yet, are let alone.
 * @param ids null: all of the form.
 */
const lockUnanswered = statement(
  'invitations.lock_unanswered',
  'workspace_id form_id ids? after? quiet_since:timestamp now',
  mailColumns,
  `select ${mailSelection} from ${mailSource}
    where i.workspace_id = $workspace_id and i.form_id = $form_id
      and ($ids is null or i.id = any($ids)) and ($after is null or i.id > $after)
      and ${isOpen} and ${wantsMail} and ${statusOf} in ('sent', 'opened', 'started')
      and i.sent_at is not null and greatest(i.sent_at, i.reminded_at) < $quiet_since
      and not exists (select from mails m where m.workspace_id = i.workspace_id and m.id = i.mail_id
                                            and (m.state = 'queued' or m.settled_at >= $quiet_since))
    order by i.id limit 1000
    for update of i`,
);

/** Up to a hundred of one form's whose scheduled reminder is due; other processes take others. */
const lockDueReminders = statement(
  'invitations.lock_due_reminders',
  'now',
  ['workspace_id is_open', mailColumns],
  `/* sweep: across workspaces */
   select i.workspace_id,
          ${isOpen} and ${wantsMail} and i.bounced_at is null and f.status = 'published'
            and exists (select from form_lookup l where l.workspace_id = f.workspace_id and l.form_id = f.id) as is_open,
          ${mailSelection}
     from ${mailSource}
    where i.remind_at <= $now
    order by i.remind_at limit 100
    for update of i skip locked`,
);

const remindAt = 'i.sent_at + make_interval(days => day)';

/** The schedule goes on: to the next of its days that is still to come, or to its end. */
const advanceReminders = statement(
  'invitations.advance_reminders',
  'workspace_id ids now',
  '',
  `update invitations i
      set remind_at = (select min(${remindAt}) from unnest(b.remind_after_days) as day where ${remindAt} > $now)
     from invitation_batches b
    where i.workspace_id = $workspace_id and i.id = any($ids) and b.workspace_id = i.workspace_id and b.id = i.batch_id`,
);

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
