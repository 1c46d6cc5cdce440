import { transaction } from '#kit/database.ts';
import { completeJob, type JobHandler } from '#kit/queue.ts';
import type { Queryable } from '#kit/statement.ts';
import type { MailNews } from '#workspaces/mail-news.ts';
import {
  tellMemberAdded,
  tellKeyCreated,
  tellKeyRotated,
  tellPasswordChanged,
  tellSecondFactorChanged,
} from './accounts/security-notices.ts';
import { tellWorkspaceEnding, tellWorkspaceKept } from './accounts/ending-notices.ts';
import { tellPasswordReset } from './accounts/tell-password-reset.ts';
import type { NewsContext } from './news-context.ts';
import { tellDigest, tellSubmission } from './notices/tell-submission.ts';

type Teller<News> = (
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  news: News,
) => Promise<void>;

const tellers: { readonly [Kind in MailNews['kind']]: Teller<Extract<MailNews, { kind: Kind }>> } = {
  submission_completed: tellSubmission,
  digest_due: tellDigest,
  key_created: tellKeyCreated,
  key_rotated: tellKeyRotated,
  member_added: tellMemberAdded,
  password_changed: tellPasswordChanged,
  second_factor_changed: tellSecondFactorChanged,
  workspace_ending: tellWorkspaceEnding,
  workspace_kept: tellWorkspaceKept,
  password_reset_asked: tellPasswordReset,
};

/**
 * The handler of the jobs that tell (#workspaces/mail-news.ts): the mails and the end of the job commit together, so
 * that what happened once is told once.
 */
export function tellNews(context: NewsContext): JobHandler {
  return async (job) => {
    const news = job.payload as MailNews;
    await transaction(context.database, async (client) => {
      await completeJob(client, job);
      // The compiler cannot see that a kind finds its own teller.
      const tell = tellers[news.kind] as Teller<MailNews>;
      await tell(context, client, job.workspaceId, news);
    });
    context.wakeQueue();
  };
}
