import { ApiError } from '#kit/errors.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { type MailState, mailStates } from '#kit/outbox/queries.ts';
import { paginate, readPage } from '#kit/pagination.ts';
import { retryMail } from '#mail/log/mail-log.ts';
import { countMails, selectMails } from '#mail/log/queries.ts';
import { sendTestMail } from '#mail/sending/send-test-mail.ts';
import { countTry } from '#workspaces/sign-in.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { mailParameter, MailQuery, type MailStatus, type TestAnswer, TestMail } from './shapes.ts';

/** Tests of a workspace in a minute: each is a mail that anybody may get. */
const testsPerMinute = 5;

/** The mail log of a workspace (src/mail/). Its addresses are personal data: admins alone see them. */
export function mailConsoleRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [
    ['GET', '/workspaces/:workspace/mail', statusEndpoint(services)],
    ['GET', '/workspaces/:workspace/mails', listEndpoint(services)],
    ['POST', '/workspaces/:workspace/mails/:mail/retries', retryEndpoint(services)],
    ['POST', '/workspaces/:workspace/mail-tests', testEndpoint(services)],
  ];
}

const statusEndpoint = ({ database, config }: ConsoleServices) =>
  consoleEndpoint({
    role: 'admin',
    async run({ workspaceId }) {
      const body: MailStatus = {
        is_on: config.smtp !== undefined,
        from: config.smtp?.from.address ?? null,
        per_minute: config.mailPerMinute,
        counts: await readCounts(database, workspaceId),
      };
      return { status: 200, body };
    },
  });

async function readCounts(
  database: ConsoleServices['database'],
  workspaceId: string,
): Promise<Record<MailState, number>> {
  const rows = await countMails(database, { workspace_id: workspaceId });
  const counted = new Map(rows.map(({ state, count }) => [state, count]));
  return Object.fromEntries(mailStates.map((state) => [state, counted.get(state) ?? 0])) as Record<
    MailState,
    number
  >;
}

const listEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'admin',
    query: MailQuery,
    async run({ workspaceId, query }) {
      const page = readPage(query);
      const data = await selectMails(database, {
        workspace_id: workspaceId,
        state: query.state ?? null,
        limit: page.perPage,
        offset: page.offset,
      });
      const counts = await readCounts(database, workspaceId);
      const total = query.state
        ? counts[query.state]
        : Object.values(counts).reduce((sum, one) => sum + one, 0);
      return { status: 200, body: { data, pagination: paginate(page, total) } };
    },
  });

const retryEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'admin',
    params: mailParameter,
    async run({ workspaceId, params }) {
      await retryMail(services, { workspaceId, id: params.mail });
      return { status: 204 };
    },
  });

const testEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'admin',
    body: TestMail,
    async run({ workspaceId, body }) {
      const to = readMailAddress(body.to);
      if (!to) {
        throw new ApiError('validation_error', undefined, {
          errors: [{ field: 'to', message: 'This is not an email address, such as ada@example.org.' }],
        });
      }
      await countTry(services, `mail tests of ${workspaceId}`, testsPerMinute);
      const { sent, result } = await sendTestMail(services.config.smtp, to);
      const answer: TestAnswer = { sent, result };
      return { status: 200, body: answer };
    },
  });
