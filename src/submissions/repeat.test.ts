import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeForm } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { requireCapacity } from './response-limit.ts';
import { insertRecord, prepareRecord } from './submission-record.ts';
import { DifferentAnswersError, type SubmitResult } from './submit-request.ts';

const { database } = await testDatabase({ pool: 20 });
const questions = [
  element('text', 'name', { required: true }),
  element('file_upload', 'photo'),
  element('text', 'note'),
];

const receiptOf = (result: SubmitResult): string => {
  assert.ok(result.ok, JSON.stringify(result));
  return result.submission.id;
};
const kindsOf = async (scene: Scene): Promise<string[]> => (await scene.events()).map(({ kind }) => kind);
const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

for (const [what, settings, hears] of [
  ['one statement', {}, false],
  ['a transaction with its event', {}, true],
  ['a transaction under a maximum', { max_submissions: 1 }, true],
  ['a transaction with its link', { editing: true }, false],
] as const) {
  test(`20 parallel posts of a key make one submission, one count, one event and one receipt, in ${what}`, async () => {
    const scene = await openScene(database, questions, settings);
    if (hears) await scene.listen();
    const key = newId();
    const results = await times(20, () => scene.send({ name: 'Ada' }, { key }));
    assert.equal(new Set(results.map(receiptOf)).size, 1);
    assert.equal(results.filter((result) => result.ok && result.outcome !== 'repeat').length, 1);
    const { shown, found } = await scene.counts();
    assert.deepEqual([shown, found], [{ completed: 1 }, { completed: 1 }]);
    assert.deepEqual(await kindsOf(scene), hears ? ['submission.created'] : []);
    const links = results.map((result) => result.ok && result.editToken);
    assert.equal(new Set(links).size, 1);
    assert.equal(
      typeof links[0],
      settings === undefined || !('editing' in settings) ? 'undefined' : 'string',
    );
  });
}

test('answers without a key, or with another key, make another submission', async () => {
  const scene = await openScene(database, questions);
  const receipts = await Promise.all([
    scene.send({ name: 'Ada' }),
    scene.send({ name: 'Ada' }),
    scene.send({ name: 'Ada' }, { key: newId() }),
    scene.send({ name: 'Ada' }, { key: newId() }),
  ]);
  assert.equal(new Set(receipts.map(receiptOf)).size, 4);
});

test('a retry that uploads its files again returns the receipt, and its new files are left for deletion', async () => {
  const scene = await openScene(database, questions);
  const key = newId();
  const send = async () =>
    scene.send({ name: 'Ada' }, { key, files: new Map([['photo', [await scene.upload('photo', 'a.png')]]]) });
  const [first, second] = [await send(), await send()];
  assert.equal(receiptOf(second), receiptOf(first));
  const { rows } = await database.query<{ claimed: boolean }>(
    'select submission_id is not null as claimed from files where form_id = $1 order by id',
    [scene.formId],
  );
  assert.deepEqual(
    rows.map(({ claimed }) => claimed),
    [true, false],
  );
});

for (const [what, other] of [
  ['another answer', { answers: { name: 'Grace' } }],
  ['one more answer', { answers: { name: 'Ada', note: 'x' } }],
  ['another file', { answers: { name: 'Ada' }, filename: 'b.png' }],
] as const) {
  test(`the same key with ${what} returns a conflict that names the first submission, and changes nothing`, async () => {
    const scene = await openScene(database, questions);
    const key = newId();
    const first = receiptOf(await scene.send({ name: 'Ada' }, { key }));
    const files =
      'filename' in other ? new Map([['photo', [await scene.upload('photo', other.filename)]]]) : new Map();
    await assert.rejects(
      scene.send(other.answers, { key, files }),
      (error) =>
        error instanceof DifferentAnswersError && error.code === 'conflict' && error.earlier.id === first,
    );
    assert.deepEqual((await scene.read(first)).answers, { name: 'Ada' });
    assert.deepEqual((await scene.counts()).shown, { completed: 1 });
  });
}

test('invalid answers are rejected as usual, and their key can be used for valid ones', async () => {
  const scene = await openScene(database, questions);
  const key = newId();
  const refused = await scene.send({ name: '' }, { key });
  assert.ok(!refused.ok && refused.errors[0]!.field === 'name');
  const taken = await scene.send({ name: 'Ada' }, { key });
  assert.ok(taken.ok && taken.outcome !== 'repeat');
});

test('a retry gets its receipt, even if the form has a new question or is full', async () => {
  const scene = await openScene(database, questions, { max_submissions: 1 });
  const key = newId();
  const first = receiptOf(await scene.send({ name: 'Ada' }, { key }));
  await changeForm(database, scene.workspaceId, scene.formId, {
    structure: structure(...questions, element('text', 'age', { required: true })),
  });
  const retry = await scene.send({ name: 'Ada' }, { key });
  assert.ok(retry.ok && retry.outcome === 'repeat');
  assert.equal(receiptOf(retry), first);
  await assert.rejects(scene.send({ name: 'Ada', age: '1' }, { key: newId() }), { code: 'gone' });
});

test('of 400 parallel submits to a form with a limit of 37, with and without keys, exactly 37 are accepted', async () => {
  const scene = await openScene(database, questions, { max_submissions: 37 });
  await scene.listen();
  const outcomes = await times(400, async (index) => {
    const key = index % 2 === 0 ? newId() : undefined;
    return scene.send({ name: String(index) }, key === undefined ? {} : { key }).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    );
  });
  assert.equal(outcomes.filter((outcome) => outcome === 'taken').length, 37);
  assert.equal(outcomes.filter((outcome) => outcome === 'gone').length, 363);
  assert.deepEqual((await scene.counts()).found, { completed: 37 });
  assert.equal((await scene.events()).length, 37);
});

test('a submit waits for another process that reaches the response limit, and is then rejected', async () => {
  const scene = await openScene(database, questions, { max_submissions: 1 });
  const live = await scene.live();
  let isOver = false;
  const { late } = await transaction(database, async (client) => {
    // The other process has reached the limit, but has not committed.
    assert.equal(await requireCapacity(client, live, undefined), true);
    const writing = prepareRecord({ live, reference: {}, files: new Map() }, { name: 'Ada' });
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    const late = scene
      .send({ name: 'Grace' })
      .then(
        () => 'taken',
        (error: { code?: string }) => error.code,
      )
      .finally(() => {
        isOver = true;
      });
    await until('the late one to wait for the lock', async () => {
      const { rows } = await database.query(
        `select from pg_locks join pg_database on oid = database
          where datname = current_database() and locktype = 'advisory' and not granted`,
      );
      return rows.length > 0 || isOver;
    });
    return { late };
  });
  assert.equal(await late, 'gone');
  assert.deepEqual((await scene.counts()).found, { completed: 1 });
});
