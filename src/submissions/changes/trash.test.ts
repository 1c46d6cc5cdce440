import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findClaimedFile } from '#files/endpoints.ts';
import { openFileLinks } from '#files/stored-files.ts';
import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { replyText } from '#kit/http.ts';
import type { OperationResponse } from '#kit/operation.ts';
import { openVault } from '#kit/vault.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { submissionListEndpoints } from '#search/list-endpoints.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { scopeOf } from '#test/workspaces/scope.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { toChangedBy } from '../differences.ts';
import { getSubmissionEndpoint } from '../endpoints.ts';
import { applyRetention } from '../retention/apply.ts';
import { changeSubmission } from './edit.ts';
import { removeSubmission } from './remove.ts';
import { restoreMany, trashSubmission, trashSubmissionsInTransaction } from './trash.ts';

const { database } = await testDatabase();
const { id: userId } = await createUser(database, {
  email: 'ada@example.com',
  password: 'a long enough password',
});
const by = { kind: 'person', id: userId } as const;
const links = openFileLinks({ vault: openVault('0f'.repeat(32)), publicUrl: 'http://127.0.0.1:3000', now });
const api = {
  ...submissionListEndpoints({ database, links }),
  ...searchEndpoints({ database, links }),
  getSubmission: getSubmissionEndpoint({ database, links }),
};

const openHeardScene = async (): Promise<Scene> => {
  const scene = await openScene(database, [element('text', 'name'), element('file_upload', 'photo')]);
  await scene.listen();
  return scene;
};

/** Returns what the API shows of a form: the IDs of its list and of a search, and the total. */
async function seen(
  scene: Scene,
  word: string,
): Promise<{ listed: string[]; found: string[]; total: number }> {
  const scope = scopeOf(scene.workspaceId);
  const read = async (reply: Promise<OperationResponse>) =>
    JSON.parse(replyText(await reply)!) as { data: { id: string }[]; pagination: { total_count: number } };
  const list = await read(
    api.listFormSubmissions.handle(scope, { params: { id: scene.formId }, query: {}, body: {} }),
  );
  const search = await read(
    api.searchSubmissions.handle(scope, { params: {}, query: { q: word }, body: {} }),
  );
  return {
    listed: list.data.map(({ id }) => id),
    found: search.data.map(({ id }) => id),
    total: list.pagination.total_count,
  };
}

const kinds = async (scene: Scene): Promise<string[]> => (await scene.events()).map(({ kind }) => kind);

/** Backdates the trashed submissions by this number of days. */
const age = (scene: Scene, days: number) =>
  database.query(
    `update submissions set trashed_at = trashed_at - make_interval(days => $2) where form_id = $1 and trashed_at is not null`,
    [scene.formId, days],
  );

test('a submission in the trash is in no list, search, count or file link, and is unchanged after its restore', async () => {
  const scene = await openHeardScene();
  const photo = await scene.upload('photo', 'a.png');
  const id = await scene.submit({ name: 'Xylograph' }, { files: new Map([['photo', [photo]]]) });
  const stays = await scene.submit({ name: 'Harp' });
  const file = { workspace_id: scene.workspaceId, form_id: scene.formId, id: photo.id };
  const before = await scene.read(id);

  await trashSubmission(database, { ...scene, id, by, unchanged: null });
  assert.deepEqual(await seen(scene, 'xylograph'), { listed: [stays], found: [], total: 1 });
  const get = api.getSubmission.handle(scopeOf(scene.workspaceId), { params: { id }, query: {}, body: {} });
  await assert.rejects(get, { code: 'not_found' });
  assert.deepEqual(await findClaimedFile(database, file), []);
  const edit = { ...scene, id, unchanged: [before.updated_at], by };
  await assert.rejects(changeSubmission(scene.context, edit, { status: 'incomplete' }), {
    code: 'not_found',
  });
  await assert.rejects(trashSubmission(database, { ...scene, id, by, unchanged: null }), {
    code: 'not_found',
  });

  assert.equal(await restoreMany(database, scene, { ids: [id], by }), 1);
  assert.equal(await restoreMany(database, scene, { ids: [id], by }), 0);
  assert.deepEqual(await seen(scene, 'xylographs'), { listed: [stays, id], found: [id], total: 2 });
  assert.equal((await findClaimedFile(database, file)).length, 1);
  assert.deepEqual(await scene.read(id), before);
  assert.deepEqual(await kinds(scene), ['submission.created', 'submission.created']);
});

test('the trash of a form is not accessible through another form or workspace', async () => {
  const [scene, stranger] = [await openHeardScene(), await openHeardScene()];
  const id = await scene.submit({ name: 'Ada' });
  for (const key of [
    { ...scene, formId: stranger.formId },
    { ...scene, workspaceId: stranger.workspaceId },
  ]) {
    await assert.rejects(trashSubmission(database, { ...key, id, by, unchanged: null }), {
      code: 'not_found',
    });
  }
  await trashSubmission(database, { ...scene, id, by, unchanged: null });
  assert.equal(await restoreMany(database, stranger, { ids: [id], by }), 0);
});

test('permanent deletion triggers submission.deleted once, and does not reduce the count again', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  await scene.submit({ name: 'Ben' });
  await trashSubmission(database, { ...scene, id, by, unchanged: null });
  await removeSubmission(scene.context, { ...scene, id });
  assert.deepEqual(await kinds(scene), ['submission.created', 'submission.created', 'submission.deleted']);
  assert.deepEqual(await scene.counts(), { shown: { completed: 1 }, found: { completed: 1 } });
});

test('after 30 days submissions in the trash are deleted with events; newer and restored ones stay', async () => {
  const scene = await openHeardScene();
  const [old, back, begun] = [
    await scene.submit({ name: 'Old' }),
    await scene.submit({ name: 'Back' }),
    await scene.begin({ name: 'Begun' }),
  ];
  await transaction(database, (client) =>
    trashSubmissionsInTransaction(client, scene, { ids: [old, back, begun], by: toChangedBy(by) }),
  );
  await age(scene, 31);
  await restoreMany(database, scene, { ids: [back], by });
  const young = await scene.submit({ name: 'Young' });
  await trashSubmission(database, { ...scene, id: young, by, unchanged: null });
  await age(scene, 0);

  await applyRetention(scene.context);
  const deletions = (await scene.events()).filter(({ kind }) => kind === 'submission.deleted');
  assert.deepEqual(
    deletions.map((event) => event.submission_id),
    [old],
  );
  assert.ok(await scene.read(back));
  assert.ok(await scene.read(young));
  assert.equal(await scene.read(old), undefined);
});
