import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { removeSubmission } from './remove.ts';

const { database } = await testDatabase();

const elements = [element('text', 'name'), element('file_upload', 'photo')];

async function openHeardScene(): Promise<Scene> {
  const scene = await openScene(database, elements);
  await scene.listen();
  return scene;
}

/** Returns the submissions with a submission.deleted event. */
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

test('removing a completed submission deletes its row, count and search text, orphans its files, and triggers an event', async () => {
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

test('a submission is removed once with one event, and cannot be removed through another form', async () => {
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
