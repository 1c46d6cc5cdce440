import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { isReservedPageName } from '#ast/basics/page-names.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { findInput, indexQuestionsById, type QuestionsById } from '#ast/form/fields.ts';
import { answerKindOf, type Form, isDerived, listQuestions } from '#ast/form/tree.ts';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import { readEnteredAddress, readMailAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import type { InvitingServices } from './context.ts';

export type InvitationDraft = {
  email: string;
  name: string;
  /** Stored with the submission; the person cannot change it. */
  reference: Record<string, string>;
  /** Initial answers by HTML name; several answers to one question as a list. */
  prefill: Record<string, string | string[]>;
};

/** Limits of one invitation. The limits of texts are in characters. */
export const invitationDraftLimits = { name: 200, entries: 50, entryName: 64, entryValue: 1_000 } as const;

/** The maximum number of people in one import, and of characters in its text. */
export const invitationImportLimits = { people: 10_000, characters: 5_000_000 } as const;

type DraftProblem = { field: string; message: string };

/**
 * Whether an invitation can prefill a question: any except files, calculations and consent, which only the
 * visitor can give.
 */
export type IsPrefillable = (name: string) => boolean;

export function createPrefillableCheck(form: Form): IsPrefillable {
  const questions: QuestionsById = indexQuestionsById(listQuestions(form));
  return (name) => {
    const found = findInput(questions, name);
    if (!found || isDerived(found.input)) return false;
    return !['files', 'consent'].includes(answerKindOf(found.input));
  };
}

/** Returns the problems with a draft; none if the person can be invited. */
export function checkInvitationDraft(draft: InvitationDraft, isPrefillable: IsPrefillable): DraftProblem[] {
  const { email, name, reference, prefill } = draft;
  const problems: DraftProblem[] = [];
  const address = readEnteredAddress(email);
  if (!address || address.name !== undefined)
    problems.push({ field: 'email', message: `"${clip(email)}" is not a valid email address.` });
  if (countCharacters(name) > invitationDraftLimits.name || !isOneLine(name))
    problems.push({
      field: 'name',
      message: `A name must be one line of at most ${invitationDraftLimits.name} characters.`,
    });
  for (const field of ['reference', 'prefill'] as const)
    if (Object.keys(draft[field]).length > invitationDraftLimits.entries)
      problems.push({ field, message: `At most ${invitationDraftLimits.entries} values are allowed.` });
  for (const [key, value] of Object.entries(reference))
    problems.push(...checkEntry('reference', key, [value]));
  for (const [key, value] of Object.entries(prefill)) {
    problems.push(...checkEntry('prefill', key, [value].flat()));
    if (!isPrefillable(key))
      problems.push({
        field: `prefill.${clip(key)}`,
        message: `The form has no question "${clip(key)}" that can be prefilled.`,
      });
  }
  return problems;
}

function checkEntry(kind: 'reference' | 'prefill', key: string, values: readonly string[]): DraftProblem[] {
  const field = `${kind}.${clip(key)}`;
  const { entryName, entryValue } = invitationDraftLimits;
  // Reference values with these names would be lost: the page uses them for its own parameters.
  if (
    key === '' ||
    countCharacters(key) > entryName ||
    (kind === 'reference' ? key.startsWith('_') : isReservedPageName(key)) ||
    !isCleanText(key) ||
    !isOneLine(key)
  )
    return [
      {
        field,
        message: `A name must have 1 to ${entryName} characters and must not begin with an underscore.`,
      },
    ];
  const isValid = values.every((value) => countCharacters(value) <= entryValue && isCleanText(value));
  return isValid ? [] : [{ field, message: `A value must be text of at most ${entryValue} characters.` }];
}

const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

/** Shortens text from the caller for use in an error message. */
const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Returns the form in which addresses are compared: lower case, with the domain as in DNS. */
export function emailKeyOf(email: string): string {
  return toAsciiDomain(readMailAddress(email)?.address ?? email).toLowerCase();
}

/** Finds the names that an email about a form contains. */
export const findFormAndWorkspaceNames = statement(
  'workspace_id form_id',
  'form_name workspace_name:text locale:text?',
)`
  select f.name as form_name, w.name as workspace_name, f.settings->>'locale' as locale
    from forms f join workspaces w on w.id = f.workspace_id
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`;

/** Locks the invitation counts of a workspace until the transaction ends. */
const lockInviting = statement('workspace_id', 'id')`
  select id from workspaces where id = $workspace_id for no key update`;

/** The condition for an invitation or reminder that was queued or sent within the last day. */
const isRecentMail = `kind in ('invitation', 'reminder') and greatest(queued_at, sent_at) > $since`;

/**
 * Counts the invitations and reminders that a workspace, and one person in it, have queued or sent since a
 * time. Lines of imports that are not invitations yet count too. Invitations without an email count by their
 * creation time. `oldest` is the time of the first.
 */
const countInvited = statement(
  'workspace_id created_by? since:timestamp',
  'by_person:bigint by_workspace:bigint oldest',
)`
  with counted as (
    select 1 as count, account_id, greatest(queued_at, sent_at) as at from counted_emails
     where workspace_id = $workspace_id and ${isRecentMail}
    union all
    select case when b.is_mailed then t.total - t.done - t.refused else t.total end, b.created_by,
           greatest(b.created_at, $since)
      from invitation_batches b join tasks t on t.workspace_id = b.workspace_id and t.id = b.id
     where b.workspace_id = $workspace_id
       and case when b.is_mailed then t.done + t.refused < t.total else b.created_at > $since end)
  select coalesce(sum(count) filter (where account_id = $created_by), 0)::bigint as by_person,
         coalesce(sum(count), 0)::bigint as by_workspace, coalesce(min(at), now()) as oldest
    from counted`;

/** Counts the invitations and reminders of an account in all other workspaces. */
const countAccountEmails = statement('account_id workspace_id since:timestamp', 'count oldest')`
  /* lookup: across workspaces */
  select count(*) as count, coalesce(min(greatest(queued_at, sent_at)), now()) as oldest from counted_emails
   where account_id = $account_id and workspace_id <> $workspace_id and ${isRecentMail}`;

const dayMs = 86_400_000;

/**
 * Checks the daily limits before `count` invitations or reminders are queued. Reminders and repeated emails
 * count too, by when they were queued or sent; the state of an invitation does not matter. Lines of an import
 * that are not invitations yet also count. Locks the workspace's counts until the transaction ends. Emails
 * are checked again when they are sent (src/mail/sending/mail-limits.ts).
 * @param accountId the account whose limit applies, across all workspaces; null for a key that the operator
 * created.
 * @throws ApiError rate_limit_exceeded with the wait until the oldest email no longer counts.
 */
export async function checkDailyEmailLimits(
  db: Queryable,
  { config: { limits } }: Pick<InvitingServices, 'config'>,
  { workspaceId, accountId }: { workspaceId: string; accountId: string | null },
  count: number,
): Promise<void> {
  await lockInviting(db, { workspace_id: workspaceId });
  const since = new Date(now().getTime() - dayMs);
  const ofWorkspace = onlyRow(
    await countInvited(db, { workspace_id: workspaceId, created_by: accountId, since }),
  )!;
  const elsewhere =
    accountId === null
      ? undefined
      : onlyRow(await countAccountEmails(db, { account_id: accountId, workspace_id: workspaceId, since }));
  const oldest = elsewhere && elsewhere.oldest < ofWorkspace.oldest ? elsewhere.oldest : ofWorkspace.oldest;
  const wait = Math.max(1, Math.ceil((oldest.getTime() - since.getTime()) / 1_000));
  const perDay = (most: number): string => `${formatWholeNumber(most)} invitations and reminders a day`;
  const isOver = (counted: number, most: number): boolean => most > 0 && counted + count > most;
  if (elsewhere && isOver(ofWorkspace.by_person + elsewhere.count, limits.invitationsPerPerson))
    throw rateLimitExceeded(wait, `You can send up to ${perDay(limits.invitationsPerPerson)}.`);
  if (isOver(ofWorkspace.by_workspace, limits.invitationsPerWorkspace))
    throw rateLimitExceeded(wait, `A workspace can send up to ${perDay(limits.invitationsPerWorkspace)}.`);
}

/**
 * The statuses of an invitation, from first to last. `pending`: not emailed. `sent`: emailed. `bounced`: its
 * last email could not be delivered. `opened`: its link was opened. `started`: something was sent from its
 * page. `completed`: its submission exists. `revoked`: its link no longer works. The last one that applies
 * counts (links-file.ts).
 */
export const invitationStatuses = [
  'pending',
  'sent',
  'bounced',
  'opened',
  'started',
  'completed',
  'revoked',
] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];
