import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchRules } from '#rules/search-rules.ts';
import { startIndexRebuilds } from '#submissions/rebuild-index.ts';
import { isSlice } from '#test/cases.ts';
import { publishForm } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { whileHeld } from '#test/while-held.ts';

/** Three batches of 200. */
const total = 550;

test('after kill -9 while the search index is rebuilt, it continues; searches find every submission throughout', {
  skip: isSlice,
}, async () => {
  const { database, url } = await testDatabase();
  // A lease lasts 15 s longer than the timeout, so the job of a dead server continues after 16 s.
  const instance = await makeInstance({ DATABASE_URL: url, WEBHOOK_TIMEOUT: '1' });
  let server = await instance.start();
  const form = await publishForm(instance);
  // Documents of the first rules, from PostgreSQL's own words.
  await instance.query(
    `with made as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
       select workspace_id, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 600000 + n), 12, '0') || '70008000000000000000')::uuid,
              id, version, 'completed', '{"entry": "Café order"}', '{}', false, now(), now(), now()
       from forms, generate_series(1, ${total}) as n where id = '${form.id}' returning workspace_id, form_id, id)
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select made.workspace_id, made.id, made.form_id,
            array_to_tsvector(array[g.code || 'f' || made.form_id, g.code || 'eng café', g.code || 'eng order'])
     from made join search_segments g on g.workspace_id = made.workspace_id`,
  );
  await instance.query('update search_segments set rules = 1');
  const count = async (q: string): Promise<number> =>
    (await form.call('GET', `/submissions/search?q=${encodeURIComponent(q)}`)).body.pagination.total_count;
  assert.deepEqual([await count('café'), await count('cafe')], [total, 0]);

  const last = { text: 'select from submissions order by id desc limit 1 for update', values: [] };
  const amid = 'select done from tasks where finished_at is null and done > 0';
  await whileHeld(
    database,
    last,
    1,
    () => startIndexRebuilds({ database, wakeQueue: () => {} }),
    async () => {
      await until(
        'the rebuild to be amid its batches',
        async () => (await database.query(amid)).rowCount === 1,
        60,
      );
      await server.kill();
    },
  );
  const [{ done } = { done: 0 }] = await instance.query<{ done: number }>('select done from tasks');
  assert.ok(done > 0 && done < total, `killed after ${done}`);

  server = await instance.start();
  assert.deepEqual([await count('café'), await count('cafe')], [total, done]);
  const progress = async () =>
    (await form.call('GET', '/tasks?kind=submissions.reindex')).body.data as unknown as {
      state: string;
      done: number;
      total: number;
    }[];
  await until('its end', async () => (await progress())[0]?.state === 'finished', 90);
  assert.deepEqual(
    (await progress()).map((task) => [task.done, task.total]),
    [[total, total]],
  );
  assert.deepEqual([await count('café'), await count('cafe')], [total, total]);
  assert.deepEqual(await instance.query('select distinct rules from search_segments'), [
    { rules: searchRules },
  ]);
});
