import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { openLog } from '#kit/log.ts';
import { openVault } from '#kit/vault.ts';
import { callConsole, makePerson } from '#test/console.ts';
import { type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { makeInstance, type ServerProcess } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { s3ServerAt } from '#test/s3-server.ts';
import { callApi, freePort, until } from '#test/service.ts';
import { openSwift } from '#test/swift.ts';
import { openAccounts } from '#workspaces/accounts/users.ts';
import { createKey } from '#workspaces/keys.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';

/*
 * Two machines with one database: each has a DATA_DIR, and they share PostgreSQL, an S3 store, a Valkey and
 * one SECRET_KEY. `npm run test:long -- nodes`. Not part of `npm test`, because it needs a Valkey and a
 * Swift.
 */
const { database, url: databaseUrl } = await testDatabase();
const { environment } = await openSwift();
const secretKey = '0f'.repeat(32);
const shared = {
  DATABASE_URL: databaseUrl,
  SECRET_KEY: secretKey,
  VALKEY_URL: process.env['VALKEY_TEST_URL']!,
  ...environment,
};
const first = await makeInstance(shared);
const second = await makeInstance({
  ...shared,
  PUBLIC_URL: first.url,
  PORT: String(await freePort()),
  WEB_PROCESSES: '2',
});
let [one, other] = await Promise.all([first.start(), second.start()]);
const receiver = await openReceiver();
const form = await publishForm(first, receiver.url);
const both = (): [ServerProcess, ServerProcess] => [one, other];

const upload = async (at: ServerProcess, name: string, content: string): Promise<string> => {
  const body = new FormData();
  body.append('file', new File([content], name, { type: 'text/plain' }));
  const answer = await fetch(`${at.url}/f/${form.id}/files`, {
    method: 'POST',
    body,
    headers: { Accept: 'application/json' },
  });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { token: string }).token;
};

test('a file sent to one node can be submitted at the other and read at both', async () => {
  for (const [here, there] of [both(), both().toReversed() as [ServerProcess, ServerProcess]]) {
    const body = new FormData();
    body.append('entry', 'with a file');
    body.append('_file[file]', await upload(here, 'a.txt', 'what it says'));
    const sent = await fetch(`${there.url}/f/${form.id}`, {
      method: 'POST',
      body,
      headers: { Accept: 'application/json' },
    });
    assert.equal(sent.status, 201);
    const { id } = (await sent.json()) as { id: string };
    const { answers } = (await callApi(here.url, form.key, 'GET', `/submissions/${id}`)).body;
    const [file] = answers['file'] as { url: string }[];
    for (const { url } of both())
      assert.equal(await (await fetch(file!.url.replace(first.url, url))).text(), 'what it says');
  }
});

test('an image sent to one node is shown by the other', async () => {
  const png = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#0b6655' } })
    .png()
    .toBuffer();
  const sent = await fetch(`${one.url}/api/v1/images`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${form.key}`, 'Content-Type': 'image/png' },
    body: new Uint8Array(png),
  });
  assert.equal(sent.status, 201);
  const { id } = (await sent.json()) as { id: string };
  await callApi(one.url, form.key, 'PATCH', `/forms/${form.id}`, { settings: { theme: { logo: id } } });
  const shown = await Promise.all(
    both().map(async ({ url }) =>
      Buffer.from(await (await fetch(`${url}/f/${form.id}/images/${id}`)).arrayBuffer()),
    ),
  );
  assert.ok(shown[0]!.length > 50);
  assert.deepEqual(shown[0], shown[1]);
});

/** Returns the cookie of a new session, as a browser sends it. */
async function signedIn(userId: string): Promise<string> {
  const accounts = openAccounts({
    database,
    vault: openVault(secretKey),
    log: openLog('silent'),
    publicUrl: first.url,
  });
  return (await (await accounts.library()).beginSession(userId, null, new Headers()))
    .map((each) => each.split(';', 1)[0])
    .join('; ');
}

test('signing in or out at one node applies to both', async () => {
  const cookie = await signedIn(await makePerson(database, 'ada@example.org'));
  const session = (at: ServerProcess, method = 'GET'): Promise<Response> =>
    fetch(`${at.url}/app/api/session`, {
      method,
      headers: { Cookie: cookie, 'Content-Type': 'application/json', Origin: at.url },
    });
  assert.deepEqual(
    (await Promise.all(both().map((each) => session(each)))).map(({ status }) => status),
    [200, 200],
  );
  await session(other, 'DELETE');
  assert.deepEqual(
    (await Promise.all(both().map((each) => session(each)))).map(({ status }) => status),
    [401, 401],
  );
});

test('console changes at one node apply at the other: releasing spam with a file, closing a form and revoking a key', async () => {
  const [workspace] = await first.query<{ id: string }>(
    `select workspace_id as id from forms where id = '${form.id}'`,
  );
  const userId = await makePerson(database, 'grace@example.org');
  await addMember(database, { workspaceId: workspace!.id, userId, role: 'owner' });
  const cookie = await signedIn(userId);
  const at = <Body>(server: ServerProcess, method: string, path: string, body?: unknown) =>
    callConsole<Body>(server.url, cookie, method, path, body, { 'X-Workspace-ID': workspace!.id });
  const spam = `/forms/${form.id}/spam`;
  const delivered = receiver.requests.length;
  const body = new FormData();
  body.append('entry', 'not spam');
  body.append('_website', 'https://spam.test');
  body.append('_file[file]', await upload(one, 'held.txt', 'what was held'));
  const sent = await fetch(`${one.url}/f/${form.id}`, {
    method: 'POST',
    body,
    headers: { Accept: 'application/json' },
  });
  assert.equal(sent.status, 201);
  const { id } = (await sent.json()) as { id: string };
  type Spam = { data: { id: string }[] };
  assert.deepEqual(
    (await at<Spam>(other, 'GET', spam)).body.data.map((held) => held.id),
    [id],
  );
  const released = await at<{ count: number }>(other, 'POST', `${spam}/releases`, { ids: [id] });
  assert.deepEqual([released.status, released.body.count], [200, 1]);
  assert.deepEqual((await at<Spam>(one, 'GET', spam)).body.data, []);
  for (const { url } of both()) {
    const { answers } = (await callApi(url, form.key, 'GET', `/submissions/${id}`)).body;
    const [file] = answers['file'] as { url: string }[];
    assert.equal(await (await fetch(file!.url.replace(first.url, url))).text(), 'what was held');
  }
  await until('its event to be delivered', async () =>
    receiver.requests.slice(delivered).some(({ body: told }) => String(told).includes(id)),
  );

  const pages = () => Promise.all(both().map(async ({ url }) => (await fetch(`${url}/f/${form.id}`)).text()));
  assert.ok((await pages()).every((page) => page.includes('_website')));
  await at(one, 'PATCH', `/forms/${form.id}`, { settings: { closes_at: '2026-01-01T00:00:00Z' } });
  assert.ok(
    (await pages()).every((page) => !page.includes('_website')),
    'closed at both',
  );
  await at(other, 'PATCH', `/forms/${form.id}`, { settings: { closes_at: null } });
  assert.ok(
    (await pages()).every((page) => page.includes('_website')),
    'open at both',
  );

  const made = await at<{ id: string; key: string }>(one, 'POST', '/keys', {
    name: 'Short-lived',
    permissions: ['forms:read'],
  });
  const asked = async () =>
    (await Promise.all(both().map(({ url }) => callApi(url, made.body.key, 'GET', '/forms')))).map(
      ({ status }) => status,
    );
  assert.deepEqual(await asked(), [200, 200]);
  assert.equal((await at(other, 'DELETE', `/keys/${made.body.id}`)).status, 204);
  await until('both to refuse it', async () => (await asked()).every((status) => status === 401), 1);
});

test('of 200 simultaneous requests over both nodes, exactly as many pass as the key allows', async () => {
  const { id } = await createWorkspace(database, { name: 'Limited', plan: 'free', rateLimit: 50, burst: 10 });
  const { key } = await createKey(database, { workspaceId: id, name: 'Limited' });
  const statuses = await Promise.all(
    Array.from(
      { length: 200 },
      async (_, index) => (await callApi(both()[index % 2]!.url, key, 'GET', '/forms')).status,
    ),
  );
  assert.deepEqual(
    [statuses.filter((status) => status === 200).length, new Set(statuses)],
    [60, new Set([200, 429])],
  );
});

test('a poll for events at one node is woken by submissions to the other', async () => {
  const { body: now } = await callApi(other.url, form.key, 'GET', `/events?form_id=${form.id}&after=now`);
  const { next } = now as unknown as { next: string };
  const since = performance.now();
  const waiting = callApi(other.url, form.key, 'GET', `/events?form_id=${form.id}&after=${next}&wait=30`);
  await pause(500);
  assert.ok('id' in (await submitEntry(`${one.url}/f/${form.id}`, 'heard of')));
  assert.equal((await waiting).body.data.length, 1);
  assert.ok(performance.now() - since < 10_000, 'it was woken, and did not wait to its end');
});

/**
 * Sends visitors as behind a load balancer: each uses one node, or the other if the first refuses the
 * connection.
 */
async function visitWhile(deed: () => Promise<void>, asked: PublishedForm): Promise<Map<string, string>> {
  const acknowledged = new Map<string, string>();
  const failures: string[] = [];
  const over = new AbortController();
  const visit = async (visitor: number): Promise<void> => {
    for (let entry = 0; !over.signal.aborted; entry += 1) {
      const text = `${visitor}/${entry}`;
      for (const [attempt, { url }] of (entry % 2 ? both() : both().toReversed()).entries()) {
        const outcome = await submitEntry(`${url}/f/${asked.id}`, text);
        if ('id' in outcome) acknowledged.set(text, outcome.id);
        else if (attempt === 0 && (outcome.failure === 'ECONNREFUSED' || outcome.failure === '503')) continue;
        else failures.push(outcome.failure);
        break;
      }
    }
  };
  const visitors = Promise.all(Array.from({ length: 6 }, (_, visitor) => visit(visitor)));
  await deed();
  over.abort();
  await visitors;
  assert.deepEqual(failures, []);
  return acknowledged;
}

test('restarting one node after the other under load refuses no visitor, loses nothing and delivers everything once', async () => {
  const hooked = await publishForm(first, receiver.url);
  const before = receiver.requests.length;
  const acknowledged = await visitWhile(async () => {
    assert.equal((await one.terminate()).code, 0);
    one = await first.start();
    assert.equal((await other.terminate()).code, 0);
    other = await second.start();
    await pause(500);
  }, hooked);
  assert.ok(acknowledged.size > 50, `${acknowledged.size}`);
  const { idsByAnswer } = await hooked.listAll();
  assert.deepEqual(
    [...idsByAnswer].map(([text, ids]) => [text, ids.length]).toSorted(),
    [...acknowledged.keys()].map((text) => [text, 1]).toSorted(),
  );
  await until(
    'everything to be delivered',
    async () => {
      const [waiting] = await first.query<{ count: number }>(
        `select count(*)::integer as count from deliveries where form_id = '${hooked.id}' and status <> 'Success'`,
      );
      return waiting!.count === 0;
    },
    60,
  );
  const delivered = receiver.requests.slice(before).map(({ headers }) => headers['x-service-delivery-id']);
  assert.deepEqual([delivered.length, new Set(delivered).size], [acknowledged.size, acknowledged.size]);
});

test('a node that is killed under load loses nothing acknowledged', async () => {
  const left = await publishForm(first);
  const acknowledged = await visitWhileKilled(left);
  const { idsByAnswer } = await left.listAll();
  for (const [text, id] of acknowledged) assert.deepEqual(idsByAnswer.get(text), [id]);
});

async function visitWhileKilled(asked: PublishedForm): Promise<Map<string, string>> {
  const acknowledged = new Map<string, string>();
  const visit = async (visitor: number): Promise<void> => {
    for (let entry = 0; entry < 40; entry += 1) {
      const outcome = await submitEntry(`${both()[entry % 2]!.url}/f/${asked.id}`, `${visitor}/${entry}`);
      if ('id' in outcome) acknowledged.set(`${visitor}/${entry}`, outcome.id);
    }
  };
  const visitors = Promise.all(Array.from({ length: 6 }, (_, visitor) => visit(visitor)));
  await until('some to be there', async () => acknowledged.size > 30);
  await other.kill();
  await visitors;
  other = await second.start();
  return acknowledged;
}

test('a node with a wrong configuration is refused at its start with instructions', async () => {
  const refusals: [environment: Record<string, string>, said: RegExp][] = [
    [{ SECRET_KEY: '1e'.repeat(32) }, /a key other than SECRET_KEY/],
    [
      { S3_ENDPOINT: '', S3_ACCESS_KEY_ID: '', S3_SECRET_ACCESS_KEY: '' },
      /The files of this instance are not in/,
    ],
    [{ DATABASE_URL: databaseUrl.replace(/\/test_\w+/, '/missing') }, /does not exist/],
  ];
  for (const [environment, said] of refusals) {
    const { code, output } = await second.failToStart({ ...environment, PORT: String(await freePort()) });
    assert.equal(code, 1);
    assert.match(output, said);
  }
  const answers = await Promise.all(
    both().map(({ url }) => callApi(url, form.key, 'GET', `/forms/${form.id}`)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
});

test('a node starts even if its storage does not respond', async () => {
  const third = await makeInstance({
    ...shared,
    ...s3ServerAt(await freePort()).environment,
    PUBLIC_URL: first.url,
    PORT: String(await freePort()),
  });
  const started = await third.start();
  assert.match(started.output(), /the storage does not respond/);
  assert.equal((await started.terminate()).code, 0);
});
