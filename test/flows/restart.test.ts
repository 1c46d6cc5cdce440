import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInaccessibleDirectory, findPostgresAccount } from '#kit/embedded-postgres/machine.ts';
import { publishForm, sendVisitors, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';
import { isSlice } from '../cases.ts';

/*
 * The tests share one instance from its first start. Each continues with the server of the previous test,
 * because a start takes a second.
 */
const instance = await makeInstance({}, { isNew: true });
let server = await instance.start();

const linkIn = (output: string): string | undefined => /http\S+\/app\/setup\?token=\S+/.exec(output)?.[0];

test('a Ctrl-C that arrives from terminal and npm stops the server cleanly, and idle connections do not delay it', async () => {
  const connection = connect(Number(new URL(instance.url).port), '127.0.0.1');
  await once(connection, 'connect');
  process.kill(server.pid, 'SIGINT');
  const { code, ms } = await server.terminate();
  connection.destroy();
  assert.equal(code, 0, server.output());
  // Waiting for the connection would take the grace period of 8 s.
  assert.ok(ms < 7_000 || ms < 7_000 * slowness(), `${ms} ms`);
  assert.equal(await instance.databasePid(), undefined);
});

test('the first start prints a setup link, and each later start a new one until it is used', async () => {
  const old = linkIn(server.output())!;
  server = await instance.start();
  const link = linkIn(server.output())!;
  const account = new URLSearchParams({
    email: 'ada@example.com',
    password: 'correct horse battery',
    workspace_name: 'Pianos',
  });
  const use = (address: string) => fetch(address, { method: 'POST', body: account });

  assert.equal((await use(old)).status, 410, 'the link of an earlier start');
  const done = await use(link);
  assert.equal(done.status, 200);
  const key = /fl_[\w-]{43}/.exec(await done.text())![0];
  assert.equal(
    (await fetch(`${instance.url}/api/v1/forms`, { headers: { Authorization: `Bearer ${key}` } })).status,
    200,
  );
  assert.equal((await use(link)).status, 410, 'used already');
});

test('SIGTERM under load with a hanging receiver: started requests are answered, readyz is 503, exit is 0, and the next start sends the delivery immediately', async () => {
  const receiver = await openReceiver();
  const hung = await publishForm(instance, receiver.url);
  receiver.replyWith('hang');
  await submitEntry(hung.publicUrl, 'one');
  await receiver.waitFor(1);
  const form = await publishForm(instance);
  const visitors = sendVisitors(form.publicUrl, { count: 8, name: 'load', pauseMs: 20 });
  await until('some submissions', async () => visitors.acknowledged.size > 100);

  const ending = server.terminate();
  await until(
    'readyz to say that it stops',
    async () => (await fetch(`${instance.url}/readyz`)).status === 503,
  );
  const { code, ms } = await ending;
  await visitors.gone;
  assert.equal(code, 0, server.output());
  // Below 10 s on an idle machine. A busy one takes longer to stop a database. Kubernetes allows 30 s.
  assert.ok(ms < 30_000, `${ms} ms`);
  assert.deepEqual(visitors.failures, []);
  assert.equal(await instance.databasePid(), undefined, 'the database is stopped with its last user');

  receiver.replyWith(200);
  server = await instance.start();
  assert.equal(linkIn(server.output()), undefined, 'the set-up link was used');
  // Well before the end of its lease, because the stopped server released it.
  const [first, again] = await receiver.waitFor(2);
  assert.equal(again!.headers['x-service-delivery-id'], first!.headers['x-service-delivery-id']);
  const { idsByAnswer, totals, listed } = await form.listAll();
  assert.deepEqual(
    new Map([...idsByAnswer].map(([entry, ids]) => [entry, ids.join()])),
    visitors.acknowledged,
  );
  assert.deepEqual([...totals], [listed]);
});

test('kill -9 of the database: 503 with Retry-After in the meantime, then success, without a restart of the server', async () => {
  const form = await publishForm(instance);
  await submitEntry(form.publicUrl, 'before');
  const dead = await instance.databasePid();
  await instance.killDatabase();

  const refused = new Set<string>();
  const since = performance.now();
  await until('a submission to be accepted again', async () => {
    const outcome = await submitEntry(form.publicUrl, 'after');
    if ('failure' in outcome) {
      assert.equal(outcome.failure, '503', server.output());
      refused.add(outcome.retryAfter ?? 'none');
    }
    return 'id' in outcome;
  });
  const seconds = (performance.now() - since) / 1_000;
  assert.deepEqual(
    [...refused],
    ['1'],
    'at least one request met a database that was away, and was told when to come back',
  );
  assert.ok(seconds < 20, `${seconds} s`);
  assert.notEqual(await instance.databasePid(), dead);
  const { idsByAnswer } = await form.listAll();
  assert.deepEqual([...idsByAnswer.keys()].sort(), ['after', 'before']);
});

test('kill -9 of the server alone: the next start uses the database that is still running', {
  skip: isSlice,
}, async () => {
  const form = await publishForm(instance);
  const visitors = sendVisitors(form.publicUrl, { count: 4, name: 'load' });
  await until('some submissions', async () => visitors.acknowledged.size > 20);
  const pid = await instance.databasePid();
  await server.kill();
  await visitors.gone;
  assert.equal(await instance.databasePid(), pid);
  const next = await instance.start();
  assert.equal(await instance.databasePid(), pid);
  const { idsByAnswer } = await form.listAll();
  for (const [entry, id] of visitors.acknowledged) assert.deepEqual(idsByAnswer.get(entry), [id]);
  assert.equal((await next.terminate()).code, 0);
  assert.equal(await instance.databasePid(), undefined, 'the heir stops it');
});

test('a SECRET_KEY other than the database’s is refused with exit 1', { skip: isSlice }, async () => {
  const refused = await instance.failToStart({ SECRET_KEY: '7e'.repeat(32) });
  assert.equal(refused.code, 1);
  assert.match(refused.output, /could not start\.\nThe database uses a key other than SECRET_KEY/);
});

test('a port in use gives a message that names it, exit 1, and leaves no database running', {
  skip: isSlice,
}, async () => {
  const port = Number(new URL(instance.url).port);
  const other = createServer().listen(port, '127.0.0.1');
  const { code, output } = await instance.failToStart();
  other.close();
  assert.equal(code, 1);
  assert.match(output, new RegExp(`could not start\\.\\n127\\.0\\.0\\.1:${port}: This port is in use\\.`));
  assert.doesNotMatch(output, /\n\s+at /);
  assert.equal(await instance.databasePid(), undefined);
});

test('a wrong configuration lists all problems, exits with 1 and does not show the secret', {
  skip: isSlice,
}, async () => {
  const instance = await makeInstance({
    PORT: '0',
    LOG_LEVEL: 'loud',
    WEBHOOK_RETRY_DELAYS: 'soon',
    SECRET_KEY: 'hunter2',
  });
  const { code, output } = await instance.failToStart();
  assert.equal(code, 1);
  for (const name of ['PORT', 'LOG_LEVEL', 'WEBHOOK_RETRY_DELAYS', 'SECRET_KEY'])
    assert.match(output, new RegExp(`- ${name} `));
  assert.doesNotMatch(output, /hunter2|\n\s+at /);
});

test('a read-only data directory gives a message with the remedy and exit 1', {
  skip: isSlice,
}, async (t) => {
  const instance = await makeInstance();
  const directory = join(instance.dataDir, 'closed');
  await mkdir(directory);
  await chmod(directory, 0o555);
  // Root can write everywhere, so the server runs as the user of the database.
  const user = await findPostgresAccount();
  if (user && (await findInaccessibleDirectory(process.execPath, user)))
    return t.skip(`${user.name} cannot run Node here`);
  const { code, output } = await instance.failToStart(
    { DATA_DIR: directory },
    user && { uid: user.uid, gid: user.gid },
  );
  assert.equal(code, 1);
  assert.match(output, /could not start\.\n.*EACCES.*(Give|choose another DATA_DIR)/);
  assert.doesNotMatch(output, /\n\s+at /);
});

test('a DATABASE_URL without a server gives a message and exit 1', { skip: isSlice }, async () => {
  const instance = await makeInstance({ DATABASE_URL: 'postgres://formloom:hunter2@127.0.0.1:1/formloom' });
  const { code, output } = await instance.failToStart();
  assert.equal(code, 1);
  assert.match(output, /could not start\.\nThe database does not respond: .*127\.0\.0\.1:1/);
  assert.doesNotMatch(output, /hunter2|\n\s+at /);
});
