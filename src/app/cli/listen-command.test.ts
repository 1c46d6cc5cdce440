import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { closedPort, openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { verifySignature } from '#webhooks/signature.ts';
import { runCommandLine } from './run-command-line.ts';

const service = await openService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();
const makeForm = async (): Promise<string> =>
  (await tenant.call('POST', '/forms', { structure: structure(element('text', 'subject')), publish: true }))
    .body.id;

/** Runs `listen` in this process, and waits until it listens. */
async function listen(...options: string[]) {
  let output = '';
  const ended = runCommandLine(['listen', '--url', service.url, ...options], {
    environment: { FORMLOOM_API_KEY: tenant.key },
    print: (text) => void (output += text),
    complain: (text) => void (output += text),
  });
  await until('it to listen', async () => output.includes('Listening'));
  return { ended, output: () => output };
}

/** Opens a local program that receives plain HTTP. */
async function openProgram(status = 200) {
  const requests: { headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, requests };
}

test('`listen` forwards new events, signed as a webhook signs them, and no earlier ones', async () => {
  const form = await makeForm();
  await visitor.submit(form, { subject: 'before' });
  const program = await openProgram();
  const { ended, output } = await listen('--forward-to', program.url, '--secret', 'hush', '--count', '2');
  await visitor.submit(form, { subject: 'one' });
  await visitor.submit(form, { subject: 'two' });
  assert.equal(await ended, 0);
  const subjects = program.requests.map(
    ({ body }) =>
      (JSON.parse(body) as { submission: { responses: { value: string }[] } }).submission.responses,
  );
  assert.deepEqual(
    subjects.map((each) => JSON.stringify(each).match(/before|one|two/)?.[0]),
    ['one', 'two'],
  );
  for (const { headers, body } of program.requests) {
    assert.ok(verifySignature('hush', body, String(headers['x-service-signature'])));
    assert.equal(headers['x-service-event'], 'submission.created');
    assert.equal(headers['x-service-delivery-id'], (JSON.parse(body) as { delivery_id: string }).delivery_id);
    assert.match(String(headers['webhook-signature']), /^v1,/);
  }
  assert.match(output(), /submission\.created .* 200 in \d+ ms/);
});

test('`--form` forwards one form only; a failing or unreachable program is reported, and the next event is sent', async () => {
  const [form, other] = [await makeForm(), await makeForm()];
  const program = await openProgram(500);
  const { ended, output } = await listen('--forward-to', program.url, '--form', form, '--count', '1');
  await visitor.submit(other, { subject: 'another form' });
  await visitor.submit(form, { subject: 'this form' });
  assert.equal(await ended, 0);
  assert.equal(program.requests.length, 1);
  assert.match(program.requests[0]!.body, /this form/);
  assert.match(output(), / 500 in \d+ ms/);

  const unreachable = await listen('--forward-to', `http://127.0.0.1:${closedPort}/`, '--count', '2');
  await visitor.submit(form, { subject: 'one' });
  await visitor.submit(form, { subject: 'two' });
  assert.equal(await unreachable.ended, 0);
  assert.equal(unreachable.output().match(/no response: ECONNREFUSED/g)?.length, 2);
});

test('`listen` rejects an address that is not a web address', async () => {
  let complaint = '';
  const code = await runCommandLine(['listen', '--forward-to', 'ftp://here/'], {
    environment: {},
    print: () => {},
    complain: (text) => void (complaint += text),
  });
  assert.equal(code, 2);
  assert.match(complaint, /a URL that begins with http:\/\/ or https:\/\//);
});

test('`listen` ends at the first event that it cannot print, because the reader of its output has closed', {
  skip: isSlice,
}, async (t) => {
  const form = await makeForm();
  const line =
    '"$0" --disable-warning=ExperimentalWarning dist/service/cli.js listen --url "$1" --forward-to "$2" | head -1';
  const program = await openProgram();
  const child = spawn('bash', ['-c', line, process.execPath, service.url, program.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, FORMLOOM_API_KEY: tenant.key },
  });
  t.after(() => child.kill('SIGKILL'));
  // `bash` waits for both sides of the pipe.
  const closed = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until('it to listen', async () => output.includes('Listening'));
  await visitor.submit(form, { subject: 'one' });
  assert.deepEqual(await closed, [0, null]);
  assert.equal(program.requests.length, 1);
});
