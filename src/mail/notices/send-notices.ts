import { transaction } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMail } from '#kit/outbox.ts';
import { completeJob, type JobHandler } from '#kit/queue.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { createPasswordReset, resetMinutes } from '#workspaces/accounts/password-reset.ts';
import type { EmailEvent } from '#workspaces/audit/email-events.ts';
import type { NoticeServices } from '../notice-context.ts';
import {
  adminNoticeReason,
  notifyAdmins,
  notifyKeyCreated,
  notifyKeyRotated,
  notifyMemberAdded,
  notifyPasswordChanged,
  notifySignInChanged,
} from './security-notices.ts';
import { notifyAssigned, sendDueDigest, sendSubmissionNotices } from './submission-notices.ts';

/** Emails a password reset link if the address has an account. */
async function notifyPasswordReset(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { email }: { email: string },
): Promise<void> {
  const to = config.smtp && readMailAddress(email);
  const token = to && (await createPasswordReset(client, email));
  if (!to || !token) return;
  await enqueueMail(
    client,
    vault,
    { workspaceId, isPrivate: true },
    {
      kind: 'password_reset',
      to,
      subject: 'Choose a new password',
      letter: {
        heading: 'Choose a new password',
        blocks: [
          {
            kind: 'text',
            text: `A new password was requested for your account. This link can be used once, within ${resetMinutes} minutes.`,
          },
          {
            kind: 'button',
            label: 'Choose a new password',
            url: `${config.publicUrl}/app/reset-password/${token}`,
          },
          { kind: 'text', text: "If this wasn't you, ignore this email. Your password won't change." },
        ],
        reason: `You're receiving this email because you have an account at ${config.publicUrl}.`,
      },
    },
  );
}

const findWorkspaceName = statement('workspace_id', 'name')`
  select name from workspaces where id = $workspace_id`;

/** Emails owners and admins that their workspace is being deleted, and how to restore it. */
async function notifyWorkspaceDeletion(
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { endsAt }: { endsAt: string },
): Promise<void> {
  const workspace = onlyRow(await findWorkspaceName(client, { workspace_id: workspaceId }));
  if (!workspace || !context.config.smtp) return;
  await notifyAdmins(context, client, workspaceId, {
    subject: `${workspace.name} is being deleted`,
    letter: {
      heading: `The workspace “${workspace.name}” is being deleted`,
      blocks: [
        {
          kind: 'text',
          text: `Its forms, submissions and API keys are already unavailable. On ${endsAt.slice(0, 10)}, the workspace and its files will be permanently deleted. Until then, an owner can sign in and restore it.`,
        },
        { kind: 'button', label: 'Restore workspace', url: `${context.config.publicUrl}/app/account` },
      ],
      reason: adminNoticeReason(workspace.name),
    },
  });
}

/** Emails owners and admins that their workspace was restored. */
async function notifyWorkspaceKept(
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
): Promise<void> {
  const workspace = onlyRow(await findWorkspaceName(client, { workspace_id: workspaceId }));
  if (!workspace || !context.config.smtp) return;
  await notifyAdmins(context, client, workspaceId, {
    subject: `${workspace.name} was restored`,
    letter: {
      heading: `The workspace “${workspace.name}” was restored`,
      blocks: [{ kind: 'text', text: 'The workspace is available again, with all its data.' }],
      reason: adminNoticeReason(workspace.name),
    },
  });
}

type NoticeSender<News> = (
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  news: News,
) => Promise<void>;

const noticeSenders: {
  readonly [Kind in EmailEvent['kind']]: NoticeSender<Extract<EmailEvent, { kind: Kind }>>;
} = {
  submission_completed: sendSubmissionNotices,
  submission_promoted: sendSubmissionNotices,
  submission_cancelled: sendSubmissionNotices,
  digest_due: sendDueDigest,
  key_created: notifyKeyCreated,
  key_rotated: notifyKeyRotated,
  member_added: notifyMemberAdded,
  submissions_assigned: notifyAssigned,
  password_changed: notifyPasswordChanged,
  second_factor_changed: notifySignInChanged,
  workspace_ending: notifyWorkspaceDeletion,
  workspace_kept: notifyWorkspaceKept,
  password_reset_asked: notifyPasswordReset,
};

/**
 * Handles the jobs that send notices (#workspaces/audit/email-events.ts). The emails commit together with the end of
 * the job, so each event is notified once.
 */
export function createNoticeHandler(context: NoticeServices): JobHandler {
  return async (job) => {
    const news = job.payload as EmailEvent;
    await transaction(context.database, async (client) => {
      await completeJob(client, job);
      // TypeScript cannot see that each kind selects the matching function.
      const tell = noticeSenders[news.kind] as NoticeSender<EmailEvent>;
      await tell(context, client, job.workspaceId, news);
    });
    context.wakeQueue();
  };
}
