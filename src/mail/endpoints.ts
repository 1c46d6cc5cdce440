import type { Config } from '#kit/config.ts';
import { belowId, endCut, readCut } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { type MailState, mailStates } from '#kit/outbox/mail-states.ts';
import { nullable, requireRow, statement, word } from '#kit/statement.ts';
import { wired } from '#kit/wire.ts';
import { requireWholeWorkspace } from '#workspaces/reach.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { countTry } from '#workspaces/sign-in.ts';
import { findLoggedMail, loggedMail, loggedMails, retryMail } from './log.ts';
import { sendTestMail } from './sending/send-test-mail.ts';
import { LoggedMail, MailLog, MailQuery, MailStatus, TestAnswer, TestMail } from './shapes.ts';

/** The mail log, newest first. */
const selectMails = statement(
  'mail.select_mails',
  ['workspace_id below limit offset', { state: nullable(word<MailState>()) }],
  loggedMail,
  `${loggedMails} and ($state is null or m.state = $state) and m.id < $below
    order by m.id desc
    limit $limit offset $offset`,
);

/** How many there are of each state. */
const countMails = statement(
  'mail.count_mails',
  'workspace_id',
  ['count', { state: word<MailState>() }],
  `select state, count(*) as count from mails where workspace_id = $workspace_id and not is_private group by state`,
);

/** Tests of a workspace in a minute: each is a mail that anybody may get. */
const testsPerMinute = 5;

type Context = { database: Database; config: Config; requestCounter: RequestCounter; wakeQueue: () => void };

/** The mail log of a workspace. Its addresses are personal data: of people, admins alone see them. */
export function mailEndpoints(context: Context) {
  const { database, config } = context;
  const find = async (workspaceId: string, id: string) => {
    const mail = requireRow(await findLoggedMail(database, { workspace_id: workspaceId, id }));
    return wired(mail);
  };

  const countLog = async (workspaceId: string, state: MailState | undefined): Promise<number> => {
    const counts = await readCounts(database, workspaceId);
    return state ? counts[state] : Object.values(counts).reduce((sum, one) => sum + one, 0);
  };

  return {
    getMailStatus: operation({
      summary: 'Get mail status',
      description:
        'Whether mail leaves this service, from which address, and how many mails of each state there are.',
      permission: 'mail:read',
      reply: { status: 200, description: 'The status.', schema: MailStatus },
      async run({ workspaceId, formIds }) {
        requireWholeWorkspace(formIds);
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
      summary: 'List mails',
      description: 'The mails of the last 90 days and how they fared, newest first.',
      permission: 'mail:read',
      query: MailQuery,
      reply: { status: 200, description: 'A page of mails.', schema: MailLog },
      async run({ workspaceId, formIds, query }) {
        requireWholeWorkspace(formIds);
        const cut = readCut(query, 'mails');
        const rows = await selectMails(database, {
          workspace_id: workspaceId,
          state: query.state ?? null,
          below: belowId(cut),
          limit: cut.limit,
          offset: cut.offset,
        });
        const total = cut.total ?? (await countLog(workspaceId, query.state));
        const { rows: data, ends } = endCut(cut, rows, total);
        return { body: { data: wired([...data]), ...ends } };
      },
    }),

    getMail: operation({
      summary: 'Get mail',
      permission: 'mail:read',
      params: idParameter,
      reply: { status: 200, description: 'The mail and how it fared.', schema: LoggedMail },
      async run({ workspaceId, formIds, params }) {
        requireWholeWorkspace(formIds);
        return { body: await find(workspaceId, params.id) };
      },
    }),

    retryMail: operation({
      summary: 'Retry mail',
      description: 'Sends a failed mail once more. 409: it has not failed, or nobody wants it any more.',
      permission: 'mail:write',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 202, description: 'The mail, on its way.', schema: LoggedMail },
      async run({ workspaceId, formIds, params }) {
        requireWholeWorkspace(formIds);
        await retryMail(context, { workspaceId, id: params.id });
        return { body: await find(workspaceId, params.id) };
      },
    }),

    testMail: operation({
      summary: 'Test mail',
      description: `Sends one mail at once and tells what the mail server said: ${testsPerMinute} a minute.`,
      permission: 'mail:write',
      body: TestMail,
      example: { body: { to: 'ada@example.org' } },
      reply: { status: 200, description: 'How it fared.', schema: TestAnswer },
      async run({ workspaceId, formIds, body }) {
        requireWholeWorkspace(formIds);
        const to = readMailAddress(body.to);
        if (!to) {
          throw new ApiError('validation_error', undefined, {
            errors: [
              {
                field: 'to',
                message: 'This is not an email address, such as ada@example.org.',
                code: 'invalid_format',
              },
            ],
          });
        }
        await countTry(context, `mail tests of ${workspaceId}`, testsPerMinute);
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
