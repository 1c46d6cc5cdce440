import assert from 'node:assert/strict';
import { test } from 'node:test';
import { submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { callApi, until } from '#test/service.ts';

/* Tests a new cell with a service of two processes: npm run test:long -- cells. */

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

test('two processes serve a cell that is created while they run, also after a renewal and a restart, and both stop cleanly', async () => {
  const instance = await makeInstance(several);
  const server = await instance.start();
  await instance.cli('cell create', 'second');
  // Ends its waiting time of 15 seconds.
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
  process.kill(server.pid, 'SIGUSR2');
  // Both processes restart, one after the other, each with all cells.
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
  assert.equal((await again.terminate()).code, 0);
});
