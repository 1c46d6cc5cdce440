import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerFiles } from '#ast/answers/check-answers.ts';
import { newId } from '#kit/clock.ts';
import { composite, element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { slowness } from '#test/slowness.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { trashSubmissionsInTransaction } from './changes/trash.ts';
import { toChangedBy } from './differences.ts';
import { saveAnswers } from './save-answers.ts';
import { openResumeLink } from './saved-answers.ts';

const { database } = await testDatabase();
const questions = [
  element('text', 'name', { required: true, label: 'Name', min_length: 5 }),
  element('email', 'email'),
  element('number', 'age', { min: 18 }),
  element('file_upload', 'photo', { required: true }),
  composite('guests', [element('text', 'guest'), element('file_upload', 'card')], { repeatable: true }),
];
const settings = { save_progress: true };

type Save = {
  raw: object;
  files?: AnswerFiles;
  key: string;
  step?: number;
  reference?: Record<string, string>;
};

const save = async (scene: Scene, { raw, files = new Map(), key, step = 0, reference = {} }: Save) =>
  saveAnswers(scene.context, { live: await scene.live(), raw, files, key, step, reference });

const filesOf = async (scene: Scene) =>
  (
    await database.query<{ filename: string; submission_id: string | null }>(
      'select filename, submission_id from files where form_id = $1 order by id',
      [scene.formId],
    )
  ).rows.map(({ filename, submission_id }) => [filename, submission_id]);

test('saving answers repeatedly keeps one incomplete submission and triggers no event', async () => {
  const scene = await openScene(database, questions, settings);
  await scene.listen();
  const key = newId();
  const first = await save(scene, { raw: { name: 'A' }, key });
  const second = await save(scene, {
    raw: { name: 'Ada', age: 7 },
    key,
    step: 2,
    reference: { from: 'mail' },
  });
  assert.deepEqual([second.id, second.resumeToken], [first.id, first.resumeToken]);
  const stored = await scene.read(first.id);
  assert.deepEqual(
    [stored.status, stored.answers, stored.reference, stored.completed_at],
    ['incomplete', { name: 'Ada', age: 7 }, { from: 'mail' }, null],
  );
  assert.deepEqual((await scene.counts()).shown, { incomplete: 1 });
  assert.deepEqual(await scene.events(), []);
});

test('20 parallel saves of a key make one submission', async () => {
  const scene = await openScene(database, questions, settings);
  const key = newId();
  const saved = await Promise.all(
    Array.from({ length: 20 }, (_, index) => save(scene, { raw: { name: String(index) }, key })),
  );
  assert.equal(new Set(saved.map(({ id }) => id)).size, 1);
  assert.deepEqual((await scene.counts()).found, { incomplete: 1 });
});

test('rules apply only at submit; malformed or oversized answers are left out of a save', async () => {
  const scene = await openScene(database, questions, settings);
  const raw = {
    name: 'A',
    email: 'ada@',
    age: 'many',
    photo: [{ id: newId() }],
    gone: 'x',
    guests: [{ guest: 'Bob', other: 1 }, 'row', { guest: 'x'.repeat(70_000) }, { guest: 'Eve' }],
  };
  const { id } = await save(scene, { raw, key: newId() });
  assert.deepEqual((await scene.read(id)).answers, {
    name: 'A',
    guests: [{ guest: 'Bob' }, { guest: 'Eve' }],
  });
  for (const nothing of [null, 'text', [], { __proto__: null, toString: 1, constructor: 2 }]) {
    const saved = await save(scene, { raw: nothing as object, key: newId() });
    assert.deepEqual((await scene.read(saved.id)).answers, {});
  }
});

test('on another device the link opens the saved answers, files, reference data, step and key', async () => {
  const scene = await openScene(database, questions, settings);
  const key = newId();
  const [photo, card] = [await scene.upload('photo', 'me.png'), await scene.upload('card', 'bob.png')];
  const files = new Map([
    ['photo', [photo]],
    ['guests[1][card]', [card]],
  ]);
  const raw = { name: 'Ada', guests: [{ guest: 'Eve' }, { guest: 'Bob' }] };
  const { id, resumeToken, expiresAt } = await save(scene, {
    raw,
    files,
    key,
    step: 1,
    reference: { a: 'b' },
  });
  assert.ok(Math.abs(expiresAt.getTime() - Date.now() - 30 * 86_400_000) < 60_000);
  assert.deepEqual(await openResumeLink(database, scene.formId, resumeToken), {
    submissionId: id,
    key,
    step: 1,
    reference: { a: 'b' },
    language: null,
    raw,
    files,
  });
});

test('files stay with saved answers, and are released when an answer no longer includes them', async () => {
  const scene = await openScene(database, questions, settings);
  const key = newId();
  const [one, two] = [await scene.upload('photo', 'one.png'), await scene.upload('photo', 'two.png')];
  const { id } = await save(scene, { raw: {}, files: new Map([['photo', [one]]]), key });
  await save(scene, { raw: {}, files: new Map([['photo', [one, two]]]), key });
  assert.deepEqual(await filesOf(scene), [
    ['one.png', id],
    ['two.png', id],
  ]);
  await save(scene, { raw: {}, files: new Map([['photo', [two]]]), key });
  assert.deepEqual(await filesOf(scene), [
    ['one.png', null],
    ['two.png', id],
  ]);
});

test('submitting the key completes that submission: one event, updated counts, and its link is gone', async () => {
  const scene = await openScene(database, questions, settings);
  await scene.listen();
  const key = newId();
  const [kept, added] = [await scene.upload('photo', 'kept.png'), await scene.upload('photo', 'added.png')];
  const saved = await save(scene, { raw: { name: 'Ada' }, files: new Map([['photo', [kept]]]), key });
  const answers = { name: 'Ada Lovelace' };
  const files = new Map([['photo', [kept, added]]]);
  const results = await Promise.all(Array.from({ length: 10 }, () => scene.send(answers, { key, files })));
  for (const result of results) assert.ok(result.ok && result.submission.id === saved.id);
  assert.equal(results.filter((result) => result.ok && result.outcome !== 'repeat').length, 1);
  const stored = await scene.read(saved.id);
  assert.deepEqual([stored.status, stored.answers], ['completed', { ...answers, photo: [kept, added] }]);
  assert.ok(stored.completed_at! >= stored.created_at);
  const { shown, found } = await scene.counts();
  assert.deepEqual([shown, found], [{ completed: 1 }, { completed: 1 }]);
  assert.deepEqual(
    (await scene.events()).map(({ kind, submission_id }) => [kind, submission_id]),
    [['submission.created', saved.id]],
  );
  await assert.rejects(openResumeLink(database, scene.formId, saved.resumeToken), { code: 'gone' });
  await assert.rejects(save(scene, { raw: {}, key }), { code: 'conflict' });
  assert.deepEqual((await scene.read(saved.id)).answers, stored.answers);
});

test('a save and a submit of a key at the same time lose nothing and make one submission', async () => {
  const scene = await openScene(database, [element('text', 'name')], settings);
  for (let round = 0; round < 10; round += 1) {
    const key = newId();
    const [, sent] = await Promise.all([
      save(scene, { raw: { name: 'draft' }, key }).catch((error: { code: string }) =>
        assert.equal(error.code, 'conflict'),
      ),
      scene.send({ name: 'final' }, { key }),
    ]);
    assert.ok(sent.ok);
    const stored = await scene.read(sent.submission.id);
    assert.deepEqual([stored.status, stored.answers], ['completed', { name: 'final' }]);
  }
  assert.deepEqual((await scene.counts()).shown, { completed: 10 });
});

test('a full form completes no more submissions, and saved answers stay saved', async () => {
  const scene = await openScene(database, [element('text', 'name')], { ...settings, max_submissions: 1 });
  const key = newId();
  const { id } = await save(scene, { raw: { name: 'Ada' }, key });
  await scene.submit({ name: 'Bob' });
  await assert.rejects(scene.send({ name: 'Ada' }, { key }), { code: 'gone' });
  assert.equal((await scene.read(id)).status, 'incomplete');
});

test('submits of saved answers to a form with a response limit wait for each other without a database connection', async () => {
  const scene = await openScene(database, [element('text', 'name')], { ...settings, max_submissions: 20 });
  const keys = Array.from({ length: 20 }, newId);
  for (const key of keys) await save(scene, { raw: { name: 'Ada' }, key });
  let [acquiredCount, most] = [0, 0];
  const acquired = (): void => void (most = Math.max(most, (acquiredCount += 1)));
  const released = (): void => void (acquiredCount -= 1);
  database.on('acquire', acquired).on('release', released);
  const sent = await Promise.all(keys.map((key) => scene.send({ name: 'Ada' }, { key })));
  database.off('acquire', acquired).off('release', released);
  assert.ok(sent.every(({ ok }) => ok));
  assert.deepEqual((await scene.counts()).shown, { completed: 20 });
  // Visitors of other forms need the other connections.
  assert.equal(most, 1);
});

test('saved answers that a member trashed return when they are submitted', async () => {
  const scene = await openScene(database, [element('text', 'name')], settings);
  const key = newId();
  const { id, resumeToken } = await save(scene, { raw: { name: 'Ada' }, key });
  await trashSubmissionsInTransaction(database, scene, { ids: [id], by: toChangedBy(null) });
  await assert.rejects(openResumeLink(database, scene.formId, resumeToken), { code: 'not_found' });
  await save(scene, { raw: { name: 'Ada L' }, key });
  assert.deepEqual((await scene.counts()).shown, {});
  const sent = await scene.send({ name: 'Ada' }, { key });
  assert.ok(sent.ok && sent.submission.id === id);
  assert.deepEqual((await scene.counts()).shown, { completed: 1 });
  const { rows } = await database.query('select from search_documents where submission_id = $1', [id]);
  assert.equal(rows.length, 1);
});

test('a link of another form, a changed one, an expired one, and one of a form that stopped saving are invalid', async () => {
  const scene = await openScene(database, questions, settings);
  const other = await openScene(database, questions, settings);
  const { id, resumeToken } = await save(scene, { raw: { name: 'Ada' }, key: newId() });
  const lost = { code: 'not_found' };
  await assert.rejects(openResumeLink(database, other.formId, resumeToken), lost);
  await assert.rejects(
    openResumeLink(
      database,
      scene.formId,
      `${resumeToken.startsWith('x') ? 'y' : 'x'}${resumeToken.slice(1)}`,
    ),
    lost,
  );
  await assert.rejects(openResumeLink(database, scene.formId, id), lost);
  await database.query("update submission_links set expires_at = now() - interval '1 second'");
  await assert.rejects(openResumeLink(database, scene.formId, resumeToken), lost);
});

test('a form without `save_progress` saves nothing', async () => {
  const scene = await openScene(database, questions);
  await assert.rejects(save(scene, { raw: {}, key: newId() }), { code: 'forbidden' });
  assert.deepEqual((await scene.counts()).found, {});
});

test('a save with 100,000 invalid answers and as many unknown names does not delay other requests', async () => {
  const inputs = Array.from({ length: 300 }, (_, index) => element('number', `n${index}`));
  const scene = await openScene(
    database,
    [element('text', 'answers'), composite('rows', inputs, { repeatable: true })],
    settings,
  );
  const row = Object.fromEntries(inputs.map((_, index) => [`n${index}`, 'x']));
  const raw = {
    answers: 'kept',
    rows: Array.from({ length: 100 }, () => row),
    ...Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`unknown${index}`, 'x'])),
  };
  const since = performance.now();
  const { id } = await save(scene, { raw, key: newId() });
  assert.deepEqual((await scene.read(id)).answers, { answers: 'kept' });
  const ms = performance.now() - since;
  assert.ok(ms < 3_000 || ms < 3_000 * slowness(), `took ${ms} ms`);
});
