import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { publishForm } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { whileHeld } from '#test/while-held.ts';

/** 1,200 submissions make three batches of 500, and 250 make three of the 100 in which a change is undone. */
const total = 1_200;
const fewer = 250;
type Progress = { id: string; done: number; total: number; finished_at: string | null };

test('after kill -9 during bulk tagging, deletion and undo, each continues, repeats nothing and misses nothing', {
  skip: isSlice,
}, async () => {
  const { database, url } = await testDatabase();
  // A lease lasts 15 s longer than the timeout, so the jobs of a dead server continue after 16 s.
  const instance = await makeInstance({ DATABASE_URL: url, WEBHOOK_TIMEOUT: '1' });
  let server = await instance.start();
  /**
   * Starts a change of all submissions of a form. Each form has its own workspace, so that two changes run in
   * parallel.
   */
  const begin = async (kind: 'taggings' | 'deletions', more: object, total: number) => {
    const form = await publishForm(instance);
    await instance.query(
      `with made as (
         insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
         select workspace_id, gen_random_uuid(), id, version, 'completed', '{"entry": "word"}', '{}', false, now(), now(), now()
         from forms, generate_series(1, ${total}) where id = '${form.id}' returning workspace_id, form_id)
       insert into submission_counts (workspace_id, form_id, status, slot, count)
       select workspace_id, form_id, 'completed', 0, count(*) from made group by workspace_id, form_id`,
    );
    return async () => {
      const path = `/forms/${form.id}/submissions`;
      const asked = await form.call('POST', `${path}/${kind}`, { filter: {}, expected: total, ...more });
      assert.equal(asked.status, 202);
      const { id } = asked.body;
      const look = async () => (await form.call('GET', `${path}/${kind}/${id}`)).body as unknown as Progress;
      return { form, id, look, total };
    };
  };
  const deleted = await (await begin('deletions', {}, fewer))();
  await until('a deletion to be finished', async () => (await deleted.look()).finished_at !== null);
  const ready = [
    await begin('taggings', { add: ['urgent'] }, total),
    await begin('deletions', {}, total),
  ] as const;
  const undo = async () => {
    const path = `/forms/${deleted.form.id}/submissions/changes`;
    const { status, body } = await deleted.form.call('POST', `${path}/${deleted.id}/undo`);
    assert.equal(status, 202);
    const look = async () =>
      (await deleted.form.call('GET', `${path}/${body.id}`)).body as unknown as Progress;
    return { ...deleted, id: body.id, look };
  };
  // Submissions change in the order of their IDs. The first batches succeed, and the batch with the last ID
  // of each form waits.
  const last = {
    text: 'select from submissions where id in (select distinct on (form_id) id from submissions order by form_id, id desc) for update',
    values: [],
  };
  const [tagging, deletion, undone] = await whileHeld(
    database,
    last,
    3,
    () => Promise.all([ready[0](), ready[1](), undo()]),
    async () => {
      // Some sessions that wait for a lock may belong to the queue.
      const amid = 'select from tasks where finished_at is null and done > 0';
      await until('each to be amid its batches', async () => (await database.query(amid)).rowCount === 3);
      await server.kill();
    },
  );
  const all = [tagging, deletion, undone];
  const killed = await instance.query<{ id: string; done: number; finished_at: Date | null }>(
    'select id, done, finished_at from tasks',
  );
  for (const { id, total } of all) {
    const { done, finished_at } = killed.find((one) => one.id === id)!;
    assert.ok(finished_at === null && done > 0 && done < total, `killed after ${done}`);
  }

  server = await instance.start();
  for (const { id, look, total } of all) {
    const before = killed.find((one) => one.id === id)!;
    const end = await until(
      'its end',
      async () => {
        const found = await look();
        assert.ok(found.done >= before.done, 'progress never goes back');
        return found.finished_at !== null && found;
      },
      90,
    );
    assert.deepEqual([end.done, end.total], [total, total]);
  }
  const changes = await instance.query(
    `select kind, count(distinct submission_id)::int as submissions, count(*)::int as changes
     from submission_changes group by kind order by kind`,
  );
  assert.deepEqual(changes, [
    { kind: 'edited', submissions: total, changes: total },
    { kind: 'restored', submissions: fewer, changes: fewer },
    { kind: 'trashed', submissions: total + fewer, changes: total + fewer },
  ]);
  const countOf = async ({ form }: typeof tagging, rest: string) =>
    (await form.call('GET', `/forms/${form.id}/${rest}`)).body.pagination.total_count;
  assert.equal(await countOf(tagging, 'submissions?tag=urgent'), total);
  assert.equal(await countOf(deletion, 'submissions'), 0);
  assert.equal(await countOf(deletion, 'trash'), total);
  assert.equal(await countOf(undone, 'submissions'), fewer);
  assert.equal(await countOf(undone, 'trash'), 0);
});
