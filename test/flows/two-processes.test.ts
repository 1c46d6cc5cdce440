import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '#kit/migrate.ts';
import { isSlice } from '#test/cases.ts';
import { publishForm, submitEntry } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { type Environment, type Instance, makeInstance, type ServerProcess } from '#test/process.ts';
import { openReceiver, type ReceivedRequest } from '#test/receiver.ts';
import { callApi, freePort, until } from '#test/service.ts';

/** Starts two servers of one instance at the same time. */
async function startTwo(instance: Instance): Promise<[ServerProcess, ServerProcess]> {
  const port = String(await freePort());
  return Promise.all([instance.start(), instance.start({ PORT: port })]);
}

const deliveryOf = ({ headers }: ReceivedRequest): string => headers['x-service-delivery-id'] as string;

/** The submissions that each of ten visitors sends. */
const entries = isSlice ? 10 : 30;
const { url } = await testDatabase();
const places: Readonly<Record<string, Environment>> = {
  'a new data directory': {},
  'a DATABASE_URL and a SECRET_KEY': { DATABASE_URL: url, SECRET_KEY: '0f'.repeat(32) },
};

for (const [place, environment] of Object.entries(places)) {
  const title = `two servers on ${place}: one of them migrates, both serve the same, and ${10 * entries} deliveries are each made once`;
  test(title, { skip: isSlice }, async () => {
    const instance = await makeInstance(environment, { isNew: true });
    const [one, other] = await startTwo(instance);
    const migrated = `${one.output()}${other.output()}`.match(/(?<=The database was migrated ).*/g) ?? [];
    // The test database is already migrated.
    const all = await readMigrations();
    const expected = environment['DATABASE_URL'] ? [] : [`(${all.length} steps, up to ${all.at(-1)!.name}).`];
    assert.deepEqual(migrated, expected);

    const receiver = await openReceiver();
    const form = await publishForm(instance, receiver.url);
    const addresses = [`${one.url}/f/${form.id}`, `${other.url}/f/${form.id}`];
    const visit = async (visitor: number): Promise<void> => {
      for (let entry = 0; entry < entries; entry += 1) {
        const outcome = await submitEntry(addresses[entry % 2]!, `entry ${visitor}/${entry}`);
        assert.ok('id' in outcome, JSON.stringify(outcome));
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, visitor) => visit(visitor)));

    await until(
      'every delivery to be settled',
      async () => {
        const [waiting] = await instance.query<{ count: number }>(
          `select count(*)::integer as count from deliveries where form_id = '${form.id}' and status = 'Retrying'`,
        );
        return waiting!.count === 0;
      },
      30,
    );
    assert.equal(receiver.requests.length, 10 * entries);
    assert.equal(new Set(receiver.requests.map(deliveryOf)).size, 10 * entries);

    const path = `/forms/${form.id}/submissions?per_page=30&page=2`;
    const [seen, alsoSeen] = await Promise.all([
      callApi(one.url, form.key, 'GET', path),
      callApi(other.url, form.key, 'GET', path),
    ]);
    assert.equal(seen.body.pagination.total_count, 10 * entries);
    assert.deepEqual(alsoSeen.body, seen.body);
  });
}

// `npm test` covers a worker that dies with its leases in test/faults/workers.test.ts.
test('after kill -9 of one of two servers, the other makes its claimed deliveries within 30 s', {
  skip: isSlice,
}, async () => {
  // A lease lasts the timeout plus 15 s.
  const instance = await makeInstance({ WEBHOOK_TIMEOUT: '3', WEBHOOK_RETRY_DELAYS: '0.2,0.2,0.2,0.2,0.2' });
  const [victim, heir] = await startTwo(instance);
  const receiver = await openReceiver();
  const form = await publishForm(instance, receiver.url);
  receiver.replyWith('hang');
  // A server sends 8 deliveries of one webhook in parallel, so both servers have claimed some of 16 that
  // hang.
  for (let index = 0; index < 16; index += 1) await submitEntry(form.publicUrl, `entry ${index}`);
  await receiver.waitFor(16);
  await victim.kill();
  receiver.replyWith(200);
  const since = performance.now();

  await until(
    'the other to make them all',
    async () => {
      const [made] = await instance.query<{ count: number }>(
        `select count(*)::integer as count from deliveries where form_id = '${form.id}' and status = 'Success'`,
      );
      return made!.count === 16;
    },
    40,
  );
  const seconds = (performance.now() - since) / 1_000;
  assert.ok(seconds < 30, `${seconds} s`);
  const times = [...Map.groupBy(receiver.requests, deliveryOf).values()].map((requests) => requests.length);
  assert.equal(times.length, 16);
  assert.ok(
    times.every((count) => count >= 2),
    `requests of each delivery: ${times.join()}`,
  );
  assert.equal((await heir.terminate()).code, 0, heir.output());
});
