import { unsubscribedHashSql } from '#invitations/links-file.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { type MailAddress, readEnteredAddress, wrongAddressMessage } from '#kit/outbox/address.ts';
import {
  laneOfMail,
  type MailKind,
  type MailState,
  mailPaces,
  mailStates,
  sendMailJobKind,
} from '#kit/outbox.ts';
import { finishPage, readPageRequest, upperIdBound } from '#kit/pagination.ts';
import { insertJobsSql } from '#kit/queue.ts';
import { type SmtpConfig, sendMessage } from '#kit/smtp.ts';
import { columns, nullable, requireRow, statement, textEnum, texts } from '#kit/statement.ts';
import { requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { retentionIntervalSql } from '#workspaces/retention.ts';
import { limitAttempts } from '#workspaces/sign-in/sign-in.ts';
import { composeMessage, mailNotConfigured } from './sending/send-mail.ts';
import { renderEmail } from './sending/template.ts';
import { LoggedMail, MailLog, MailQuery, MailStatus, TestMailRequest, TestMailResult } from './shapes.ts';

/**
 * Deletes old settled emails. @returns the deleted ones; a full batch of 1,000 means that there may be more.
 */
export const deleteOldMails = statement('now', 'id')`
  /* sweep: across workspaces */
  delete from mails where (workspace_id, id) in (
    select m.workspace_id, m.id from mails m
      join workspaces w on w.id = m.workspace_id
      left join forms f on f.workspace_id = m.workspace_id and f.id = m.form_id
     where m.created_at < $now - ${retentionIntervalSql('mails')} and m.state <> 'queued'
     order by m.created_at limit 1000)
  returning id`;

/**
 * The columns of an entry in the email log. The log has no private emails. It hides the six-digit code with which
 * a subject begins: a member who reads it could verify the address of another person.
 */
const loggedMail = columns(
  'id form_id? form_name? recipient subject attempts:integer error? created_at',
  'settled_at:timestamp? next_attempt_at:timestamp?',
  { kind: textEnum<MailKind>(), state: textEnum<MailState>() },
);

const loggedMails = `
   select m.id, m.kind, m.form_id, f.name as form_name, m.recipient,
          case m.kind when 'email_code' then overlay(m.subject placing '••••••' from 1 for 6) else m.subject end as subject,
          m.state, m.attempts, m.error, m.created_at, m.settled_at, m.next_attempt_at
     from mails m
     left join forms f on f.workspace_id = m.workspace_id and f.id = m.form_id and f.deleted_at is null
    where m.workspace_id = $workspace_id and not m.is_private`;

const findLoggedMail = statement('workspace_id id', loggedMail)`
  ${loggedMails} and m.id = $id`;

/**
 * Queues a failed email again; of two parallel requests, one gets the row. An email about an invitation must
 * be the latest one for that invitation. The link must not be revoked, nor the address unsubscribed.
 */
const requeueMail = statement(
  [
    'workspace_id id lanes',
    {
      /** All kinds of email, with their lanes in `lanes`. */
      kinds: texts,
      /** The kinds about invitations. */
      invitation_kinds: texts,
    },
  ],
  'id',
)`
  with again as (
    update mails set state = 'queued', next_attempt_at = now(), settled_at = null
     where workspace_id = $workspace_id and id = $id and state = 'failed' and not is_private
       and (kind <> all($invitation_kinds) or exists (
         select from invitations i
          where i.workspace_id = mails.workspace_id and i.mail_id = mails.id and i.revoked_at is null
            and not exists (select from unsubscribed_addresses u
                             where u.workspace_id = i.workspace_id and u.address_key = ${unsubscribedHashSql('i.address_key')})))
    returning id, kind
  ),
  job as materialized (
    select $workspace_id as workspace_id, again.id, '${sendMailJobKind}' as kind, known.lane, '{}'::jsonb as payload,
           now() as run_at, now() as at
      from again join unnest($kinds, $lanes) as known (kind, lane) on known.kind = again.kind
  ),
  put as (${insertJobsSql('job')})
  select id from again`;

/**
 * Queues a failed email of a workspace again.
 * @throws ApiError not_found if it is not in the workspace's log; conflict if it has not failed, or if its
 * invitation was revoked, unsubscribed or emailed since.
 */
export async function retryMail(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  const kinds = Object.keys(mailPaces) as MailKind[];
  const again = await requeueMail(database, {
    workspace_id: workspaceId,
    id,
    kinds,
    lanes: kinds.map(laneOfMail),
    invitation_kinds: ['invitation', 'reminder'] satisfies MailKind[],
  });
  if (again.length === 0 && (await findLoggedMail(database, { workspace_id: workspaceId, id })).length === 0)
    throw new ApiError('not_found');
  if (again.length === 0)
    throw new ApiError(
      'conflict',
      "This email can't be sent again: it has not failed, or its invitation no longer needs it.",
    );
  wakeQueue();
}

/** Lists the email log, newest first. */
const selectMails = statement(
  ['workspace_id below limit offset', { state: nullable(textEnum<MailState>()) }],
  loggedMail,
)`
  ${loggedMails} and ($state is null or m.state = $state) and m.id < $below
   order by m.id desc
   limit $limit offset $offset`;

const countMails = statement('workspace_id', ['count', { state: textEnum<MailState>() }])`
  select state, count(*) as count from mails where workspace_id = $workspace_id and not is_private group by state`;

/** Limit of test emails per workspace and minute, because they can go to any address. */
const testsPerMinute = 5;

type Context = { database: Database; config: Config; requestCounter: RequestCounter; wakeQueue: () => void };

/**
 * Operations on the email log of a workspace. Its addresses are personal data, so only owners and admins can
 * see it.
 */
export function mailEndpoints(context: Context) {
  const { database, config } = context;
  const find = async (workspaceId: string, id: string) => {
    const mail = requireRow(await findLoggedMail(database, { workspace_id: workspaceId, id }));
    return asWireValue(mail);
  };

  const countLog = async (workspaceId: string, state: MailState | undefined): Promise<number> => {
    const counts = await readCounts(database, workspaceId);
    return state ? counts[state] : Object.values(counts).reduce((sum, one) => sum + one, 0);
  };

  return {
    getMailStatus: operation({
      summary: 'Get email status',
      description:
        'Returns whether the server sends email, its sender address, and the number of emails in each state.',
      permission: 'mail:read',
      reply: { status: 200, description: 'The status.', schema: MailStatus },
      async run({ workspaceId, formIds }) {
        requireWorkspaceAccess(formIds);
        const body = {
          is_on: config.smtp !== undefined,
          from: config.smtp?.from.address ?? null,
          per_minute: config.mailPerMinute,
          counts: await readCounts(database, workspaceId),
        };
        return { body };
      },
    }),

    listMails: operation({
      summary: 'List emails',
      description: 'Returns the emails of the last 90 days with their delivery status, newest first.',
      permission: 'mail:read',
      query: MailQuery,
      reply: { status: 200, description: 'A page of emails.', schema: MailLog },
      async run({ workspaceId, formIds, query }) {
        requireWorkspaceAccess(formIds);
        const cut = readPageRequest(query, 'mails');
        const rows = await selectMails(database, {
          workspace_id: workspaceId,
          state: query.state ?? null,
          below: upperIdBound(cut),
          limit: cut.limit,
          offset: cut.offset,
        });
        const total = cut.total ?? (await countLog(workspaceId, query.state));
        const { rows: data, ends } = finishPage(cut, rows, total);
        return { body: { data: asWireValue([...data]), ...ends } };
      },
    }),

    getMail: operation({
      summary: 'Get email',
      permission: 'mail:read',
      params: idParameter,
      reply: { status: 200, description: 'The email and its delivery status.', schema: LoggedMail },
      async run({ workspaceId, formIds, params }) {
        requireWorkspaceAccess(formIds);
        return { body: await find(workspaceId, params.id) };
      },
    }),

    retryMail: operation({
      summary: 'Retry email',
      description:
        'Sends a failed email again. 409 if it has not failed, or if its invitation no longer needs it.',
      permission: 'mail:write',
      audit: 'entry',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 202, description: 'The email, queued again.', schema: LoggedMail },
      async run({ workspaceId, formIds, params }) {
        requireWorkspaceAccess(formIds);
        await retryMail(context, { workspaceId, id: params.id });
        return { body: await find(workspaceId, params.id) };
      },
    }),

    testMail: operation({
      summary: 'Send test email',
      description: `Sends one email immediately and returns the mail server's response. Limit: ${testsPerMinute} a minute.`,
      permission: 'mail:write',
      audit: 'entry',
      body: TestMailRequest,
      example: { body: { to: 'ada@example.org' } },
      reply: { status: 200, description: 'The result.', schema: TestMailResult },
      async run({ workspaceId, formIds, body }) {
        requireWorkspaceAccess(formIds);
        const to = readEnteredAddress(body.to);
        if (!to)
          throw new ApiError('validation_error', undefined, {
            errors: [{ field: 'to', message: wrongAddressMessage, code: 'invalid_format' }],
          });
        await limitAttempts(context, `mail tests of ${workspaceId}`, testsPerMinute);
        const { sent, result } = await sendTestMail(config.smtp, to);
        return { body: { sent, result } };
      },
    }),
  };
}

async function readCounts(database: Database, workspaceId: string): Promise<Record<MailState, number>> {
  const rows = await countMails(database, { workspace_id: workspaceId });
  const counted = new Map(rows.map(({ state, count }) => [state, count]));
  return Object.fromEntries(mailStates.map((state) => [state, counted.get(state) ?? 0])) as Record<
    MailState,
    number
  >;
}

/** The result of a test, and its SMTP dialogue line by line, without credentials. */
type TestResult = { sent: boolean; result: string; dialogue: string[] };

/** Sends one email immediately, without the outbox, to test the mail server. */
export async function sendTestMail(smtp: SmtpConfig | undefined, to: MailAddress): Promise<TestResult> {
  if (!smtp) return { sent: false, result: `${mailNotConfigured} Set SMTP_URL and MAIL_FROM.`, dialogue: [] };
  const dialogue: string[] = [];
  const letter = {
    heading: 'Email works',
    blocks: [{ kind: 'text', text: 'This is a test. It shows that this Formloom server can send email.' }],
    reason: "You're receiving this email because someone requested a test email to this address.",
  } as const;
  const raw = await composeMessage({
    id: newId(),
    from: smtp.from,
    to,
    subject: 'Formloom test email',
    date: now(),
    letter: renderEmail(letter, String),
  });
  const outcome = await sendMessage(
    smtp,
    { recipient: to.address, raw },
    { onLine: (line) => void dialogue.push(line) },
  );
  if (outcome.kind !== 'sent') return { sent: false, result: outcome.reason, dialogue };
  return { sent: true, result: `The mail server accepted the email: ${outcome.response}`, dialogue };
}
