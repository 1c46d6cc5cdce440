import { newId } from './clock.ts';
import { hashMailAddress, type MailAddress, readMailAddress } from './outbox/address.ts';
import { insertJobsSql } from './queue.ts';
import {
  byteStrings,
  double,
  nullable,
  type Queryable,
  type StatementColumn,
  statement,
  text,
  texts,
} from './statement.ts';
import type { Vault } from './vault.ts';

/**
 * The kinds of emails with their pace. `bulk` emails go to many people and may take time; someone waits for
 * `prompt` emails. Emails of one pace never wait behind those of the other.
 */
export const mailPaces = {
  notification: 'prompt',
  digest: 'prompt',
  assignment: 'prompt',
  receipt: 'prompt',
  resume_link: 'prompt',
  edit_link: 'prompt',
  email_code: 'prompt',
  invitation: 'bulk',
  reminder: 'bulk',
  member_invitation: 'prompt',
  password_reset: 'prompt',
  security_notice: 'prompt',
  incident: 'prompt',
  announcement: 'bulk',
  test: 'prompt',
} as const satisfies Record<string, 'prompt' | 'bulk'>;

export type MailKind = keyof typeof mailPaces;

/** The kind of the jobs that send emails. The job has the id of the email. */
export const sendMailJobKind = 'send_mail';

/**
 * Returns the lane of an email, one per pace. One email per lane is sent at a time, so a crash repeats only
 * one.
 */
export const laneOfMail = (kind: MailKind): string => `mail ${mailPaces[kind]}`;

/** A file in an email. Its link is signed when the email is sent, and works for an hour. */
export type EmailFile = { id: string; filename: string; size: number };

/** A label with an answer or fact: text of one or more lines, or files. */
export type EmailField = { label: string } & ({ value: string } | { files: readonly EmailFile[] });

/** A part of a line: bold (`b`), italic (`i`) or both, or a link. */
export type EmailPart = { text: string; mark?: 'b' | 'i' | 'bi'; href?: string };

/**
 * A part of an email. Texts are plain: all characters are shown literally, including line breaks, and an
 * empty line starts a paragraph. Only src/mail/sending/template.ts creates markup.
 */
export type EmailBlock =
  | { kind: 'text'; text: string }
  /** An author's paragraph, list or heading, line by line. */
  | { kind: 'rich'; style: 'text' | 'ul' | 'ol' | 'heading'; lines: readonly (readonly EmailPart[])[] }
  | { kind: 'heading'; text: string }
  /** An action. Its URL (http or https) is also written below, for mail programs that show no buttons. */
  | { kind: 'button'; label: string; url: string }
  | { kind: 'fields'; fields: readonly EmailField[] };

/** The content of an email, from which its HTML and its text are rendered. */
export type EmailBody = {
  /** The language of the text (BCP 47), for screen readers and hyphenation. Default: English. */
  lang?: string;
  heading: string;
  blocks: readonly EmailBlock[];
  /** The note below files, which says that their links expire. Default: English. */
  filesNote?: string;
  /** The small print: why this person gets this email. */
  reason: string;
};

const kinds: StatementColumn<MailKind[]> = { pg: texts.pg };

/** Inserts emails with their jobs, skipping existing ids. The arrays have one entry per email. */
const insertMails = statement(
  [
    'workspace_id form_id? is_private:boolean submission_ids ids lanes recipients:texts',
    'subjects:texts contents:byteStrings',
    {
      /** The account whose limits count these emails. */
      account_id: nullable(text),
      kinds,
      /** The hash of each recipient's address (hashMailAddress). */
      counted_as: byteStrings,
      /** Seconds before sending. */
      delay: double,
    },
  ],
  '',
)`
  with input as materialized (
    select *, now() + make_interval(secs => $delay) as run_at, now() as at from unnest($ids, $kinds, $lanes, $recipients, $counted_as, $subjects, $contents)
      as input (id, kind, lane, recipient, counted_as, subject, content)
  ),
  mail as (
    insert into mails (workspace_id, id, kind, form_id, recipient, subject, content, state, is_private,
                       submission_ids, next_attempt_at, created_at)
    select $workspace_id, id, kind, $form_id, recipient, subject, content, 'queued', $is_private,
           $submission_ids, run_at, at
      from input
    on conflict (workspace_id, id) do nothing
    returning id
  ),
  counted as (
    insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at)
    select $workspace_id, id, kind, $form_id, $account_id, counted_as, at
      from input join mail using (id)
    on conflict (workspace_id, id) do nothing
  ),
  job as materialized (
    select $workspace_id as workspace_id, id, '${sendMailJobKind}' as kind, lane, '{}'::jsonb as payload, run_at, at
      from input join mail using (id)
  ),
  put as (${insertJobsSql('job')})
  select`;

export type NewMail = {
  /** A fixed id (deriveId) for an email that may be enqueued twice, so that it is sent once. */
  id?: string;
  kind: MailKind;
  to: MailAddress;
  /** One line of at most 200 characters. Line breaks and control characters become spaces. */
  subject: string;
  letter: EmailBody;
  /** The address for replies. Default: the sender. */
  replyTo?: string;
  /** The submission whose PDF is attached when the email is sent, and the text if that is not possible. */
  pdf?: { submissionId: string; fallback: string };
  /** The URL to unsubscribe. A POST unsubscribes immediately (RFC 8058); a visit asks first. */
  unsubscribeUrl?: string;
};

/** The sealed content of `mails.content`. */
export type MailContent = Pick<NewMail, 'letter' | 'pdf' | 'replyTo' | 'unsubscribeUrl'> & { name?: string };

/** The workspace and the resources to which emails belong. */
type MailOwner = {
  workspaceId: string;
  /** The form of the emails, which are deleted with it. */
  formId?: string;
  /** Hidden from the email log of the workspace, because they are between a person and the service. */
  isPrivate?: boolean;
  /** The submissions in the emails. Erasing any of them erases the emails. */
  submissionIds?: readonly string[];
  /** The account whose limits count the emails (src/mail/sending/mail-limits.ts). */
  accountId?: string | null;
  /** Seconds before sending. Default: immediately. */
  delay?: number;
};

const longestSubject = 200;

/**
 * Writes emails into the outbox in the caller's transaction, so they are sent only if it commits. Call
 * wakeQueue after the commit; otherwise they are sent within 15 s. Up to a thousand emails need one round
 * trip.
 * @returns their ids, in order.
 * @throws if an address is invalid (readMailAddress): validate input first.
 */
export async function enqueueMails(
  db: Queryable,
  vault: Vault,
  { workspaceId, formId, isPrivate = false, submissionIds = [], accountId = null, delay = 0 }: MailOwner,
  mails: readonly NewMail[],
): Promise<string[]> {
  if (mails.length === 0) return [];
  const rows = mails.map((mail) => ({ ...mail, id: mail.id ?? newId(), to: checkAddress(mail.to) }));
  await insertMails(db, {
    workspace_id: workspaceId,
    form_id: formId ?? null,
    is_private: isPrivate,
    submission_ids: [...submissionIds],
    account_id: accountId,
    delay,
    ids: rows.map(({ id }) => id),
    kinds: rows.map(({ kind }) => kind),
    lanes: rows.map(({ kind }) => laneOfMail(kind)),
    recipients: rows.map(({ to }) => to.address),
    counted_as: rows.map(({ to }) => hashMailAddress(to.address)),
    subjects: rows.map(({ subject }) => oneLine(subject)),
    contents: rows.map((row) => vault.seal('mails', JSON.stringify(contentOf(row)))),
  });
  return rows.map(({ id }) => id);
}

/** Enqueues one email. @returns its id. */
export async function enqueueMail(
  db: Queryable,
  vault: Vault,
  owner: MailOwner,
  mail: NewMail,
): Promise<string> {
  const [id] = await enqueueMails(db, vault, owner, [mail]);
  return id!;
}

const contentOf = ({ to, letter, pdf, replyTo, unsubscribeUrl }: NewMail): MailContent => ({
  letter,
  ...(pdf && { pdf }),
  ...(to.name !== undefined && { name: oneLine(to.name) }),
  ...(replyTo !== undefined && { replyTo: checkAddress({ address: replyTo }).address }),
  ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
});

function checkAddress({ address, name }: MailAddress): MailAddress {
  const read = readMailAddress(address);
  if (!read || read.name !== undefined) throw new Error('The recipient of an email is not a valid address.');
  return name === undefined ? read : { ...read, name };
}

/** Formats header text: no line breaks, control characters or unpaired surrogates. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
    .slice(0, longestSubject)
    // The slice may end in the middle of a surrogate pair.
    .toWellFormed();

/** Cancels queued emails and returns their ids. An email that is being sent may still arrive. */
export const cancelMails = statement('workspace_id ids', 'id')`
  update mails
     set state = 'cancelled', content = null, next_attempt_at = null, settled_at = now()
   where workspace_id = $workspace_id and id = any($ids) and state = 'queued'
  returning id`;

/**
 * Deletes the emails about submissions, sent or not. An old sent email that is also about other submissions
 * has no content left and stays.
 * @returns for each queued email, the other submissions in it.
 */
export const deleteMailsAboutSubmissions = statement('workspace_id submission_ids', 'other_ids:uuids')`
  with gone as (
    delete from mails
     where workspace_id = $workspace_id and submission_ids <> '{}' and submission_ids && $submission_ids
       and (content is not null or submission_ids <@ $submission_ids)
    returning state, submission_ids
  )
  select case when state = 'queued'
           then array(select unnest(submission_ids) except select unnest($submission_ids)) else '{}' end as other_ids
    from gone`;

export type MailState = 'queued' | 'sent' | 'failed' | 'cancelled';
export const mailStates = ['queued', 'sent', 'failed', 'cancelled'] as const satisfies readonly MailState[];
