import type { Locale } from '#ast/basics/language-tags.ts';
import { findInAllCells, runInCellOf } from '#cells/across-cells.ts';
import { newId } from '#kit/clock.ts';
import { announceJobsWithCommit, enqueueJob } from '#kit/queue.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/**
 * Finds the first workspace, whose queue also runs the jobs that concern accounts. No row if there is no
 * workspace yet.
 */
const findFirstWorkspace = statement('', 'id')`
  /* operator: across workspaces */
  select id from workspaces where ends_at is null order by id limit 1`;

/**
 * An event that people are emailed about. The operation that causes it only adds a job in its transaction.
 * src/mail/ later writes the emails with the data at that time.
 */
export type EmailEvent =
  /** `locale`: the language in which the visitor saw the page, if known. */
  | { kind: 'submission_completed'; submissionId: string; locale?: Locale | undefined }
  /** A waiting submission got a place, or its visitor cancelled a submission. */
  | { kind: 'submission_promoted'; submissionId: string }
  | { kind: 'submission_cancelled'; submissionId: string }
  | { kind: 'digest_due'; formId: string }
  | { kind: 'key_created'; keyId: string }
  | { kind: 'key_rotated'; keyId: string; formerUntil: string }
  | { kind: 'member_added'; userId: string }
  /** One submission, or those of a bulk change. `by` is the author as in the history. */
  | {
      kind: 'submissions_assigned';
      userId: string;
      formId: string;
      submissionId?: string;
      bulkId?: string;
      by: { changed_by: string | null; api_key_id: string | null };
    }
  | { kind: 'password_changed'; userId: string }
  | { kind: 'second_factor_changed'; userId: string; what: AccountChange }
  /** For owners and admins: the workspace is scheduled for deletion at `endsAt`, or it was restored. */
  | { kind: 'workspace_ending'; endsAt: string }
  | { kind: 'workspace_kept' }
  /**
   * Also for addresses without an account: only the job looks up the account, so response times reveal
   * nothing.
   */
  | { kind: 'password_reset_asked'; email: string };

/** Changes of a person's sign-in methods or account; the audit log uses these names too. */
export const accountChanges = [
  'addAuthenticatorApp',
  'removeAuthenticatorApp',
  'addPasskey',
  'removePasskey',
  'renewRecoveryCodes',
  'useRecoveryCode',
  'forgetSecondFactors',
  'deleteAccount',
  'bringBackAccount',
] as const;
export type AccountChange = (typeof accountChanges)[number];

/** The kind of the jobs that write emails about events. */
export const emailEventJob = 'mail_news';

/**
 * Adds the event to the queue in the caller's transaction, whose commit wakes the queue. Completed
 * submissions are too frequent for that, so their callers wake the queue.
 * @param delay seconds until the emails are written.
 */
export async function enqueueEmailEvent(
  db: Queryable,
  workspaceId: string,
  news: EmailEvent,
  delay = 0,
): Promise<void> {
  await enqueueJob(db, {
    workspace_id: workspaceId,
    id: newId(),
    kind: emailEventJob,
    lane: `${emailEventJob} ${workspaceId}`,
    payload: news,
    delay,
  });
  if (news.kind !== 'submission_completed') await announceJobsWithCommit(db);
}

export const enqueuePasswordChangeEmail = (db: Queryable, userId: string): Promise<void> =>
  enqueueAccountEmail(db, { kind: 'password_changed', userId });

/** Reports a change of a person's sign-in methods or account. */
export const enqueueAccountChangeEmail = (
  db: Queryable,
  userId: string,
  what: AccountChange,
): Promise<void> => enqueueAccountEmail(db, { kind: 'second_factor_changed', userId, what });

/** Adds events without a workspace to the queue of the first workspace. */
export async function enqueueAccountEmail(db: Queryable, news: EmailEvent): Promise<void> {
  const workspace = await findFallbackWorkspace(db);
  if (workspace) await runInCellOf(db, workspace.id, (cell) => enqueueEmailEvent(cell, workspace.id, news));
}

/**
 * Finds the workspace whose queue and email settings are used for work without a workspace: the first one in
 * the first cell that has any.
 */
export async function findFallbackWorkspace(db: Queryable): Promise<{ id: string } | undefined> {
  return (await findInAllCells(db, (cell) => findFirstWorkspace(cell, {}), { isPartial: true }))[0];
}
