import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import type { Job } from '#kit/queue.ts';
import { searchRules } from '#rules/search-rules.ts';
import { readTasks } from '#tasks/read-tasks.ts';
import { testDatabase } from '#test/database.ts';
import { openSearchScene } from '#test/submissions/search-scene.ts';
import { rebuildIndexBatch, startIndexRebuilds } from './rebuild-index.ts';

const { database } = await testDatabase();
const context = { database, wakeQueue: () => {} };

/** Writes the documents of a workspace as the first rules did, from PostgreSQL's own words. */
async function indexByFirstRules(workspaceId: string): Promise<void> {
  await database.query(
    `update search_documents d
     set terms = array_to_tsvector(array[g.code || 'f' || d.form_id]
       || array(select g.code || 'eng ' || word from unnest(tsvector_to_array(to_tsvector('english', (s.answers ->> 'text') || ' mail.example.com mail example.com example'))) as word))
     from submissions s, search_segments g
     where d.workspace_id = $1 and s.workspace_id = $1 and s.id = d.submission_id and g.workspace_id = $1
       and g.first_id = (
         select first_id from search_segments where workspace_id = $1 and first_id <= s.id order by first_id desc limit 1)`,
    [workspaceId],
  );
  await database.query('update search_segments set rules = 1 where workspace_id = $1', [workspaceId]);
}

const tasksOf = (workspaceId: string) =>
  readTasks(database, { workspace_id: workspaceId, kinds: ['submissions.reindex'] });

/** Claims the job of the task, as a worker does. */
async function claim(workspaceId: string, id: string): Promise<Job> {
  const leaseToken = newId();
  const { rows } = await database.query<{ kind: string; lane: string }>(
    'update jobs set lease_token = $2 where id = $1 returning kind, lane',
    [id, leaseToken],
  );
  return { ...rows[0]!, workspaceId, id, payload: {}, leaseToken, failures: 0, lostClaims: 0 };
}

test('a task rebuilds older documents while searches find all; a killed step is repeated, and new submissions are found', async () => {
  const scene = await openSearchScene(database);
  const { workspaceId } = scene;
  const ids: string[] = [];
  for (let n = 0; n < 450; n += 1) {
    ids.unshift(await scene.submit({ text: `Café order file_${n}.pdf for ada@mail.example.com` }));
    if (n === 150)
      await database.query(`insert into search_segments (workspace_id, first_id, rules) values ($1, $2, 1)`, [
        workspaceId,
        newId(),
      ]);
  }
  const trashed = ids.pop()!;
  await database.query('delete from search_documents where submission_id = $1', [trashed]);
  await database.query('update submissions set trashed_at = now() where id = $1', [trashed]);
  await indexByFirstRules(workspaceId);

  const whole = ['café', 'orders', 'ada@mail.example.com', 'email:example.com'];
  const check = async (folded: number): Promise<void> => {
    for (const q of whole) assert.equal((await scene.find(q, 1_000)).length, ids.length, q);
    assert.equal((await scene.find('cafe', 1_000)).length, folded);
  };
  await check(0);
  await Promise.all([startIndexRebuilds(context), startIndexRebuilds(context)]);
  const [task, ...others] = await tasksOf(workspaceId);
  assert.deepEqual([others.length, task!.total, task!.done, task!.state], [0, 449, 0, 'running']);

  const newer = await scene.submit({ text: 'Café order of today, for ada@mail.example.com' });
  ids.unshift(newer);
  const step = async (): Promise<void> => rebuildIndexBatch(context, await claim(workspaceId, task!.id));
  // The first segment has 150 older documents, and the second one 299.
  await step();
  await check(151);
  const lost = await claim(workspaceId, task!.id);
  await claim(workspaceId, task!.id);
  await assert.rejects(rebuildIndexBatch(context, lost), { name: 'LeaseLost' });
  await check(151);
  assert.equal((await tasksOf(workspaceId))[0]!.done, 150);
  await step();
  await check(351);
  for (let left = 2; left > 0; left -= 1) await step();
  await check(450);
  const [ended] = await tasksOf(workspaceId);
  assert.deepEqual([ended!.state, ended!.done], ['finished', 449]);
  const { rows } = await database.query<{ rules: number }>(
    'select distinct rules from search_segments where workspace_id = $1',
    [workspaceId],
  );
  assert.deepEqual(rows, [{ rules: searchRules }]);
  await startIndexRebuilds(context);
  assert.equal((await tasksOf(workspaceId)).length, 1);
});

test('a rebuilt document has the tags and status of its submission', async () => {
  const scene = await openSearchScene(database);
  const id = await scene.begin({ text: 'résumé' });
  await database.query(`update submissions set tags = '{vip}' where id = $1`, [id]);
  await indexByFirstRules(scene.workspaceId);
  await startIndexRebuilds(context);
  const [task] = await tasksOf(scene.workspaceId);
  for (let left = 2; left > 0; left -= 1)
    await rebuildIndexBatch(context, await claim(scene.workspaceId, task!.id));
  assert.deepEqual(await scene.find('resume tag:vip status:incomplete'), [id]);
});
