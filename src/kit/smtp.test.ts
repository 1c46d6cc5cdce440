import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { openMailServer } from '#test/mail-server.ts';
import { openReceiver } from '#test/receiver.ts';
import { readSmtp, type SmtpConfig, type SmtpOutcome, sendMessage } from './smtp.ts';

const smtpOf = (url: string): SmtpConfig => {
  const problems: string[] = [];
  const smtp = readSmtp({ url, from: 'forms@formloom.test' }, problems);
  assert.deepEqual(problems, []);
  return smtp!;
};
const raw = Buffer.from('Subject: A test\r\n\r\nHello\r\n');
const send = (
  url: string,
  recipient = 'ada@example.test',
  onLine?: (line: string) => void,
): Promise<SmtpOutcome> => sendMessage(smtpOf(url), { recipient, raw }, onLine ? { onLine } : {});

test('credentials are sent if the server asks for them, and never appear in the logged dialogue', async () => {
  const server = await openMailServer({ login: { user: 'formloom', password: 'hunter2&more' } });
  const lines: string[] = [];
  assert.equal((await send(server.url, 'ada@example.test', (line) => lines.push(line))).kind, 'sent');
  const dialogue = lines.join('\n');
  assert.match(dialogue, /^> EHLO /m);
  assert.match(dialogue, /^< 250 Accepted/m);
  const secrets = ['hunter2', Buffer.from('\0formloom\0hunter2&more').toString('base64')];
  for (const secret of secrets) assert.ok(!dialogue.includes(secret));
});

test('wrong credentials defer emails, because an operator can fix them, and are not in the message', async () => {
  const server = await openMailServer({ login: { user: 'formloom', password: 'right' } });
  const outcome = await send(server.url.replace(':right@', ':hunter2@'));
  assert.deepEqual(outcome, {
    kind: 'deferred',
    reason: 'The mail server rejected the credentials of SMTP_URL: 535 Authentication failed',
    isOfServer: true,
  });
});

for (const tls of ['implicit', 'starttls'] as const) {
  test(`with TLS (${tls}) a valid certificate is accepted`, async () => {
    const server = await openMailServer({ tls });
    assert.equal((await send(server.url)).kind, 'sent');
  });
}

for (const certificate of ['selfsigned', 'elsewhere'] as const) {
  test(`a server whose certificate is ${certificate} gets no email, neither with implicit TLS nor with STARTTLS`, async () => {
    const server = await openMailServer({ tls: 'starttls', certificate });
    // Any TLS server will do: the client stops after the certificate.
    const receiver = await openReceiver({ certificate });
    for (const url of [server.url, `smtps://${new URL(receiver.url).host}`]) {
      const outcome = await send(url);
      assert.equal(outcome.kind, 'deferred');
      assert.match('reason' in outcome ? outcome.reason : '', /certificate|altnames/i);
    }
    assert.equal(server.taken.length, 0);
  });
}

test('if TLS is required, a server without TLS gets nothing', async () => {
  const server = await openMailServer();
  const outcome = await send(`${server.url}?tls=required`);
  assert.equal(outcome.kind, 'deferred');
  assert.equal(server.taken.length, 0);
});

test('a domain in another script is sent as Punycode to every mail server', async () => {
  const server = await openMailServer({ smtpUtf8: false });
  const lines: string[] = [];
  assert.equal((await send(server.url, 'ada@bücher.example', (line) => lines.push(line))).kind, 'sent');
  assert.match(lines.join('\n'), /^> RCPT TO:<ada@xn--bcher-kva\.example>/m);
});

test('an address that needs SMTPUTF8 fails with that reason if the server does not offer it', async () => {
  const server = await openMailServer({ smtpUtf8: false });
  const outcome = await send(server.url, 'jösé@bücher.example');
  assert.deepEqual(outcome, {
    kind: 'refused',
    reason:
      'The mail server does not support SMTPUTF8, which jösé@xn--bcher-kva.example requires because the part before the @ is not ASCII. Use an ASCII address or another mail server.',
  });
  assert.equal(server.taken.length, 0);
});

test('a Reply-To that needs SMTPUTF8 fails with the same reason as a recipient', async () => {
  const server = await openMailServer({ smtpUtf8: false });
  const sendTo = (replyTo: string): Promise<SmtpOutcome> =>
    sendMessage(smtpOf(server.url), { recipient: 'ada@example.test', raw, replyTo });
  const outcome = await sendTo('jösé@bücher.example');
  assert.equal(outcome.kind, 'refused');
  assert.match(
    'reason' in outcome ? outcome.reason : '',
    /SMTPUTF8, which jösé@xn--bcher-kva\.example requires/,
  );
  assert.equal(server.taken.length, 0);
  assert.equal((await sendTo('jose@bücher.example')).kind, 'sent', 'a domain alone is Punycode');
});

test('an address in another script arrives unchanged', async () => {
  const server = await openMailServer();
  assert.equal((await send(server.url, 'jösé@xn--bcher-kva.example')).kind, 'sent');
  assert.equal(server.taken[0]!.to[0]!.normalize(), 'jösé@bücher.example');
});

test('an abort ends the sending immediately', async () => {
  const listening = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  after(() => listening.close());
  const { port } = listening.address() as { port: number };
  const ending = new AbortController();
  const sending = sendMessage(
    smtpOf(`smtp://127.0.0.1:${port}`),
    { recipient: 'ada@example.test', raw },
    { signal: ending.signal },
  );
  ending.abort(new Error('The process is stopping.'));
  await assert.rejects(sending, /The process is stopping/);
});
