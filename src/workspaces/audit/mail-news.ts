import type { Locale } from '#ast/basics/locales.ts';
import { findInAllCells, inCellOf } from '#cells/across-cells.ts';
import { newId } from '#kit/clock.ts';
import { announceWithCommit, enqueueJob } from '#kit/queue.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/** Where a job lives that is about a person and no workspace: the first workspace; nothing before there is one. */
const findFirstWorkspace = statement(
  'password_reset.find_first_workspace',
  '',
  'id',
  `/* operator: across workspaces */
   select id from workspaces where ends_at is null order by id limit 1`,
);

/**
 * Something that people are told of by mail. Who caused it knows nothing of mails: it leaves a job in its own
 * transaction, and src/mail/ writes to whoever is concerned, with what is true by then.
 */
export type MailNews =
  /** `locale`: in which the visitor read the page, when there was one. */
  | { kind: 'submission_completed'; submissionId: string; locale?: Locale | undefined }
  | { kind: 'digest_due'; formId: string }
  | { kind: 'key_created'; keyId: string }
  | { kind: 'key_rotated'; keyId: string; formerUntil: string }
  | { kind: 'member_added'; userId: string }
  | { kind: 'password_changed'; userId: string }
  | { kind: 'second_factor_changed'; userId: string; what: PersonalNews }
  /** To the owners: it is closed, and gone at that moment; or it stays. */
  | { kind: 'workspace_ending'; endsAt: string }
  | { kind: 'workspace_kept' }
  /** Also for an address that nobody has: only the job finds out, so that an answer's time tells nothing. */
  | { kind: 'password_reset_asked'; email: string };

/** What happened to how a person signs in; also what the audit log calls it. */
export const personalNews = [
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
export type PersonalNews = (typeof personalNews)[number];

/** The kind of the jobs that tell. */
export const mailNewsJob = 'mail_news';

/**
 * Leaves the news in the caller's transaction, with which the queue hears of it: but of submissions, of which there are many, the
 * caller wakes it.
 * @param delay seconds until it is told.
 */
export async function reportNews(
  db: Queryable,
  workspaceId: string,
  news: MailNews,
  delay = 0,
): Promise<void> {
  await enqueueJob(db, {
    workspace_id: workspaceId,
    id: newId(),
    kind: mailNewsJob,
    lane: `${mailNewsJob} ${workspaceId}`,
    payload: news,
    delay,
  });
  if (news.kind !== 'submission_completed') await announceWithCommit(db);
}

export const reportPasswordChange = (db: Queryable, userId: string): Promise<void> =>
  reportToPerson(db, { kind: 'password_changed', userId });

/** Tells a person what happened to how they sign in. */
export const reportPersonalNews = (db: Queryable, userId: string, what: PersonalNews): Promise<void> =>
  reportToPerson(db, { kind: 'second_factor_changed', userId, what });

/** Leaves news that are of no workspace with the first one that there is. */
export async function reportToPerson(db: Queryable, news: MailNews): Promise<void> {
  const workspace = await firstWorkspace(db);
  if (workspace) await inCellOf(db, workspace.id, (cell) => reportNews(cell, workspace.id, news));
}

/** Finds the workspace whose queue and email serve work without a workspace: the first one in the first cell that has one. */
export async function firstWorkspace(db: Queryable): Promise<{ id: string } | undefined> {
  return (await findInAllCells(db, (cell) => findFirstWorkspace(cell, {}), { isPartial: true }))[0];
}
