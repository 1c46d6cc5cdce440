import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteExpired } from '#app/server/delete-expired.ts';
import type { AnswerFiles } from '#ast/answers/check-answers.ts';
import { sweepFiles } from '#files/stored-files.ts';
import { changeForm } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { openEditLink } from './changes/edit-by-token.ts';
import { createOrExtendLink } from './links.ts';
import { saveAnswers } from './save-answers.ts';
import { deleteSpam, releaseSpam } from './spam.ts';
import { submitAnswers } from './submit.ts';
import { DifferentAnswersError } from './submit-request.ts';

const { database } = await testDatabase({ pool: 20 });
const questions = [element('text', 'name', { required: true }), element('file_upload', 'photo')];
const suspicion = { reason: 'honeypot', address: Buffer.alloc(32) } as const;
// These tests store no bytes, so there are none to remove.
const storage = { remove: async () => {} } as unknown as Parameters<typeof sweepFiles>[0]['storage'];

type Sent = { files?: AnswerFiles; key?: string };

async function hold(scene: Scene, raw: object, { files = new Map(), key }: Sent = {}) {
  const request = { live: await scene.live(), raw, files, reference: { from: 'ad' }, key };
  const result = await submitAnswers(scene.context, request, suspicion);
  assert.ok(result.ok, JSON.stringify(result));
  return { id: result.submission.id, ...result };
}

const release = (scene: Scene, ...ids: string[]) => releaseSpam(scene.context, scene, ids);
const countSpam = async (scene: Scene): Promise<number> =>
  (await database.query('select from held_submissions where form_id = $1', [scene.formId])).rows.length;
const filesOf = async (scene: Scene): Promise<number> =>
  (await database.query('select from files where form_id = $1', [scene.formId])).rows.length;
const makeOld = (scene: Scene) =>
  database.query("update files set created_at = now() - interval '2 hours' where form_id = $1", [
    scene.formId,
  ]);

test('the sender of spam gets a receipt, but spam is not counted, found or sent to webhooks', async () => {
  const scene = await openScene(database, questions);
  await scene.listen();
  const { id, submission, outcome } = await hold(scene, { name: 'Ada' });
  assert.ok(outcome === 'spam' && submission.completedAt instanceof Date && id.length === 36);
  const { shown, found } = await scene.counts();
  assert.deepEqual([shown, found, await scene.events()], [{}, {}, []]);
});

test('invalid answers are rejected as usual, and do not go to spam', async () => {
  const scene = await openScene(database, questions);
  const request = { live: await scene.live(), raw: {}, files: new Map(), reference: {} };
  const result = await submitAnswers(scene.context, request, suspicion);
  assert.ok(!result.ok && result.errors[0]!.field === 'name');
  assert.equal(await countSpam(scene), 0);
});

test('released spam becomes a submission with its receipt and time, and with one event for any number of releases', async () => {
  const scene = await openScene(database, questions);
  await scene.listen();
  const { id, submission } = await hold(scene, { name: 'Ada' });
  const released = await Promise.all(Array.from({ length: 10 }, () => release(scene, id)));
  assert.equal(
    released.reduce((sum, count) => sum + count),
    1,
  );
  const stored = await scene.read(id);
  assert.deepEqual(
    [stored.status, stored.answers, stored.reference, stored.created_at, stored.completed_at],
    ['completed', { name: 'Ada' }, { from: 'ad' }, submission.completedAt, submission.completedAt],
  );
  const events = await scene.events();
  assert.deepEqual(
    events.map(({ kind, submission_id }) => [kind, submission_id]),
    [['submission.created', id]],
  );
  assert.deepEqual((await scene.counts()).shown, { completed: 1 });
  assert.equal(await countSpam(scene), 0);
  const { rows } = await database.query('select from search_documents where submission_id = $1', [id]);
  assert.equal(rows.length, 1);
});

test('spam released after the form changed keeps the version that its sender answered', async () => {
  const scene = await openScene(database, questions);
  await scene.listen();
  const { id } = await hold(scene, { name: 'Ada' });
  await changeForm(database, scene.workspaceId, scene.formId, {
    structure: structure(element('number', 'age', { required: true })),
  });
  assert.equal(await release(scene, id), 1);
  const { rows } = await database.query<{ version: number }>(
    'select version from submissions where id = $1',
    [id],
  );
  assert.equal(rows[0]!.version, 1);
  assert.deepEqual((await scene.events())[0]!.snapshot.submission.responses, { name: 'Ada' });
});

test('the sweep keeps a file of spam, which moves with the release and is removed with the deletion', async () => {
  const scene = await openScene(database, questions);
  await scene.listen();
  const send = async (filename: string) =>
    hold(scene, { name: 'Ada' }, { files: new Map([['photo', [await scene.upload('photo', filename)]]]) });
  const [kept, dropped] = [await send('kept.png'), await send('dropped.png')];
  await makeOld(scene);
  await sweepFiles({ database, storage });
  assert.equal(await filesOf(scene), 2);

  await release(scene, kept.id);
  assert.equal(Object.keys((await scene.events())[0]!.snapshot.submission.file_uploads).length, 1);
  await deleteSpam(database, { workspace_id: scene.workspaceId, form_id: scene.formId, ids: [dropped.id] });
  await sweepFiles({ database, storage });
  const { rows } = await database.query<{ filename: string; submission_id: string }>(
    'select filename, submission_id from files where form_id = $1',
    [scene.formId],
  );
  assert.deepEqual(rows, [{ filename: 'kept.png', submission_id: kept.id }]);
});

test('resending spam with its key returns the same receipt, even in parallel; other answers are a conflict', async () => {
  const scene = await openScene(database, questions, { editing: true });
  const key = newId();
  const spam = await Promise.all(Array.from({ length: 20 }, () => hold(scene, { name: 'Ada' }, { key })));
  assert.deepEqual([new Set(spam.map(({ id }) => id)).size, await countSpam(scene)], [1, 1]);
  await assert.rejects(
    hold(scene, { name: 'Eve' }, { key }),
    (error) => error instanceof DifferentAnswersError,
  );
  const { id } = spam[0]!;
  await release(scene, id);
  const again = await scene.send({ name: 'Ada' }, { key });
  assert.ok(again.ok && again.outcome === 'repeat' && again.submission.id === id);
});

test('the edit link of the sender works after the release', async () => {
  const scene = await openScene(database, questions, { editing: true });
  const { id, editToken } = await hold(scene, { name: 'Ada' });
  await assert.rejects(openEditLink(database, scene.formId, editToken!), { code: 'not_found' });
  await release(scene, id);
  assert.deepEqual((await openEditLink(database, scene.formId, editToken!)).raw, { name: 'Ada' });
});

test('saved answers go to the spam box with their files, and are released with them', async () => {
  const scene = await openScene(database, questions, { save_progress: true });
  const key = newId();
  const files = new Map([['photo', [await scene.upload('photo', 'a.png')]]]);
  const request = { live: await scene.live(), raw: { name: 'A' }, files, reference: {}, key, step: 0 };
  await saveAnswers(scene.context, request);
  const { id } = await hold(scene, { name: 'Ada' }, { key, files });
  assert.deepEqual((await scene.counts()).shown, {});
  await sweepFiles({ database, storage });
  await release(scene, id);
  assert.deepEqual((await scene.read(id)).answers['photo'], files.get('photo'));
  assert.deepEqual((await scene.counts()).shown, { completed: 1 });
});

test('a form at its response limit rejects a release, and keeps the spam', async () => {
  const scene = await openScene(database, questions, { max_submissions: 2 });
  const spam = await Promise.all(['a', 'b', 'c'].map((name) => hold(scene, { name })));
  const ids = spam.map(({ id }) => id);
  await assert.rejects(release(scene, ...ids), { code: 'conflict' });
  assert.deepEqual([(await scene.counts()).shown, await countSpam(scene)], [{ completed: 2 }, 1]);
});

test("another form's spam box is not accessible, and decisions about missing spam have no effect", async () => {
  const [scene, other] = [await openScene(database, questions), await openScene(database, questions)];
  const { id } = await hold(scene, { name: 'Ada' });
  assert.equal(await release(other, id, newId()), 0);
  assert.equal(await countSpam(scene), 1);
});

test('undecided spam is removed after 30 days, and expired links are removed; other links work', async () => {
  const scene = await openScene(database, questions);
  const [over, lasting] = [await scene.submit({ name: 'Ada' }), await scene.submit({ name: 'Ben' })];
  for (const [submissionId, days] of [
    [over, -1],
    [lasting, 1],
  ] as const)
    await createOrExtendLink(
      database,
      scene.context.vault,
      { ...scene, submissionId },
      { purpose: 'edit', days },
    );
  await hold(scene, { name: 'old' });
  await database.query("update held_submissions set created_at = now() - interval '31 days'");
  await hold(scene, { name: 'new' });
  await deleteExpired(database, 'held_submissions');
  await deleteExpired(database, 'submission_links');
  assert.equal(await countSpam(scene), 1);
  const { rows } = await database.query('select submission_id from submission_links where form_id = $1', [
    scene.formId,
  ]);
  assert.deepEqual(rows, [{ submission_id: lasting }]);
});
