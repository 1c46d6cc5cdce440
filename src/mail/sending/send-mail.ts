import { setTimeout as sleep } from 'node:timers/promises';
import { followInvitationMail } from '#invitations/mail-invitations.ts';
import { now } from '#kit/clock.ts';
import { type Database, homeOf, transaction } from '#kit/database.ts';
import { countedAddress, type MailAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import { type MailContent, type MailKind, type MailState, mailPaces } from '#kit/outbox.ts';
import type { OnParked } from '#kit/queue/park-job.ts';
import { completeJob, type Job, type JobHandler, rescheduleJob } from '#kit/queue.ts';
import { type SmtpConfig, type SmtpOutcome, sendMessage } from '#kit/smtp.ts';
import { double, nullable, only, type Queryable, statement, text, word } from '#kit/statement.ts';
import type { LinkTarget, Vault } from '#kit/vault.ts';
import { checkQuotas, type PutOff, type QuotaConfig } from './quota.ts';
import { type DrawnLetter, drawLetter } from './template.ts';

/** How a mail ended, or that an attempt failed and another follows (`queued`). */
type MailNote = {
  workspaceId: string;
  mailId: string;
  state: 'queued' | 'sent' | 'failed';
  error: string | null;
};

/** Hears how mails of a kind fare, in the transaction that writes it down. */
type Follower = (client: Queryable, note: MailNote) => Promise<void>;

/** What lower rooms do when their mails have left, or never will. */
const followers: Partial<Readonly<Record<MailKind, Follower>>> = {
  invitation: followInvitationMail,
  reminder: followInvitationMail,
};

type MessageParts = {
  /** The mail's id: the Message-ID is made of it, so whoever gets it twice has the same message twice. */
  id: string;
  from: MailAddress;
  to: MailAddress;
  subject: string;
  /** When the mail was written; the same in each attempt. */
  date: Date;
  letter: DrawnLetter;
  replyTo?: string | undefined;
  unsubscribeUrl?: string | undefined;
};

/**
 * The message as it goes over the wire (RFC 5322, MIME): text and HTML alternatives. Names and subjects are encoded by
 * the library, and nothing in them can begin a header (send-mail.test.ts holds it). It may not read files or addresses.
 */
export async function composeMessage(parts: MessageParts): Promise<Buffer> {
  const { id, from, to, subject, date, letter, replyTo, unsubscribeUrl } = parts;
  // Loaded when there is something to send: an instance without mail does without it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    messageId: messageIdOf(id, from),
    from: named(from),
    to: named(to),
    subject,
    date,
    text: letter.text,
    html: letter.html,
    headers: {
      // RFC 3834: no holiday notices, please.
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

/** As an object, so that the library reads no commas and brackets out of a name. */
const named = ({ address, name = '' }: MailAddress): { name: string; address: string } => ({ name, address });

/** Seconds between two mails of a pace. */
const step = "case when name = 'bulk' then $bulk_step else $prompt_step end";

/**
 * Takes the next place of the pace that is free first, unless that is more than `patience` seconds away.
 * @returns the seconds until then.
 */
export const takePlace = statement(
  'mail.take_place',
  [
    'names prompt_step:double patience:double',
    {
      /** Seconds between two mails of each pace. */
      bulk_step: double,
    },
  ],
  'wait:double',
  `with taken as (
     update mail_pace
        set next_at = greatest(next_at, now()) + make_interval(secs => ${step})
      where name = (select name from mail_pace where name = any($names) order by next_at limit 1)
        and next_at <= now() + make_interval(secs => $patience)
     returning name, next_at
   )
   select greatest(extract(epoch from next_at - now())::double precision - ${step}, 0) as wait from taken`,
);

/** What mails to many may use of the rate; the rest stays free for what somebody waits for. */
const bulkShare = 0.8;
/** A sender waits this long for its turn at most: with the dialogue (12 s) it stays within a lease of 25 s. */
const patienceSeconds = 8;

/**
 * Waits for a mail's turn, so that `perMinute` mails leave in a minute over all processes. `prompt` mails use what the
 * others leave, and a fifth of the rate in any case.
 * @returns false when its turn is too far away: try again.
 * @throws the signal's reason when it aborts.
 */
async function waitForTurn(
  database: Database,
  { kind, perMinute }: { kind: MailKind; perMinute: number },
  signal: AbortSignal,
): Promise<boolean> {
  const pace = mailPaces[kind];
  const [place] = await takePlace(homeOf(database), {
    names: pace === 'bulk' ? ['bulk'] : ['bulk', 'prompt'],
    bulk_step: 60 / (perMinute * bulkShare),
    prompt_step: 60 / (perMinute * (1 - bulkShare)),
    patience: patienceSeconds,
  });
  const wait = place?.wait ?? patienceSeconds;
  if (wait > 0) await sleep(wait * 1_000, undefined, { signal });
  return place !== undefined;
}

/** A mail as its sender needs it; nothing when it was deleted with its form. */
const findMail = statement(
  'mail.find_mail',
  'workspace_id id',
  [
    'form_id? recipient subject content? attempts:integer created_at',
    {
      kind: word<MailKind>(),
      /** Whose limits it counts against. */
      account_id: nullable(text),
      state: word<MailState>(),
    },
  ],
  `select m.kind, m.form_id, m.recipient, c.account_id, m.subject, m.content, m.state, m.attempts, m.created_at
     from mails m
     left join counted_emails c on c.workspace_id = m.workspace_id and c.id = m.id
    where m.workspace_id = $workspace_id and m.id = $id`,
);

/** Counts an email that was sent, also if it was queued so long ago that its row is gone. */
const countSentEmail = statement(
  'mail.count_sent_email',
  ['workspace_id id form_id? account_id? recipient:bytes queued_at:timestamp', { kind: word<MailKind>() }],
  '',
  `insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at, sent_at)
   values ($workspace_id, $id, $kind, $form_id, $account_id, $recipient, $queued_at, now())
   on conflict (workspace_id, id) do update set sent_at = excluded.sent_at`,
);

/** How an attempt ended. What was sent needs its content no more. What was cancelled meanwhile stays so, unless it left. */
const settleMail = statement(
  'mail.settle_mail',
  [
    'workspace_id id error?',
    {
      state: word<MailState>(),
      /** Seconds until the next attempt; null when there is none. */
      delay: nullable(double),
    },
  ],
  '',
  `update mails
      set state = $state, attempts = attempts + 1, error = $error,
          next_attempt_at = now() + make_interval(secs => $delay),
          content = case when $state = 'sent' then null else content end,
          settled_at = now() + case when $delay is null then interval '0' end
    where workspace_id = $workspace_id and id = $id and (state = 'queued' or $state = 'sent')`,
);

/** Says in the log why a mail waits. It has not been tried. */
const putOffMail = statement(
  'mail.put_off',
  'workspace_id id reason delay',
  '',
  `update mails set error = $reason, next_attempt_at = now() + make_interval(secs => $delay)
    where workspace_id = $workspace_id and id = $id and state = 'queued'`,
);

export type SendContext = {
  database: Database;
  vault: Pick<Vault, 'unseal'>;
  /** The download address of a file, good for an hour from now. */
  signLink: (file: LinkTarget) => string;
  config: {
    smtp: SmtpConfig | undefined;
    mailPerMinute: number;
    mailRetryDelays: readonly number[];
  } & QuotaConfig;
  /** Counts what became of each mail that the server was asked to take. */
  onAttempt?: ((state: Verdict['state'], outcome: SmtpOutcome) => void) | undefined;
};

type FoundMail = Awaited<ReturnType<typeof findMail>>[number];

export const mailIsOff = 'Mail is not set up on this server: SMTP_URL and MAIL_FROM are not set.';

/**
 * The handler of the jobs that send (kit/outbox/kinds.ts): one mail, one dialogue, settled in one transaction with its
 * job. Between the server's "250" and that transaction a crash makes the mail leave twice, with the same Message-ID.
 */
export function sendMail(context: SendContext): JobHandler {
  const { database, config } = context;
  return async (job, signal) => {
    const waiting = await findQueued(context, job);
    if (!waiting) return completeJob(database, job);
    if (config.smtp) {
      const late = await checkQuotas(database, { ...job, ...waiting }, config);
      if (late) return putOff(context, job, waiting, late);
      const turn = { kind: waiting.kind, perMinute: config.mailPerMinute };
      if (!(await waitForTurn(database, turn, signal))) return rescheduleJob(database, job, { delay: 0 });
    }
    // It may have been cancelled while it waited.
    const mail = await findQueued(context, job);
    if (!mail) return completeJob(database, job);
    await settle(context, job, mail, await attempt(context, job, mail, signal));
  };
}

async function findQueued({ database }: SendContext, job: Job): Promise<FoundMail | undefined> {
  const mail = only(await findMail(database, { workspace_id: job.workspaceId, id: job.id }));
  return mail?.state === 'queued' ? mail : undefined;
}

async function attempt(
  { vault, signLink, config }: SendContext,
  { workspaceId, id }: Job,
  mail: FoundMail,
  signal: AbortSignal,
): Promise<SmtpOutcome> {
  const { smtp } = config;
  if (!smtp) return { kind: 'refused', reason: mailIsOff };
  const content = readContent(vault, mail.content);
  if (!content) return { kind: 'refused', reason: 'The mail cannot be read with the key of this server.' };
  const { letter, name, replyTo, unsubscribeUrl } = content;
  const raw = await composeMessage({
    id,
    from: smtp.from,
    to: { address: mail.recipient, ...(name !== undefined && { name }) },
    subject: mail.subject,
    date: mail.created_at,
    letter: drawLetter(letter, (fileId) => signLink({ workspaceId, formId: mail.form_id!, id: fileId })),
    replyTo,
    unsubscribeUrl,
  });
  return sendMessage(smtp, { recipient: mail.recipient, raw, replyTo }, { signal });
}

/** Undefined when it was sealed with another key. */
function readContent(vault: SendContext['vault'], sealed: Buffer | null): MailContent | undefined {
  if (!sealed) return undefined;
  try {
    return JSON.parse(vault.unseal('mails', sealed)) as MailContent;
  } catch {
    return undefined;
  }
}

/** A mail that has waited for its place for so long is not sent any more by itself. */
const longestWaitMs = 86_400_000;

/** Nothing is lost without a word: the log says why a mail waits, and in the end why it did not leave. */
async function putOff(
  context: SendContext,
  job: Job,
  mail: FoundMail,
  { reason, delay }: PutOff,
): Promise<void> {
  if (now().getTime() - mail.created_at.getTime() > longestWaitMs)
    return settle(context, job, mail, { kind: 'refused', reason: `${reason} A day has passed.` });
  await transaction(context.database, async (client) => {
    await rescheduleJob(client, job, { delay });
    await putOffMail(client, { workspace_id: job.workspaceId, id: job.id, reason, delay });
  });
}

async function settle(
  { database, config, onAttempt }: SendContext,
  job: Job,
  mail: FoundMail,
  outcome: SmtpOutcome,
): Promise<void> {
  const { kind, form_id, account_id, recipient, attempts } = mail;
  const { state, error, delay } = verdictOf(outcome, attempts, config.mailRetryDelays);
  await transaction(database, async (client) => {
    // First, for it holds the job: whoever lost the lease writes nothing.
    if (delay === null) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay });
    // What the mail is about comes before the mail, as it does for whoever resends or revokes: in the other order the two
    // waited for each other, and PostgreSQL ended one of them after a second.
    await followers[kind]?.(client, { workspaceId: job.workspaceId, mailId: job.id, state, error });
    await settleMail(client, { workspace_id: job.workspaceId, id: job.id, state, error, delay });
    if (state === 'sent')
      await countSentEmail(client, {
        workspace_id: job.workspaceId,
        id: job.id,
        kind,
        form_id,
        account_id,
        recipient: countedAddress(recipient),
        queued_at: mail.created_at,
      });
  });
  onAttempt?.(state, outcome);
}

/** Shows in the mail log why a parked email is not sent. Retrying it by hand sends it. */
export const failParkedMail: OnParked = async (client, { workspaceId, id }, reason) => {
  const mail = only(await findMail(client, { workspace_id: workspaceId, id }));
  if (mail?.state !== 'queued') return;
  const failed = { state: 'failed', error: reason } as const;
  await followers[mail.kind]?.(client, { workspaceId, mailId: id, ...failed });
  await settleMail(client, { workspace_id: workspaceId, id, ...failed, delay: null });
};

type Verdict = { state: 'queued' | 'sent' | 'failed'; error: string | null; delay: number | null };

/** What becomes of a mail after its attempt number `attempts + 1`. */
function verdictOf(outcome: SmtpOutcome, attempts: number, retryDelays: readonly number[]): Verdict {
  if (outcome.kind === 'sent') return { state: 'sent', error: null, delay: null };
  if (outcome.kind === 'refused') return { state: 'failed', error: outcome.reason, delay: null };
  const delay = retryDelays[attempts];
  if (delay !== undefined) return { state: 'queued', error: outcome.reason, delay };
  return { state: 'failed', error: `${outcome.reason} (no automatic retries are left)`, delay: null };
}
