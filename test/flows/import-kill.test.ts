import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { killImports, makeFiles } from '../nightly/import-round.ts';

/** `npm run test:kill -- 50` kills at random moments, amid three times as much. */
test('kill -9 of server and database amid what is brought in: a workspace, a form and answers go on to the same end, once', async (t) => {
  const instance = await makeInstance();
  const server = await instance.start();
  const site = await makeFiles(instance);
  // The files of submissions are the last of a workspace: that of a first one waits, however fast the machine is.
  const holder = new Client({ connectionString: instance.databaseUrl });
  await holder.connect();
  // It dies with the database, of which it may hear more than once.
  holder.on('error', () => {});
  await holder.query('begin');
  await holder.query('lock table files in share row exclusive mode');
  const { killedAt } = await killImports(site, server, (progress) =>
    until('the moment to kill', async () => {
      const { entries, unpacking } = await progress();
      const waiting = await instance.query(`select from pg_locks where not granted`);
      return entries > 0 && unpacking > 0 && waiting.length > 0;
    }),
  );
  t.diagnostic(`killed at ${JSON.stringify(killedAt)}`);
  assert.ok(killedAt.entries < site.comparable.length, 'in the middle');
});
