import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { transaction } from '#kit/database.ts';
import { ApiError, rateLimitExceeded } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { cancelMails, enqueueMail, type NewMail, sendMailJobKind } from '#kit/outbox.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { readSmtp, type SmtpConfig } from '#kit/smtp.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { openMailServer, type Treatment } from '#test/mail-server.ts';
import { until } from '#test/service.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { createMailHandler, type SendMailServices } from './send-mail.ts';

const { database } = await testDatabase();
const vault = openVault('0a'.repeat(32));
const server = await openMailServer();

const smtpOf = (url: string, from = 'Forms <forms@formloom.test>'): SmtpConfig => {
  const problems: string[] = [];
  const smtp = readSmtp({ url, from }, problems);
  assert.deepEqual(problems, []);
  return smtp!;
};

/** The bytes that each rendering of a PDF returns, or the error that it throws, in order. */
const renderings: (Buffer | Error)[] = [];

const context: SendMailServices = {
  database,
  vault,
  signLink: ({ workspaceId, id }) => `https://files.test/${workspaceId}/${id}?signed`,
  async renderPdf({ certificate }) {
    const next = certificate ? new ApiError('not_found') : renderings.shift();
    if (!(next instanceof Buffer)) throw next ?? new Error('No rendering is left.');
    const ending = ' AAAAA-BBBBB.pdf';
    return { bytes: next, formName: 'A/b "c"\r\nBcc: eve@example.test', ending };
  },
  config: {
    smtp: smtpOf(server.url),
    mailPerMinute: 60_000,
    mailToVisitors: 10,
    limits: { invitationsPerPerson: 0, invitationsPerWorkspace: 0 },
    mailRetryDelays: [0.05, 0.05, 0.05, 0.05, 0.05],
  },
};
const queue = startQueue({
  database,
  log: openLog('silent'),
  handlers: { [sendMailJobKind]: { run: createMailHandler(context), perLane: 1 } },
});
after(() => queue.stop({ graceMs: 0 }));

const { id: workspaceId } = await createWorkspace(database, { name: 'Mails', plan: 'free' });

const letter: NewMail['letter'] = {
  heading: 'Hello',
  blocks: [{ kind: 'text', text: 'A text.' }],
  reason: 'Because of a test.',
};

async function enqueue(mail: Partial<NewMail> & { to: NewMail['to'] }): Promise<string> {
  const id = await transaction(database, (client) =>
    enqueueMail(client, vault, { workspaceId }, { kind: 'test', subject: 'A subject', letter, ...mail }),
  );
  queue.wake();
  return id;
}

type Row = { state: string; attempts: number; error: string | null; content: Buffer | null };
const find = async (id: string): Promise<Row> =>
  (await database.query<Row>('select state, attempts, error, content from mails where id = $1', [id]))
    .rows[0]!;

const settled = (id: string): Promise<Row> =>
  until(`mail ${id} to be settled`, async () => {
    const row = await find(id);
    return row.state !== 'queued' && row;
  });

test('an email is sent as text and HTML when its transaction commits, and its content is then deleted', async () => {
  const id = await enqueue({
    to: { address: 'ada+forms@example.test', name: 'Ada, Countess "A" Lovelace' },
    subject: 'Grüße aus 東京',
    unsubscribeUrl: 'https://formloom.test/u/1',
    replyTo: 'answers@example.test',
    letter: {
      heading: 'Tom & <Jerry>',
      blocks: [
        { kind: 'text', text: 'One\n\nTwo <b>' },
        { kind: 'button', label: 'Open', url: 'https://formloom.test/f/1?a=1&b=2' },
        {
          kind: 'fields',
          fields: [{ label: 'Files', files: [{ id: 'f1', filename: 'a<b>.pdf', size: 2_500 }] }],
        },
      ],
      reason: 'You asked for it.',
    },
  });
  const row = await settled(id);
  assert.deepEqual(row, { state: 'sent', attempts: 1, error: null, content: null });
  const { mail, from, raw } = await server.waitForOne('ada+forms@example.test');
  assert.equal(from, 'forms@formloom.test');
  assert.deepEqual(mail.from, { name: 'Forms', address: 'forms@formloom.test' });
  assert.deepEqual(mail.to, [{ name: 'Ada, Countess "A" Lovelace', address: 'ada+forms@example.test' }]);
  assert.equal(mail.subject, 'Grüße aus 東京');
  assert.equal(mail.messageId, `<${id}@formloom.test>`);
  assert.match(raw, /^List-Unsubscribe: <https:\/\/formloom\.test\/u\/1>\r?$/m);
  assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
  assert.match(raw, /^Auto-Submitted: auto-generated\r?$/m);
  assert.match(mail.html!, /<h1 dir="auto">Tom &amp; &lt;Jerry&gt;<\/h1>/);
  assert.match(mail.html!, /href="https:\/\/formloom\.test\/f\/1\?a=1&amp;b=2"/);
  assert.match(mail.html!, /a&lt;b&gt;\.pdf<\/a> \(3 kB\)/);
  assert.match(mail.text!, /Tom & <Jerry>/);
  assert.match(mail.text!, /Links to files work for one hour/);
});

const pdf = { submissionId: '01890000-0000-7000-8000-000000000000', fallback: 'There is no PDF.' };

test('a PDF is attached once the workspace can render it', async () => {
  renderings.push(rateLimitExceeded(0.1, 'Two PDFs are rendered.'), Buffer.from('%PDF-1'));
  const row = await settled(await enqueue({ to: { address: 'pdf@example.test' }, pdf }));
  assert.deepEqual([row.state, row.attempts], ['sent', 1], 'waiting is not an attempt');
  const { mail, raw } = await server.waitForOne('pdf@example.test');
  const [file] = mail.attachments;
  assert.deepEqual(
    [mail.attachments.length, file!.mimeType, file!.disposition],
    [1, 'application/pdf', 'attachment'],
  );
  assert.match(file!.filename!, /^A-b "c".*eve@example\.test [\dA-Z]{5}-[\dA-Z]{5}\.pdf$/s);
  assert.equal(Buffer.from(file!.content as ArrayBuffer).toString(), '%PDF-1');
  assert.doesNotMatch(raw, /^Bcc/im);
  assert.doesNotMatch(mail.text!, /There is no PDF/);
});

test('an email is sent without its PDF, and says so, if the PDF is too large or fails', async () => {
  for (const [name, problem] of Object.entries({
    large: Buffer.alloc(7_000_001),
    gone: new ApiError('not_found'),
    slow: new ApiError('service_unavailable'),
  })) {
    renderings.push(problem);
    await settled(await enqueue({ to: { address: `${name}@example.test` }, pdf }));
    const { mail } = await server.waitForOne(`${name}@example.test`);
    assert.equal(mail.attachments.length, 0, name);
    assert.match(mail.text!, /A text\.\s+There is no PDF\./);
    assert.match(mail.html!, /There is no PDF\./);
  }
  const id = await enqueue({ to: { address: 'broken@example.test' }, pdf });
  await until('the email to be sent in spite of the error', async () => {
    await database.query('update jobs set run_at = now() where id = $1 and lease_token is null', [id]);
    queue.wake();
    return (await find(id)).state === 'sent';
  });
  assert.match((await server.waitForOne('broken@example.test')).mail.text!, /There is no PDF\./);
});

test('an email that is rolled back is never sent', async () => {
  await assert.rejects(
    transaction(database, async (client) => {
      await enqueueMail(
        client,
        vault,
        { workspaceId },
        { kind: 'test', to: { address: 'never@example.test' }, subject: 's', letter },
      );
      throw new Error('rolled back');
    }),
    /rolled back/,
  );
  await settled(await enqueue({ to: { address: 'after@example.test' } }));
  assert.equal(server.taken.filter(({ to }) => to.includes('never@example.test')).length, 0);
});

const fates: readonly {
  name: string;
  treatments: Treatment[];
  becomes: Partial<Row>;
  error: RegExp;
  taken: number;
}[] = [
  {
    name: 'a refused recipient (5xx) fails at once, with the words of the dialogue',
    treatments: ['refuse recipient'],
    becomes: { state: 'failed', attempts: 1 },
    error: /^The mail server rejected the recipient: 550 5\.1\.1 No such user: /,
    taken: 0,
  },
  {
    name: 'a refused message (5xx) fails at once, with the words of the dialogue',
    treatments: ['refuse message'],
    becomes: { state: 'failed', attempts: 1 },
    error: /^The mail server rejected the message: 554 5\.6\.0 Message refused$/,
    taken: 0,
  },
  {
    name: 'what is put off (4xx) is sent later',
    treatments: ['put off recipient', 'put off recipient'],
    becomes: { state: 'sent', attempts: 3 },
    error: /^$/,
    taken: 1,
  },
  {
    name: 'a connection that is cut while the message goes over it is tried again',
    treatments: ['cut in data'],
    becomes: { state: 'sent', attempts: 2 },
    error: /^$/,
    taken: 1,
  },
  {
    name: 'what is put off again and again fails after the last retry',
    treatments: Array<Treatment>(6).fill('put off recipient'),
    becomes: { state: 'failed', attempts: 6 },
    error: /^The mail server deferred the recipient: 451 4\.7\.1 Come back later \(no retries left\)$/,
    taken: 0,
  },
];

for (const [index, { name, treatments, becomes, error, taken }] of fates.entries()) {
  test(name, async () => {
    const address = `fate${index}@example.test`;
    server.treat(address, ...treatments);
    const row = await settled(await enqueue({ to: { address } }));
    assert.deepEqual({ state: row.state, attempts: row.attempts }, becomes);
    assert.match(row.error ?? '', error);
    assert.equal(server.taken.filter(({ to }) => to.includes(address)).length, taken);
    assert.equal(row.content === null, row.state === 'sent', 'what failed can be retried by hand');
  });
}

test('a duplicate after a lost reply has the Message-ID of the first email', async () => {
  server.treat('double@example.test', 'take and cut');
  await settled(await enqueue({ to: { address: 'double@example.test' } }));
  const [first, second] = await server.waitFor('double@example.test', 2);
  assert.equal(first!.mail.messageId, second!.mail.messageId);
  assert.equal(first!.mail.date, second!.mail.date);
});

test('emails wait while the mail server is unavailable, and are sent when it returns', async () => {
  await server.goAway();
  const id = await enqueue({ to: { address: 'patient@example.test' } });
  const waiting = await until('a first attempt', async () => {
    const row = await find(id);
    return row.attempts > 0 && row;
  });
  assert.match(waiting.error!, /^The mail server cannot be reached: /);
  await server.comeBack();
  assert.equal((await settled(id)).state, 'sent');
  assert.equal((await server.waitFor('patient@example.test', 1)).length, 1);
});

test('a cancelled email is not sent', async () => {
  await server.goAway();
  const id = await enqueue({ to: { address: 'cancelled@example.test' } });
  await cancelMails(database, { workspace_id: workspaceId, ids: [id] });
  await server.comeBack();
  await until('its job to be gone', async () => {
    const { rowCount } = await database.query('select from jobs where id = $1', [id]);
    return rowCount === 0;
  });
  assert.equal((await find(id)).state, 'cancelled');
  assert.equal(server.taken.filter(({ to }) => to.includes('cancelled@example.test')).length, 0);
});

test('without a mail server an email fails immediately with a clear reason', async () => {
  const job = {
    workspaceId,
    id: '',
    kind: sendMailJobKind,
    lane: '',
    payload: {},
    leaseToken: '',
    failures: 0,
    lostClaims: 0,
  };
  const offline = createMailHandler({ ...context, config: { ...context.config, smtp: undefined } });
  await queue.stop({ graceMs: 1_000 });
  const id = await enqueue({ to: { address: 'unknown@example.test' } });
  const token = '00000000-0000-4000-8000-000000000001';
  await database.query('update jobs set lease_token = $2 where id = $1', [id, token]);
  await offline({ ...job, id, leaseToken: token }, new AbortController().signal, {
    enter: async () => undefined,
    leave: () => undefined,
  });
  const row = await find(id);
  assert.equal(row.state, 'failed');
  assert.match(row.error!, /^Email is not set up on this server/);
});
