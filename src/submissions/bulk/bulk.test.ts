import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { element } from '#ast/testing.ts';
import { transaction } from '#kit/database.ts';
import { deleteForm } from '#forms/forms.ts';
import { openLog } from '#kit/log.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { createUser } from '#workspaces/users.ts';
import { removeSubmission } from '../changes/remove.ts';
import { changedBy } from '../history/changed-by.ts';
import { openScene, type Scene } from '../testing.ts';
import { trashMany } from '../trash/trash.ts';
import { bulkBatch, bulkJob, type BulkRequest, startBulk } from './bulk.ts';
import { findBulk, findUnfinishedBulks } from './queries.ts';

const { database } = await testDatabase();
const { id } = await createUser(database, { email: 'ada@example.com', password: 'a long enough password' });
const by = { kind: 'person', id } as const;

async function openHeardScene(): Promise<Scene> {
  const scene = await openScene(database, [element('text', 'name')]);
  await scene.listen();
  return scene;
}

const tagsOf = async (scene: Scene): Promise<Record<string, string[]>> => {
  const { rows } = await database.query<{ name: string; tags: string[] }>(
    `select answers ->> 'name' as name, tags from submissions where form_id = $1`,
    [scene.formId],
  );
  return Object.fromEntries(rows.map(({ name, tags }) => [name, tags]));
};

/** Starts a bulk change, lets a worker do it, and says how it ended. */
async function run(scene: Scene, request: Omit<BulkRequest, 'by'>, meanwhile = async () => {}) {
  const { id: bulkId, total } = await startBulk(scene.context, scene, { ...request, by });
  await meanwhile();
  let woken = 0;
  const context = { ...scene.context, wakeQueue: () => void (woken += 1) };
  const queue = startQueue({
    database,
    log: openLog('silent'),
    handlers: { [bulkJob]: { perLane: 1, run: (job) => bulkBatch(context, job) } },
  });
  after(() => queue.stop());
  const key = { workspace_id: scene.workspaceId, form_id: scene.formId };
  const is_tagging = request.kind === 'tag';
  const { done } = await until('the bulk changes to finish', async () => {
    const unfinished = await findUnfinishedBulks(database, { ...key, is_tagging });
    const [found] = await findBulk(database, { ...key, id: bulkId, is_tagging });
    return unfinished.length === 0 && found!.finished_at !== null && found;
  });
  await queue.stop();
  return { total, done, woken };
}

test('a bulk change touches its own list alone, and of that what is of its own form', async () => {
  const [scene, stranger] = [await openHeardScene(), await openHeardScene()];
  const [ada, ben] = [await scene.submit({ name: 'Ada' }), await scene.submit({ name: 'Ben' })];
  const foreign = await stranger.submit({ name: 'Cleo' });
  const tag = (added: string) => ({ kind: 'tag' as const, tags: { added: [added], removed: [] } });
  let second = '';
  const { done } = await run(scene, { ...tag('first'), ids: [ada, foreign] }, async () => {
    ({ id: second } = await startBulk(scene.context, scene, { ...tag('second'), ids: [ben], by }));
    for (const foreign of [{ workspaceId: stranger.workspaceId }, { formId: stranger.formId }])
      await assert.rejects(
        startBulk(scene.context, { ...scene, ...foreign }, { ...tag('x'), ids: [ada], by }),
        { code: 'not_found' },
      );
  });
  assert.equal(done, 1);
  const key = { workspace_id: scene.workspaceId, form_id: scene.formId, id: second, is_tagging: true };
  assert.equal((await findBulk(database, key))[0]!.done, 1);
  for (const other of [{ workspace_id: stranger.workspaceId }, { form_id: stranger.formId }])
    assert.deepEqual(await findBulk(database, { ...key, ...other }), []);
  assert.deepEqual(
    [await tagsOf(scene), await tagsOf(stranger)],
    [{ Ada: ['first'], Ben: ['second'] }, { Cleo: [] }],
  );
  await deleteForm(database, scene.workspaceId, scene.formId);
  await assert.rejects(startBulk(scene.context, scene, { ...tag('late'), ids: [ada], by }), {
    code: 'not_found',
  });
});

test('what lies in the trash goes for good in batches, exactly the list, with an event for each that had been completed', async () => {
  const scene = await openHeardScene();
  const stranger = await openHeardScene();
  const ids: string[] = [];
  for (let index = 0; index < 520; index += 1) ids.push(await scene.submit({ name: `Number ${index}` }));
  const begun = await scene.begin({ name: 'Begun' });
  const gone = await scene.submit({ name: 'Gone already' });
  const foreign = await stranger.submit({ name: 'Not mine' });
  const live = await scene.submit({ name: 'Not in the trash' });
  const trashed = [...ids, begun, gone];
  await transaction(database, (client) => trashMany(client, scene, { ids: trashed, by: changedBy(by) }));
  const request = { kind: 'empty', ids: [...trashed, foreign, live] } as const;
  const ended = await run(scene, request, async () => {
    await removeSubmission(scene.context, { ...scene, id: gone });
    await scene.submit({ name: 'Came later' });
  });
  assert.deepEqual(ended, { total: 524, done: 521, woken: 2 });
  assert.deepEqual(await scene.counts(), { shown: { completed: 2 }, found: { completed: 2 } });
  assert.deepEqual(Object.keys(await tagsOf(scene)).sort(), ['Came later', 'Not in the trash']);
  assert.ok(await stranger.read(foreign));
  const deleted = (await scene.events()).filter(({ kind }) => kind === 'submission.deleted');
  assert.deepEqual(deleted.map((event) => event.submission_id).sort(), [...ids, gone].sort());
  const { rows } = await database.query(`select from jobs where kind = $1`, [bulkJob]);
  assert.equal(rows.length, 0);
});

test('those that are removed go for good wherever they lie, and those that are trashed can come back', async () => {
  const scene = await openHeardScene();
  const [live, trashed, third] = [
    await scene.submit({ name: 'Live' }),
    await scene.submit({ name: 'Trashed' }),
    await scene.submit({ name: 'Third' }),
  ];
  const both = { total: 2, done: 2 };
  assert.deepEqual(await run(scene, { kind: 'trash', ids: [trashed, third] }), { ...both, woken: 0 });
  assert.deepEqual(await run(scene, { kind: 'remove', ids: [live, trashed] }), { ...both, woken: 1 });
  assert.deepEqual(Object.keys(await tagsOf(scene)), ['Third']);
});

test('many are tagged: what they have stays, what is taken away goes whatever its case, and nobody is told', async () => {
  const scene = await openHeardScene();
  const ids: Record<string, string> = {};
  for (const name of ['plain', 'tagged', 'full', 'trashed']) ids[name] = await scene.submit({ name });
  const set = (name: string, tags: string[]) =>
    database.query('update submissions set tags = $2 where id = $1', [ids[name], tags]);
  await set('tagged', ['VIP', 'old', 'kept']);
  const twenty = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
  await set('full', twenty);
  await run(scene, { kind: 'trash', ids: [ids['trashed']!] });
  const told = await scene.events();

  const tags = { added: ['vip', 'new'], removed: ['OLD'] };
  assert.deepEqual(await run(scene, { kind: 'tag', ids: Object.values(ids), tags }), {
    total: 4,
    done: 2,
    woken: 0,
  });
  assert.deepEqual(await tagsOf(scene), {
    plain: ['vip', 'new'],
    tagged: ['VIP', 'kept', 'new'],
    full: twenty,
    trashed: [],
  });
  assert.deepEqual(await scene.events(), told);
  const { rows } = await database.query<{ changes: unknown }>(
    `select changes from submission_changes where kind = 'edited' and submission_id = $1`,
    [ids['tagged']],
  );
  assert.deepEqual(rows, [
    {
      changes: [{ part: 'tags', name: '', from: ['VIP', 'old', 'kept'], to: ['VIP', 'kept', 'new'] }],
    },
  ]);
  // The index of words has the tags as well, by which a search finds them.
  const { rows: indexed } = await database.query<{ marks: string[] }>(
    `select array(select substr(term, strpos(term, '#') + 1) from unnest(tsvector_to_array(terms)) as term
                  where term ~ '^[0-9a-f]+#' order by term) as marks
     from search_documents where submission_id = $1`,
    [ids['tagged']],
  );
  assert.deepEqual(indexed, [{ marks: ['VIP', 'kept', 'new'] }]);
  // Done again it finds all as they should be, and writes nothing.
  assert.equal((await run(scene, { kind: 'tag', ids: [ids['tagged']!], tags })).done, 1);
  const again = await database.query('select from submission_changes where submission_id = $1', [
    ids['tagged'],
  ]);
  assert.equal(again.rowCount, 1);
});

test('a tag that somebody sets while many are tagged stays beside theirs', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  let isSet = Promise.resolve();
  await run(scene, { kind: 'tag', ids: [id], tags: { added: ['of many'], removed: [] } }, async () => {
    const written = Promise.withResolvers<void>();
    isSet = transaction(database, async (client) => {
      await client.query(`update submissions set tags = '{by hand}' where id = $1`, [id]);
      written.resolve();
      await until('the bulk change to wait for the submission', async () => {
        const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return (await database.query(waiting)).rowCount! > 0;
      });
    });
    await written.promise;
  });
  await isSet;
  assert.deepEqual(await tagsOf(scene), { Ada: ['by hand', 'of many'] });
});

test('a worker that dies between batches leaves the rest to the next: each is done once', async () => {
  const scene = await openHeardScene();
  const ids: string[] = [];
  for (let index = 0; index < 501; index += 1) ids.push(await scene.submit({ name: `Number ${index}` }));
  const ended = await run(scene, { kind: 'trash', ids }, async () => {
    // One batch is done by a worker that is gone before it commits, and one that commits.
    for (const fails of [true, false]) {
      const { rows } = await database.query<Record<string, string>>(
        `update jobs set lease_token = gen_random_uuid(), run_at = now() where kind = $1
         returning workspace_id, id, lane, payload, lease_token`,
        [bulkJob],
      );
      const [row] = rows;
      const job = {
        workspaceId: row!['workspace_id']!,
        id: row!['id']!,
        kind: bulkJob,
        lane: row!['lane']!,
        payload: row!['payload'],
        leaseToken: fails ? crypto.randomUUID() : row!['lease_token']!,
        failures: 0,
      };
      const batch = bulkBatch(scene.context, job);
      if (fails) await assert.rejects(batch, { name: 'LeaseLost' });
      else await batch;
    }
  });
  assert.deepEqual(ended, { total: 501, done: 501, woken: 0 });
  const { rowCount } = await database.query(
    `select from submission_changes where kind = 'trashed' and submission_id = any ($1)`,
    [ids],
  );
  assert.equal(rowCount, 501);
});
