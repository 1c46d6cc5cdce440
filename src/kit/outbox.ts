import { newId } from './clock.ts';
import { countedAddress, type MailAddress, readMailAddress } from './outbox/address.ts';
import { insertJobs } from './queue.ts';
import {
  byteStrings,
  type Column,
  double,
  nullable,
  type Queryable,
  statement,
  text,
  texts,
} from './statement.ts';
import type { Vault } from './vault.ts';

/**
 * Every kind of mail, and how it is paced: `bulk` goes to many at once and may take its time, `prompt` is waited for.
 * A mail of one pace never waits behind those of the other.
 */
export const mailPaces = {
  notification: 'prompt',
  digest: 'prompt',
  receipt: 'prompt',
  resume_link: 'prompt',
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

/** The kind of the jobs that send; the job's id is the mail's. */
export const sendMailJob = 'send_mail';

/** One lane for each pace: a process has one mail of a lane under way, so a crash repeats no more than that one. */
export const laneOfMail = (kind: MailKind): string => `mail ${mailPaces[kind]}`;

/** A file that a letter names: its link is signed when the mail is sent, and works for an hour from then. */
export type LetterFile = { id: string; filename: string; size: number };

/** An answer or a fact: a label with a text of one or more lines, or with files. */
export type LetterField = { label: string } & ({ value: string } | { files: readonly LetterFile[] });

/**
 * A part of a letter. Texts are plain: every character is shown as it is, a line break is one, and an empty line
 * begins a paragraph. Markup is made in one place only (src/mail/template/).
 */
export type LetterBlock =
  | { kind: 'text'; text: string }
  | { kind: 'heading'; text: string }
  /** An action; its address is written out below, for readers that show no buttons. http and https only. */
  | { kind: 'button'; label: string; url: string }
  | { kind: 'fields'; fields: readonly LetterField[] };

/** What a mail says, apart from how it looks: one letter becomes the HTML and the text of the mail. */
export type Letter = {
  /** The language of the text (BCP 47), English when left out: readers speak and hyphenate by it. */
  lang?: string;
  heading: string;
  blocks: readonly LetterBlock[];
  /** The sentence below files: their links do not last. English when left out. */
  filesNote?: string;
  /** The small print: why this person gets this mail. */
  reason: string;
};

const kinds: Column<MailKind[]> = { pg: texts.pg };

/** Mails of a workspace with the jobs that send them; none for an id that there is. The arrays belong together. */
const insertMails = statement(
  'outbox.insert_mails',
  [
    'workspace_id form_id? is_private:boolean submission_ids ids lanes recipients:texts',
    'subjects:texts contents:byteStrings',
    {
      /** Whose limits they count against. */
      account_id: nullable(text),
      kinds,
      /** countedAddress of each. */
      counted_as: byteStrings,
      /** Seconds until they may leave. */
      delay: double,
    },
  ],
  '',
  `with made as materialized (
     select *, now() + make_interval(secs => $delay) as run_at, now() as at from unnest($ids, $kinds, $lanes, $recipients, $counted_as, $subjects, $contents)
       as made (id, kind, lane, recipient, counted_as, subject, content)
   ),
   mail as (
     insert into mails (workspace_id, id, kind, form_id, recipient, subject, content, state, is_private,
                        submission_ids, next_attempt_at, created_at)
     select $workspace_id, id, kind, $form_id, recipient, subject, content, 'queued', $is_private,
            $submission_ids, run_at, at
       from made
     on conflict (workspace_id, id) do nothing
     returning id
   ),
   counted as (
     insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at)
     select $workspace_id, id, kind, $form_id, $account_id, counted_as, at
       from made join mail using (id)
     on conflict (workspace_id, id) do nothing
   ),
   job as materialized (
     select $workspace_id as workspace_id, id, '${sendMailJob}' as kind, lane, '{}'::jsonb as payload, run_at, at
       from made join mail using (id)
   ),
   put as (${insertJobs('job')})
   select`,
);

export type NewMail = {
  /** Of one that may be written again, by who cannot know whether it was: the same each time (idOf). */
  id?: string;
  kind: MailKind;
  to: MailAddress;
  /** One line; line breaks and control characters become spaces, and it is cut after 200 characters. */
  subject: string;
  letter: Letter;
  /** Where answers go, when not to the sender's own address. */
  replyTo?: string;
  /** Where a POST ends mails like this one for the recipient (RFC 8058), and a visit asks first. */
  unsubscribeUrl?: string;
};

/** What `mails.content` holds, sealed. */
export type MailContent = Pick<NewMail, 'letter' | 'replyTo' | 'unsubscribeUrl'> & { name?: string };

/** Where mails belong. */
type MailOwner = {
  workspaceId: string;
  /** The form that they are about: they are deleted with it. */
  formId?: string;
  /** Between a person and the service, and not for the workspace's mail log. */
  isPrivate?: boolean;
  /** The submissions that they tell of: they are erased with each of these. */
  submissionIds?: readonly string[];
  /** The account whose limits they count against (src/mail/sending/quota.ts). */
  accountId?: string | null;
  /** Seconds until they may leave; at once when left out. */
  delay?: number;
};

const longestSubject = 200;

/**
 * Writes mails into the outbox, in the caller's transaction: they leave when it commits, and never when it does not.
 * Call wakeQueue after the commit, or they leave within 15 s. Up to a thousand at once are one round trip.
 * @returns their ids, in their order.
 * @throws when an address is none (readMailAddress): check what people enter before.
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
    counted_as: rows.map(({ to }) => countedAddress(to.address)),
    subjects: rows.map(({ subject }) => oneLine(subject)),
    contents: rows.map((row) => vault.seal('mails', JSON.stringify(contentOf(row)))),
  });
  return rows.map(({ id }) => id);
}

/** enqueueMails for one. @returns its id. */
export async function enqueueMail(
  db: Queryable,
  vault: Vault,
  owner: MailOwner,
  mail: NewMail,
): Promise<string> {
  const [id] = await enqueueMails(db, vault, owner, [mail]);
  return id!;
}

const contentOf = ({ to, letter, replyTo, unsubscribeUrl }: NewMail): MailContent => ({
  letter,
  ...(to.name !== undefined && { name: oneLine(to.name) }),
  ...(replyTo !== undefined && { replyTo: checkAddress({ address: replyTo }).address }),
  ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
});

function checkAddress({ address, name }: MailAddress): MailAddress {
  const read = readMailAddress(address);
  if (!read || read.name !== undefined) throw new Error('A mail is addressed to what is no mail address.');
  return name === undefined ? read : { ...read, name };
}

/** Header text: no line breaks, no control characters, no half characters. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
    .slice(0, longestSubject)
    // The cut may have left half a character.
    .toWellFormed();

/** Those of the named that had not left. One that is under way at this moment may still arrive. */
export const cancelMails = statement(
  'outbox.cancel_mails',
  'workspace_id ids',
  'id',
  `update mails
      set state = 'cancelled', content = null, next_attempt_at = null, settled_at = now()
    where workspace_id = $workspace_id and id = any($ids) and state = 'queued'
   returning id`,
);

/**
 * Removes the mails that tell of submissions, sent or not. One that left long ago and told of others too said nothing
 * that is kept here.
 * @returns of each that had not left, the others that it told of.
 */
export const deleteMailsAbout = statement(
  'outbox.delete_mails_about',
  'workspace_id submission_ids',
  'other_ids:uuids',
  `with gone as (
     delete from mails
      where workspace_id = $workspace_id and submission_ids <> '{}' and submission_ids && $submission_ids
        and (content is not null or submission_ids <@ $submission_ids)
     returning state, submission_ids
   )
   select case when state = 'queued'
            then array(select unnest(submission_ids) except select unnest($submission_ids)) else '{}' end as other_ids
     from gone`,
);

/** Where a mail is on its way. */
export type MailState = 'queued' | 'sent' | 'failed' | 'cancelled';
export const mailStates = ['queued', 'sent', 'failed', 'cancelled'] as const satisfies readonly MailState[];
