import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { withDatabase } from '#test/database.ts';
import { submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { startRelay } from '#test/relay.ts';
import { callApi, until } from '#test/service.ts';

/* A cell beside a service of two processes: npm run test:cells. */

const several = { WEB_PROCESSES: '2', LOG_LEVEL: 'info' };
const form = {
  structure: {
    type: 'form',
    attrs: { name: 'Guest book' },
    children: [
      {
        type: 'step',
        attrs: { layout: 'stack' },
        children: [{ type: 'text', attrs: { id: 'entry', label: 'Entry' }, children: [] }],
      },
    ],
  },
  publish: true,
};

const places = { 'in the database': false, 'in another database': true };
for (const [place, isElsewhere] of Object.entries(places))
  test(`both of two processes serve a cell that is made ${place} while they run, over a renewal and a restart, and end in order`, () =>
    serveTogether(isElsewhere));

async function serveTogether(isElsewhere: boolean): Promise<void> {
  const instance = await makeInstance(several);
  const server = await instance.start();
  if (isElsewhere) await instance.query('create database other');
  const other = withDatabase(instance.databaseUrl, 'other');
  const relay = isElsewhere ? await startRelay(other) : undefined;
  await instance.cli('cell create', 'second', ...(relay ? ['--server', relay.url] : []));
  // As if its 15 seconds were over.
  await instance.query("update cells set created_at = created_at - interval '1 minute'");
  const made = await instance.cli<{ id: string }>('workspace create', 'Second', '--cell', 'second');
  const { key } = await instance.cli<{ key: string }>(
    'key create',
    '--name',
    'Second',
    '--workspace',
    made.id,
  );
  const { status, body } = await callApi(instance.url, key, 'POST', '/forms', form);
  assert.equal(status, 201);
  const answering = (): number =>
    new Set(
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('"answered"') && line.includes('/f/'))
        .map((line) => (JSON.parse(line) as { process: number }).process),
    ).size;
  let sent = 0;
  const send = async (): Promise<void> => {
    sent += 1;
    assert.ok('id' in (await submitEntry(body.public_url, `entry ${sent}`)));
  };
  await until('both processes to have answered', async () => {
    const page = await fetch(body.public_url, { headers: { Connection: 'close' } });
    assert.equal(page.status, 200);
    await send();
    return answering() === 2;
  });
  const visit = async () => (await fetch(body.public_url, { headers: { Connection: 'close' } })).status;
  const visitAll = () => Promise.all(Array.from({ length: 20 }, visit));
  if (relay) {
    relay.silence({ connected: true, next: true });
    await until('both processes to have lost it', async () =>
      (await visitAll()).every((status) => status === 503),
    );
    await instance.cli('cell address', 'second', '--server', other);
    await until('both processes to have gone to the other address', async () =>
      (await visitAll()).every((status) => status === 200),
    );
    await send();
  }
  process.kill(server.pid, 'SIGUSR2');
  // Both begin anew, one after the other, each with all cells.
  const renewal = async () => {
    await send();
    return server.output().includes('Restarted.');
  };
  await until('the processes to be renewed', renewal, 60);
  const total = async () =>
    (await callApi(instance.url, key, 'GET', `/forms/${body.id}/submissions`)).body.pagination.total_count;
  assert.equal(await total(), sent);
  assert.equal((await server.terminate()).code, 0);
  const again = await instance.start();
  await send();
  assert.equal(await total(), sent);
  if (isElsewhere) {
    await instance.query('drop database other with (force)');
    await instance.cli('cell forget', 'second', '--yes');
    await until('no process to know it', async () => (await visitAll()).every((status) => status === 404));
  }
  assert.equal((await again.terminate()).code, 0);
}

test('a cell is made while somebody holds the first one for longer than a request may take', async () => {
  const instance = await makeInstance();
  const holder = new Client({ connectionString: instance.databaseUrl });
  await instance.cli('database create');
  const server = await instance.start();
  await holder.connect();
  await holder.query('begin; lock table forms in row exclusive mode');
  const made = instance.cli('cell create', 'second');
  await until('the making to wait', async () => {
    const waiting = await instance.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%note_in_directory%'",
    );
    return waiting.length > 0;
  });
  // What a request waits for is ended after 12 s.
  await sleep(14_000);
  await holder.query('commit');
  await made;
  await holder.end();
  assert.equal((await server.terminate()).code, 0);
});
