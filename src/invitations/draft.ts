import { isPageName } from '#ast/basics/page-names.ts';
import { sayNumber } from '#ast/basics/say-number.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { findInput, type QuestionsById, questionsById } from '#ast/form/fields.ts';
import { type Form, isCalculation, kindOf, listQuestions } from '#ast/form/tree.ts';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import { readMailAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import type { InvitingContext } from './context.ts';

/** Somebody to invite. */
export type InvitationDraft = {
  email: string;
  name: string;
  /** Travels with the submission, and cannot be changed by the person. */
  reference: Record<string, string>;
  /** First answers by HTML name; several of one question as a list. */
  prefill: Record<string, string | string[]>;
};

/** What one invitation may carry: texts in characters. */
export const draftLimits = { name: 200, entries: 50, entryName: 64, entryValue: 1_000 } as const;

/** One thing that is wrong with a draft: by its property, and its entry where it has some. */
type DraftProblem = { field: string; message: string };

/** The questions that an invitation can fill in: all but files, what is worked out, and what nobody but the visitor can agree to. */
export type Prefillable = (name: string) => boolean;

export function prefillableOf(form: Form): Prefillable {
  const questions: QuestionsById = questionsById(listQuestions(form));
  return (name) => {
    const found = findInput(questions, name);
    if (!found || isCalculation(found.input)) return false;
    return !['files', 'consent'].includes(kindOf(found.input));
  };
}

/** Everything that is wrong with a draft; nothing when it can be invited. */
export function checkDraft(draft: InvitationDraft, isPrefillable: Prefillable): DraftProblem[] {
  const { email, name, reference, prefill } = draft;
  const problems: DraftProblem[] = [];
  if (readMailAddress(email)?.name !== undefined || readMailAddress(email) === undefined)
    problems.push({ field: 'email', message: `"${clip(email)}" is no email address.` });
  if (countCharacters(name) > draftLimits.name || !isOneLine(name))
    problems.push({
      field: 'name',
      message: `A name is one line of at most ${draftLimits.name} characters.`,
    });
  for (const field of ['reference', 'prefill'] as const) {
    if (Object.keys(draft[field]).length > draftLimits.entries)
      problems.push({ field, message: `At most ${draftLimits.entries} values can be given.` });
  }
  for (const [key, value] of Object.entries(reference))
    problems.push(...checkEntry('reference', key, [value]));
  for (const [key, value] of Object.entries(prefill)) {
    problems.push(...checkEntry('prefill', key, [value].flat()));
    if (!isPrefillable(key))
      problems.push({
        field: `prefill.${clip(key)}`,
        message: `The form has no question "${clip(key)}" that can be filled in.`,
      });
  }
  return problems;
}

function checkEntry(kind: 'reference' | 'prefill', key: string, values: readonly string[]): DraftProblem[] {
  const field = `${kind}.${clip(key)}`;
  const { entryName, entryValue } = draftLimits;
  // Reference values of such names would be lost: an address has the page's own parameters under them.
  if (
    key === '' ||
    countCharacters(key) > entryName ||
    (kind === 'reference' ? key.startsWith('_') : isPageName(key)) ||
    !isCleanText(key) ||
    !isOneLine(key)
  )
    return [
      { field, message: `A name has 1 to ${entryName} characters, and does not begin with an underscore.` },
    ];
  const isKept = values.every((value) => countCharacters(value) <= entryValue && isCleanText(value));
  return isKept ? [] : [{ field, message: `A value is text of at most ${entryValue} characters.` }];
}

const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

/** A caller's own text in an answer stays short. */
const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Returns what addresses are compared by: lower case, and the domain as DNS has it. */
export function addressKeyOf(email: string): string {
  return toAsciiDomain(readMailAddress(email)?.address ?? email).toLowerCase();
}

/** The names that a mail about a form carries. */
export const findFormNames = statement(
  'invitations.find_form_names',
  'workspace_id form_id',
  'form_name workspace_name:text locale:text?',
  `select f.name as form_name, w.name as workspace_name, f.settings->>'locale' as locale
     from forms f join workspaces w on w.id = f.workspace_id
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`,
);

/** Makes those who invite in one workspace take turns, until the transaction ends. */
const lockInviting = statement(
  'invitations.lock_inviting',
  'workspace_id',
  'id',
  `select id from workspaces where id = $workspace_id for no key update`,
);

/** An invitation or reminder of the last day, by when it was queued or sent. */
const isRecentMail = `kind in ('invitation', 'reminder') and greatest(queued_at, sent_at) > $since`;

/**
 * How many invitations and reminders a workspace, and one person in it, have queued or sent since then. Lines of imports
 * that wait are counted too, and invitations without a mail by when they were made. `oldest` is the first of these.
 */
const countInvited = statement(
  'invitations.count_invited',
  'workspace_id created_by? since:timestamp',
  'by_person:bigint by_workspace:bigint oldest',
  `with counted as (
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
     from counted`,
);

/** The same of an account in all other workspaces. */
const countAccountEmails = statement(
  'invitations.count_account_emails',
  'account_id workspace_id since:timestamp',
  'count oldest',
  `/* lookup: across workspaces */
   select count(*) as count, coalesce(min(greatest(queued_at, sent_at)), now()) as oldest from counted_emails
    where account_id = $account_id and workspace_id <> $workspace_id and ${isRecentMail}`,
);

const dayMs = 86_400_000;

/**
 * Checks the limits of a day before so many invitations or reminders are queued. Every one of them counts, reminders and
 * repeated mails too, by when it was queued or sent: what an invitation says of its past does not matter. Lines of an
 * import that have not become invitations yet count as well. Locks the workspace's counts until the transaction ends.
 * Mails that leave are checked once more (src/mail/sending/quota.ts).
 * @param accountId whose limit it is, in all workspaces; null for a key that the operator made.
 * @throws ApiError rate_limit_exceeded with the wait until the oldest of them counts no more.
 */
export async function throttleEmail(
  db: Queryable,
  { config: { limits } }: Pick<InvitingContext, 'config'>,
  { workspaceId, accountId }: { workspaceId: string; accountId: string | null },
  count: number,
): Promise<void> {
  await lockInviting(db, { workspace_id: workspaceId });
  const since = new Date(now().getTime() - dayMs);
  const ofWorkspace = only(
    await countInvited(db, { workspace_id: workspaceId, created_by: accountId, since }),
  )!;
  const elsewhere =
    accountId === null
      ? undefined
      : only(await countAccountEmails(db, { account_id: accountId, workspace_id: workspaceId, since }));
  const oldest = elsewhere && elsewhere.oldest < ofWorkspace.oldest ? elsewhere.oldest : ofWorkspace.oldest;
  const wait = Math.max(1, Math.ceil((oldest.getTime() - since.getTime()) / 1_000));
  const say = (most: number): string => `${sayNumber(most)} invitations and reminders a day`;
  const isOver = (counted: number, most: number): boolean => most > 0 && counted + count > most;
  if (elsewhere && isOver(ofWorkspace.by_person + elsewhere.count, limits.invitationsPerPerson))
    throw rateLimitExceeded(wait, `You may send ${say(limits.invitationsPerPerson)}.`);
  if (isOver(ofWorkspace.by_workspace, limits.invitationsPerWorkspace))
    throw rateLimitExceeded(wait, `A workspace may send ${say(limits.invitationsPerWorkspace)}.`);
}

/**
 * How far an invitation has come, from the first to the last: `pending`: not mailed; `sent`; `bounced`: its last mail
 * could not be delivered; `opened`: its link was; `started`: something was sent from its page; `completed`: its
 * submission is there; `revoked`: its link leads nowhere. The furthest that is true counts (queries.ts).
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
