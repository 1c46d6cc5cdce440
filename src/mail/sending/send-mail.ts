import { setTimeout as sleep } from 'node:timers/promises';
import { recordInvitationEmailOutcome } from '#invitations/mail-invitations.ts';
import { now } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { fileNameOf } from '#kit/http.ts';
import { hashMailAddress, type MailAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import { type MailContent, type MailKind, type MailState, mailPaces } from '#kit/outbox.ts';
import type { OnParked } from '#kit/queue/park-job.ts';
import { completeJob, type Job, type JobHandler, rescheduleJob } from '#kit/queue.ts';
import { type SmtpConfig, type SmtpOutcome, sendMessage } from '#kit/smtp.ts';
import { double, nullable, onlyRow, type Queryable, statement, text, textEnum } from '#kit/statement.ts';
import type { LinkTarget, Vault } from '#kit/vault.ts';
import type { renderSubmissionPdf } from '#submissions/pdf/render-submission-pdf.ts';
import { checkMailLimits, type MailLimitConfig, type MailPostponement } from './mail-limits.ts';
import { type RenderedEmail, renderEmail } from './template.ts';

/** The outcome of an email; `queued` if an attempt failed and another one follows. */
type MailOutcome = {
  workspaceId: string;
  mailId: string;
  state: 'queued' | 'sent' | 'failed';
  error: string | null;
};

/** A function that is called with the outcome of an email, in the transaction that records it. */
type OutcomeHandler = (client: Queryable, note: MailOutcome) => Promise<void>;

/** Functions of other modules that handle the outcome of their emails. */
const outcomeHandlers: Partial<Readonly<Record<MailKind, OutcomeHandler>>> = {
  invitation: recordInvitationEmailOutcome,
  reminder: recordInvitationEmailOutcome,
};

/** A PDF that is attached to an email. */
type Pdf = { filename: string; content: Buffer };

type MessageParts = {
  /** The email's id. The Message-ID is made from it, so a duplicate is recognized as one. */
  id: string;
  from: MailAddress;
  to: MailAddress;
  subject: string;
  /** When the email was written; the same in every attempt. */
  date: Date;
  letter: RenderedEmail;
  pdfs?: readonly Pdf[];
  replyTo?: string | undefined;
  unsubscribeUrl?: string | undefined;
};

/**
 * Composes the message as it is sent (RFC 5322, MIME), with text and HTML alternatives. The library encodes
 * names and subjects, so that they cannot inject a header (tested in send-mail.test.ts). It must not read
 * files or URLs.
 */
export async function composeMessage(parts: MessageParts): Promise<Buffer> {
  const { id, from, to, subject, date, letter, pdfs = [], replyTo, unsubscribeUrl } = parts;
  // Loaded on first use, so that an instance without email does not need it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    messageId: messageIdOf(id, from),
    from: named(from),
    to: named(to),
    subject,
    date,
    text: letter.text,
    html: letter.html,
    attachments: pdfs.map((pdf) => ({ ...pdf, contentType: 'application/pdf' })),
    headers: {
      // RFC 3834: prevents automatic replies.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': { prepared: true, value: `<${new URL(unsubscribeUrl).href}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

const messageIdOf = (id: string, from: MailAddress): string =>
  `<${id}@${toAsciiDomain(from.address).replace(/^.*@/s, '')}>`;

/** Returns the address as an object, so that the library does not parse commas and brackets in a name. */
const named = ({ address, name = '' }: MailAddress): { name: string; address: string } => ({ name, address });

/** SQL: the seconds between two emails of the pace `name` (bulk or prompt). */
const step = "case when name = 'bulk' then $bulk_step else $prompt_step end";

/**
 * Reserves the earliest slot that is free in all the named paces, unless it is more than `patience` seconds
 * away.
 * @returns the seconds until the slot.
 */
export const reserveSendSlot = statement(
  [
    'names prompt_step:double patience:double',
    {
      /** The seconds between two bulk emails. `prompt_step` is the interval for prompt emails. */
      bulk_step: double,
    },
  ],
  'wait:double',
)`
  with taken as (
    update mail_pace
       set next_at = greatest(next_at, now()) + make_interval(secs => ${step})
     where name = (select name from mail_pace where name = any($names) order by next_at limit 1)
       and next_at <= now() + make_interval(secs => $patience)
    returning name, next_at
  )
  select greatest(extract(epoch from next_at - now())::double precision - ${step}, 0) as wait from taken`;

/** The share of the rate for bulk emails. The rest stays free for emails that a person waits for. */
const bulkShare = 0.8;
/** The longest wait for a slot. With the SMTP dialogue (12 s) it stays within the lease of 25 s. */
const patienceSeconds = 8;

/**
 * Waits for a slot, so that all processes together send `perMinute` emails a minute. `prompt` emails use what
 * bulk emails leave, which is always at least a fifth of the rate.
 * @returns false if the slot is too far away: try again.
 * @throws the signal's reason if it aborts.
 */
async function waitForSendSlot(
  database: Database,
  { kind, perMinute }: { kind: MailKind; perMinute: number },
  signal: AbortSignal,
): Promise<boolean> {
  const pace = mailPaces[kind];
  const [place] = await reserveSendSlot(sharedDatabaseOf(database), {
    names: pace === 'bulk' ? ['bulk'] : ['bulk', 'prompt'],
    bulk_step: 60 / (perMinute * bulkShare),
    prompt_step: 60 / (perMinute * (1 - bulkShare)),
    patience: patienceSeconds,
  });
  const wait = place?.wait ?? patienceSeconds;
  if (wait > 0) await sleep(wait * 1_000, undefined, { signal });
  return place !== undefined;
}

/** Finds an email to send; returns nothing if it was deleted with its form. */
const findMail = statement('workspace_id id', [
  'form_id? recipient subject content? attempts:integer created_at',
  {
    kind: textEnum<MailKind>(),
    /** The account whose limits apply. */
    account_id: nullable(text),
    state: textEnum<MailState>(),
  },
])`
  select m.kind, m.form_id, m.recipient, c.account_id, m.subject, m.content, m.state, m.attempts, m.created_at
    from mails m
    left join counted_emails c on c.workspace_id = m.workspace_id and c.id = m.id
   where m.workspace_id = $workspace_id and m.id = $id`;

/** Counts a sent email, even if it was queued long ago and its row is gone. */
const countSentEmail = statement(
  [
    'workspace_id id form_id? account_id? recipient:bytes queued_at:timestamp',
    { kind: textEnum<MailKind>() },
  ],
  '',
)`
  insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at, sent_at)
  values ($workspace_id, $id, $kind, $form_id, $account_id, $recipient, $queued_at, now())
  on conflict (workspace_id, id) do update set sent_at = excluded.sent_at`;

/**
 * Records the outcome of an attempt and deletes the content of a sent email. An email that was canceled in
 * the meantime stays canceled, unless it was sent.
 */
const settleMail = statement(
  [
    'workspace_id id error?',
    {
      state: textEnum<MailState>(),
      /** Seconds until the next attempt; null if there is none. */
      delay: nullable(double),
    },
  ],
  '',
)`
  update mails
     set state = $state, attempts = attempts + 1, error = $error,
         next_attempt_at = now() + make_interval(secs => $delay),
         content = case when $state = 'sent' then null else content end,
         settled_at = now() + case when $delay is null then interval '0' end
   where workspace_id = $workspace_id and id = $id and (state = 'queued' or $state = 'sent')`;

/** Records why an email waits, without counting an attempt. */
const postponeMail = statement('workspace_id id reason delay', '')`
  update mails set error = $reason, next_attempt_at = now() + make_interval(secs => $delay)
   where workspace_id = $workspace_id and id = $id and state = 'queued'`;

export type SendMailServices = {
  database: Database;
  vault: Pick<Vault, 'unseal'>;
  /** Returns the download URL of a file, valid for an hour from now. */
  signLink: (file: LinkTarget) => string;
  renderPdf: (request: Parameters<typeof renderSubmissionPdf>[1]) => ReturnType<typeof renderSubmissionPdf>;
  config: {
    smtp: SmtpConfig | undefined;
    mailPerMinute: number;
    mailRetryDelays: readonly number[];
  } & MailLimitConfig;
  /** Counts the outcome of each attempt. */
  onAttempt?: ((state: Verdict['state'], outcome: SmtpOutcome) => void) | undefined;
};

type FoundMail = Awaited<ReturnType<typeof findMail>>[number];

export const mailNotConfigured = 'Email is not set up on this server.';

/**
 * Handles the jobs that send emails (kit/outbox.ts): one email and one SMTP dialogue per job, whose outcome
 * is stored in one transaction with the job. If the process crashes between the server's "250" and that
 * transaction, the email is sent twice with the same Message-ID.
 */
export function createMailHandler(context: SendMailServices): JobHandler {
  const { database, config } = context;
  return async (job, signal) => {
    const waiting = await findQueued(context, job);
    if (!waiting) return completeJob(database, job);
    let pdfs: readonly Pdf[] = [];
    if (config.smtp) {
      const late = await checkMailLimits(database, { ...job, ...waiting }, config);
      if (late) return postponeJob(context, job, waiting, late);
      const rendered = await renderAttachments(context, job, waiting);
      if ('delay' in rendered) return postponeJob(context, job, waiting, rendered);
      pdfs = rendered;
      const turn = { kind: waiting.kind, perMinute: config.mailPerMinute };
      if (!(await waitForSendSlot(database, turn, signal))) return rescheduleJob(database, job, { delay: 0 });
    }
    // The email may have been canceled in the meantime.
    const mail = await findQueued(context, job);
    if (!mail) return completeJob(database, job);
    await settle(context, job, mail, await attempt(context, job, { ...mail, pdfs }, signal));
  };
}

async function findQueued({ database }: SendMailServices, job: Job): Promise<FoundMail | undefined> {
  const mail = onlyRow(await findMail(database, { workspace_id: job.workspaceId, id: job.id }));
  return mail?.state === 'queued' ? mail : undefined;
}

/** The largest attached PDF, in bytes. Encoded, it stays below 10 MB, a common limit of mail servers. */
const longestPdf = 7_000_000;
/** After this many failures in a row, about 15 s, the email is sent without its PDF. */
const pdfFailures = 4;

/**
 * Renders the PDFs of an email: the submission and, for visitors, its certificate if it has one. Returns none to
 * send it without, or how long to wait.
 */
async function renderAttachments(
  context: SendMailServices,
  { workspaceId, failures }: Job,
  { kind, content }: FoundMail,
): Promise<Pdf[] | MailPostponement> {
  const { submissionId: id } = readContent(context.vault, content)?.pdf ?? {};
  if (id === undefined) return [];
  const pdfs: Pdf[] = [];
  try {
    const isForVisitor = kind !== 'notification';
    for (const certificate of isForVisitor ? [false, true] : [false]) {
      const { bytes, formName, ending } = await context.renderPdf({
        workspaceId,
        id,
        isForVisitor,
        certificate,
      });
      if (bytes.length <= longestPdf) pdfs.push({ filename: fileNameOf(formName, ending), content: bytes });
    }
    return pdfs;
  } catch (error) {
    const { code, message, retryAfter = 5 }: Partial<ApiError> = error instanceof ApiError ? error : {};
    if (code === 'rate_limit_exceeded') return { reason: message!, delay: retryAfter };
    // There is no certificate, the submission is gone, or its PDF takes too long.
    if (code === 'not_found' || code === 'service_unavailable' || failures >= pdfFailures) return pdfs;
    throw error;
  }
}

async function attempt(
  { vault, signLink, config }: SendMailServices,
  { workspaceId, id }: Job,
  mail: FoundMail & { pdfs: readonly Pdf[] },
  signal: AbortSignal,
): Promise<SmtpOutcome> {
  const { smtp } = config;
  if (!smtp) return { kind: 'refused', reason: mailNotConfigured };
  const content = readContent(vault, mail.content);
  if (!content) return { kind: 'refused', reason: "The email can't be decrypted with this server's key." };
  const { letter, pdf: wanted, name, replyTo, unsubscribeUrl } = content;
  const { pdfs } = mail;
  const more = wanted && pdfs.length === 0 ? [{ kind: 'text', text: wanted.fallback } as const] : [];
  const body = { ...letter, blocks: [...letter.blocks, ...more] };
  const raw = await composeMessage({
    id,
    from: smtp.from,
    to: { address: mail.recipient, ...(name !== undefined && { name }) },
    subject: mail.subject,
    date: mail.created_at,
    letter: renderEmail(body, (fileId) => signLink({ workspaceId, formId: mail.form_id!, id: fileId })),
    pdfs,
    replyTo,
    unsubscribeUrl,
  });
  return sendMessage(smtp, { recipient: mail.recipient, raw, replyTo }, { signal });
}

/** Returns undefined if the content was sealed with another key. */
function readContent(vault: SendMailServices['vault'], sealed: Buffer | null): MailContent | undefined {
  if (!sealed) return undefined;
  try {
    return JSON.parse(vault.unseal('mails', sealed)) as MailContent;
  } catch {
    return undefined;
  }
}

/** An email that has waited this long is no longer sent automatically. */
const longestWaitMs = 86_400_000;

/** Postpones an email and records the reason in the log. After a day the email fails with it. */
async function postponeJob(
  context: SendMailServices,
  job: Job,
  mail: FoundMail,
  { reason, delay }: MailPostponement,
): Promise<void> {
  if (now().getTime() - mail.created_at.getTime() > longestWaitMs)
    return settle(context, job, mail, {
      kind: 'refused',
      reason: `${reason} The email was not sent within a day.`,
    });
  await transaction(context.database, async (client) => {
    await rescheduleJob(client, job, { delay });
    await postponeMail(client, { workspace_id: job.workspaceId, id: job.id, reason, delay });
  });
}

async function settle(
  { database, config, onAttempt }: SendMailServices,
  job: Job,
  mail: FoundMail,
  outcome: SmtpOutcome,
): Promise<void> {
  const { kind, form_id, account_id, recipient, attempts } = mail;
  const { state, error, delay } = verdictOf(outcome, attempts, config.mailRetryDelays);
  await transaction(database, async (client) => {
    // This comes first because it locks the job: a process that lost the lease writes nothing.
    if (delay === null) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay });
    // Locks the subject of the email (such as an invitation) before the email, as resending and revoking do.
    // In the opposite order the two deadlocked, and PostgreSQL aborted one after a second.
    await outcomeHandlers[kind]?.(client, { workspaceId: job.workspaceId, mailId: job.id, state, error });
    await settleMail(client, { workspace_id: job.workspaceId, id: job.id, state, error, delay });
    if (state === 'sent')
      await countSentEmail(client, {
        workspace_id: job.workspaceId,
        id: job.id,
        kind,
        form_id,
        account_id,
        recipient: hashMailAddress(recipient),
        queued_at: mail.created_at,
      });
  });
  onAttempt?.(state, outcome);
}

/** Shows in the email log why a parked email is not sent. Retrying it manually sends it. */
export const failParkedMail: OnParked = async (client, { workspaceId, id }, reason) => {
  const mail = onlyRow(await findMail(client, { workspace_id: workspaceId, id }));
  if (mail?.state !== 'queued') return;
  const failed = { state: 'failed', error: reason } as const;
  await outcomeHandlers[mail.kind]?.(client, { workspaceId, mailId: id, ...failed });
  await settleMail(client, { workspace_id: workspaceId, id, ...failed, delay: null });
};

type Verdict = { state: 'queued' | 'sent' | 'failed'; error: string | null; delay: number | null };

/** Returns the outcome of an email after its attempt number `attempts + 1`. */
function verdictOf(outcome: SmtpOutcome, attempts: number, retryDelays: readonly number[]): Verdict {
  if (outcome.kind === 'sent') return { state: 'sent', error: null, delay: null };
  if (outcome.kind === 'refused') return { state: 'failed', error: outcome.reason, delay: null };
  const delay = retryDelays[attempts];
  if (delay !== undefined) return { state: 'queued', error: outcome.reason, delay };
  return { state: 'failed', error: `${outcome.reason} (no retries left)`, delay: null };
}
