import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { element } from '#ast/testing.ts';
import { transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { createUser } from '#workspaces/users.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openScene, type Scene } from '../testing.ts';
import { findRemoval, findUnfinishedRemovals } from './queries.ts';
import { removeSubmission } from './remove.ts';
import { trashMany } from '../trash/trash.ts';
import { removeManyBatch, removeManyJob, startRemoval } from './remove-many.ts';

const { database } = await testDatabase();
const { id: userId } = await createUser(database, {
  email: 'ada@example.com',
  password: 'a long enough password',
  name: 'Ada',
});

const elements = [element('text', 'name'), element('file_upload', 'photo')];

async function openHeardScene(): Promise<Scene> {
  const scene = await openScene(database, elements);
  await scene.listen();
  return scene;
}

/** Who was told to be deleted. */
const deleted = async (scene: Scene): Promise<string[]> =>
  (await scene.events())
    .filter(({ kind }) => kind === 'submission.deleted')
    .map((event) => event.submission_id);

const left = async (table: string, scene: Scene): Promise<number> =>
  (
    await database.query<{ count: number }>(`select count(*) as count from ${table} where form_id = $1`, [
      scene.formId,
    ])
  ).rows[0]!.count;

test('removing a completed submission removes its row, count and search text, orphans its files, and is told', async () => {
  const scene = await openHeardScene();
  const photo = await scene.upload('photo', 'a.png');
  const id = await scene.submit({ name: 'Ada' }, { files: new Map([['photo', [photo]]]) });
  const stays = await scene.submit({ name: 'Tom' });
  await removeSubmission(scene.context, { workspaceId: scene.workspaceId, formId: scene.formId, id });

  assert.deepEqual(await scene.counts(), { shown: { completed: 1 }, found: { completed: 1 } });
  assert.equal(await scene.read(id), undefined);
  assert.ok(await scene.read(stays));
  assert.equal(await left('search_documents', scene), 1);
  const { rows } = await database.query(
    'select submission_id, claimed_at is not null as was_claimed from files where id = $1',
    [photo.id],
  );
  assert.deepEqual(rows, [{ submission_id: null, was_claimed: true }]);
  const event = (await scene.events()).at(-1)!;
  assert.equal(event.kind, 'submission.deleted');
  assert.deepEqual(event.snapshot.submission.file_uploads, { photo: [photo] });
});

test('a submission that was never completed is removed without an event', async () => {
  const scene = await openHeardScene();
  const id = await scene.begin({ name: 'Ada' });
  await removeSubmission(scene.context, { ...scene, id });
  assert.deepEqual(await deleted(scene), []);
  assert.deepEqual(await scene.counts(), { shown: {}, found: {} });
});

test('a submission is removed and told once; another form reaches none of it', async () => {
  const scene = await openHeardScene();
  const stranger = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  const notFound = { code: 'not_found' };
  await assert.rejects(removeSubmission(scene.context, { ...scene, formId: stranger.formId, id }), notFound);
  await assert.rejects(removeSubmission(scene.context, { ...stranger, id }), notFound);
  const tries = await Promise.allSettled([
    removeSubmission(scene.context, { ...scene, id }),
    removeSubmission(scene.context, { ...scene, id }),
  ]);
  assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.deepEqual(await deleted(scene), [id]);
});

test('a bulk removal from the trash removes exactly its list in batches, with an event for each that had been completed', async () => {
  const scene = await openHeardScene();
  const stranger = await openHeardScene();
  const ids: string[] = [];
  for (let index = 0; index < 520; index += 1) ids.push(await scene.submit({ name: `Number ${index}` }));
  const begun = await scene.begin({ name: 'Begun' });
  const gone = await scene.submit({ name: 'Gone already' });
  const foreign = await stranger.submit({ name: 'Not mine' });
  const live = await scene.submit({ name: 'Not in the trash' });
  await transaction(database, (client) => trashMany(client, scene, { ids: [...ids, begun, gone], userId }));
  const removal = await startRemoval(scene.context, scene, {
    userId,
    ids: [...ids, begun, gone, foreign, live],
    toTrash: false,
  });
  await removeSubmission(scene.context, { ...scene, id: gone });
  const late = await scene.submit({ name: 'Came later' });
  assert.equal(removal.total, 524);
  const key = { workspace_id: scene.workspaceId, form_id: scene.formId };
  assert.equal((await findUnfinishedRemovals(database, key)).length, 1);

  const queue = startQueue({
    database,
    log: openLog('silent'),
    handlers: { [removeManyJob]: { perLane: 1, run: (job) => removeManyBatch(scene.context, job) } },
  });
  after(() => queue.stop());
  const finished = await until('the removal to finish', async () => {
    const [found] = await findRemoval(database, { ...key, id: removal.id });
    return found!.finished_at !== null && found;
  });

  assert.equal(finished.removed, 521);
  assert.deepEqual(await scene.counts(), { shown: { completed: 2 }, found: { completed: 2 } });
  assert.ok(await scene.read(late));
  assert.ok(await scene.read(live));
  assert.ok(await stranger.read(foreign));
  assert.deepEqual((await deleted(scene)).sort(), [...ids, gone].sort());
  assert.equal(await left('search_documents', scene), 2);
  assert.deepEqual(await findUnfinishedRemovals(database, key), []);
  const { rows } = await database.query(`select from jobs where kind = $1`, [removeManyJob]);
  assert.equal(rows.length, 0);
});
