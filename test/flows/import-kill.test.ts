import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { isSlice } from '../cases.ts';
import { killImports, makeFiles } from '../nightly/import-round.ts';

/** `npm run test:long -- kill 50` kills at random moments, during imports three times as large. */
test('after kill -9 of server and database during imports, a form package and answers are imported exactly once', {
  skip: isSlice,
}, async (t) => {
  const instance = await makeInstance();
  const server = await instance.start();
  const site = await makeFiles(instance);
  // The form package has an image, so its import waits for this lock on any machine.
  const holder = new Client({ connectionString: instance.databaseUrl });
  await holder.connect();
  // The connection ends with the database and may report that several times.
  holder.on('error', () => {});
  await holder.query('begin');
  await holder.query('lock table form_images in share row exclusive mode');
  const { killedAt } = await killImports(site, server, (progress) =>
    until('the moment to kill', async () => {
      const { lines, unpacking } = await progress();
      const waiting = await instance.query(`select from pg_locks where not granted`);
      return lines > 0 && unpacking > 0 && waiting.length > 0;
    }),
  );
  t.diagnostic(`killed at ${JSON.stringify(killedAt)}`);
  assert.equal(killedAt.unpacking, 1, 'the import of the form package has no answer yet');
});
