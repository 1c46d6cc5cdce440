import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { cellsOf } from '#cells/cells.ts';
import { removeFormJob } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { readConfig } from '#kit/config.ts';
import { openLog } from '#kit/log.ts';
import { announceJobs } from '#kit/queue.ts';
import { openVault } from '#kit/vault.ts';
import { createTask } from '#tasks/run-tasks.ts';
import { makeCells } from '#test/cells/make-cells.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { makeForm } from '#test/webhooks/make-webhook.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { openServices } from '../operations/services.ts';
import { serveCells } from './assemble.ts';
import { startBackgroundWork } from './background.ts';
import { delegateBackgroundWork } from './processes.ts';
import { buildServer } from './server.ts';

test('a cell that cannot be opened answers 503, as a page or as JSON, and serves once it can be opened again', async () => {
  const { database, url } = await testDatabase();
  const cells = await makeCells(database, { connectionString: url }, 2);
  const second = cellsOf(database)[1]!.database;
  const config = readConfig({});
  const lines = new PassThrough();
  const log = openLog('error', lines);
  const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log });
  const ground = { config, log, database, vault: openVault('0f'.repeat(32)), requestCounter };
  const services = openServices(ground);
  const background = delegateBackgroundWork(services);
  const server = await buildServer({ ...services, wakeQueue: () => {} }, { isStopping: () => false });
  let fails = true;
  let tries = 0;
  const failing = {
    ...ground,
    get vault() {
      tries += 1;
      if (fails) throw new Error('no key yet');
      return ground.vault;
    },
  };
  const others = serveCells(server, failing, { background, isBackgroundElsewhere: true });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  after(async () => {
    services.feedBell.close();
    server.server.closeAllConnections();
    await server.close();
    await Promise.all([background.stop(), others.close()]);
    await cells?.close();
    await requestCounter.close();
  });
  const { formId } = await makeForm(second);
  const ask = (headers = {}) => fetch(`http://127.0.0.1:${port}/f/${formId}`, { headers });
  const page = await ask({ 'Accept-Language': 'de' });
  assert.deepEqual([page.status, page.headers.get('Retry-After')], [503, '1']);
  assert.match(await page.text(), /^<!doctype html>.*<html lang="de"/is);
  const answer = await ask({ Accept: 'application/json' });
  assert.deepEqual(
    [answer.status, ((await answer.json()) as { error: string }).error],
    [503, 'service_unavailable'],
  );
  await until('it to be tried again', async () => tries > 2);
  assert.equal(String(lines.read()).match(/could not open a cell/g)?.length, 1, 'it is logged once');
  fails = false;
  await until('the cell to be opened', async () => (await ask()).status === 200);
});

test('when the service stops, jobs of all cells get the time to finish in parallel, not one cell after another', async () => {
  const { database, url } = await testDatabase();
  const cells = await makeCells(database, { connectionString: url }, 3);
  const config = readConfig({});
  const log = openLog('silent');
  const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log });
  const ground = { config, log, database, vault: openVault('0f'.repeat(32)), requestCounter };
  const services = openServices(ground);
  const background = startBackgroundWork(services);
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => false },
  );
  const others = serveCells(server, ground, { background, isBackgroundElsewhere: false });

  const busy = cellsOf(database).slice(1);
  await Promise.all(
    busy.map(async ({ database: own }) => {
      const client = await own.connect();
      after(() => client.release(true));
      const { workspaceId, formId } = await makeForm(own);
      await own.query('update forms set deleted_at = now()');
      await client.query('begin; select from forms for update');
      const by = { kind: 'operator', id: '' } as const;
      await createTask(
        own,
        { workspaceId, id: newId(), kind: 'forms.delete', subjectId: formId, by, total: 0 },
        { kind: removeFormJob, lane: removeFormJob },
      );
      await announceJobs(own);
      await until(
        'the job to run, and to wait for whoever holds the form',
        async () => (await own.query('select from jobs where lease_token is not null')).rowCount === 1,
      );
    }),
  );
  after(async () => {
    services.feedBell.close();
    await server.close();
    await Promise.all([background.stop(), others.close()]);
    await cells?.close();
    await requestCounter.close();
  });

  const graceMs = 1_500;
  await others.stop(graceMs);
  // When each job was returned to the queue, by the database's clock.
  const ends = await Promise.all(
    busy.map(({ database: own }) =>
      until('the job to be given back', async () => {
        const { rows } = await own.query<{ run_at: Date }>(
          'select run_at from jobs where lease_token is null',
        );
        return rows[0]?.run_at.getTime();
      }),
    ),
  );
  assert.ok(Math.max(...ends) - Math.min(...ends) < graceMs, ends.join());
});
