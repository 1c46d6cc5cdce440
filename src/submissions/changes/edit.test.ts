import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiError } from '#kit/errors.ts';
import { searchByWords } from '#search/search-page.ts';
import { wordsOnlyParameters } from '#search/search-sql.ts';
import { compileWords } from '#search/search-words.ts';
import { composite, element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { type ChangeTarget, changeSubmission, type SubmissionPatch } from './edit.ts';

const { database } = await testDatabase();

const elements = [
  element('text', 'name', { required: true }),
  element('number', 'age'),
  element('file_upload', 'photo'),
  composite('guests', [element('text', 'guest'), element('file_upload', 'ticket')], { repeatable: true }),
];

async function openHeardScene(): Promise<Scene> {
  const scene = await openScene(database, elements);
  await scene.listen();
  return scene;
}

const by = { kind: 'operator', id: '' } as const;

async function targetOf(scene: Scene, id: string): Promise<ChangeTarget> {
  const { updated_at } = await scene.read(id);
  return { workspaceId: scene.workspaceId, formId: scene.formId, id, by, unchanged: [updated_at] };
}

const edit = async (scene: Scene, id: string, patch: SubmissionPatch) =>
  changeSubmission(scene.context, await targetOf(scene, id), patch);

const kinds = async (scene: Scene): Promise<string[]> => (await scene.events()).map((event) => event.kind);

const fails = (code: string, fields?: string[]) => (error: unknown) => {
  const { code: actual, errors } = error as ApiError;
  assert.equal(actual, code);
  if (fields)
    assert.deepEqual(
      errors?.map(({ field }) => field),
      fields,
    );
  return true;
};

const find = async (scene: Scene, q: string): Promise<string[]> =>
  (
    await searchByWords.plain(database, {
      ...wordsOnlyParameters,
      workspace_id: scene.workspaceId,
      form_ids: [scene.formId],
      ...compileWords(q),
      limit: 10,
      offset: 0,
    })
  ).map((row) => row.id);

test('edited answers are stored, replace the old ones in search, and trigger submission.updated', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada', age: 36 });
  await edit(scene, id, { answers: { name: 'Grace', age: 85 } });

  assert.deepEqual((await scene.read(id)).answers, { name: 'Grace', age: 85 });
  assert.deepEqual(await find(scene, 'Ada'), []);
  assert.deepEqual(await find(scene, 'Grace'), [id]);
  const events = await scene.events();
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['submission.created', 'submission.updated'],
  );
  assert.deepEqual(events[1]!.snapshot.submission.responses, { name: 'Grace', age: 85 });
});

test('an edit is validated against the answered version; its errors are located, and nothing is written or sent', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  const before = await scene.read(id);
  const wrong = { name: ' ', age: 'old', colour: 'red', guests: [{ guest: 'a\nb' }] };
  await assert.rejects(
    edit(scene, id, { answers: wrong }),
    fails('validation_error', ['name', 'age', 'guests[0][guest]', 'colour']),
  );
  assert.deepEqual(await scene.read(id), before);
  assert.deepEqual(await kinds(scene), ['submission.created']);
});

test('an edit that hides a question keeps and reports its answer until it is removed; hidden answers are validated too', async () => {
  const when = (value: string) => ({ show_when: { element: 'level', is: 'equals', value } });
  const scene = await openScene(database, [
    element('text', 'level'),
    element('number', 'years', { ...when('expert'), required: true }),
    composite('guests', [element('text', 'guest')], { repeatable: true, ...when('expert') }),
  ]);
  const given = { level: 'expert', years: 7, guests: [{ guest: 'Tom' }] };
  const id = await scene.submit(given);
  const put = (answers: Record<string, unknown>) => edit(scene, id, { answers });
  assert.deepEqual(await put({ level: 'beginner' }), { unasked: ['years', 'guests'] });
  assert.deepEqual((await scene.read(id)).answers, { ...given, level: 'beginner' });
  await assert.rejects(put({ years: 'many' }), fails('validation_error', ['years']));
  await assert.rejects(
    put({ level: 'expert', years: null, guests: null }),
    fails('validation_error', ['years']),
  );
  assert.deepEqual(await put({ guests: null }), { unasked: ['years'] });
  assert.deepEqual(await put({ years: null }), { unasked: [] });
  assert.deepEqual((await scene.read(id)).answers, { level: 'beginner' });
});

test('an edit that hides rows, or sends null as a row, does not fail', async () => {
  const scene = await openScene(database, [
    element('text', 'level', { options: 'none' }),
    composite('guests', [element('text', 'guest'), element('file_upload', 'ticket')], {
      repeatable: true,
      show_when: { element: 'level', is: 'equals', value: 'expert' },
    }),
    element('file_upload', 'photo'),
  ]);
  const id = await scene.submit({ level: 'expert', guests: [{ guest: 'Tom' }] });
  assert.deepEqual(await edit(scene, id, { answers: { level: 'beginner' } }), { unasked: ['guests'] });
  assert.deepEqual(
    await edit(scene, id, { answers: { level: 'expert', guests: [null, { guest: 'Tim' }], photo: null } }),
    {
      unasked: [],
    },
  );
  assert.deepEqual((await scene.read(id)).answers, { level: 'expert', guests: [{ guest: 'Tim' }] });
});

test('an edit without changes writes nothing and triggers no event', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada', age: 36 }, { reference: { utm: 'mail' } });
  const before = await scene.read(id);
  const target = await targetOf(scene, id);
  await changeSubmission(scene.context, target, { answers: { age: 36, name: 'Ada' } });
  await changeSubmission(scene.context, target, { reference: { utm: 'mail' } });
  await changeSubmission(scene.context, target, { status: 'completed' });
  assert.deepEqual(await scene.read(id), before);
  assert.deepEqual(await kinds(scene), ['submission.created']);
});

test('of two editors of one submission, the second gets an error and overwrites nothing', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  const target = await targetOf(scene, id);
  await changeSubmission(scene.context, target, { answers: { name: 'First' } });
  await assert.rejects(
    changeSubmission(scene.context, target, { answers: { name: 'Second' } }),
    fails('precondition_failed'),
  );
  assert.deepEqual((await scene.read(id)).answers, { name: 'First' });
});

test('files named in an edit are kept, omitted ones become orphans for the sweep, and files of another question are rejected', async () => {
  const scene = await openHeardScene();
  const [photo, other, ticket] = [
    await scene.upload('photo', 'a.png'),
    await scene.upload('photo', 'b.png'),
    await scene.upload('ticket', 'c.png'),
  ];
  const files = new Map([
    ['photo', [photo, other]],
    ['guests[1][ticket]', [ticket]],
  ]);
  const id = await scene.submit({ name: 'Ada', guests: [{ guest: 'Tom' }, { guest: 'Ann' }] }, { files });

  const foreign = await scene.upload('ticket', 'foreign.png');
  for (const sent of [[foreign], [photo, photo]]) {
    await assert.rejects(
      edit(scene, id, { answers: { name: 'Ada', photo: sent } }),
      fails('validation_error', ['photo']),
    );
  }
  const kept = {
    name: 'Ada',
    photo: [{ ...photo, filename: 'renamed.exe' }],
    guests: [{ guest: 'Ann', ticket: [ticket.id] }],
  };
  await edit(scene, id, { answers: kept });

  assert.deepEqual((await scene.read(id)).answers, {
    name: 'Ada',
    photo: [photo],
    guests: [{ guest: 'Ann', ticket: [ticket] }],
  });
  const { rows } = await database.query(
    'select id from files where form_id = $1 and submission_id is null and claimed_at is not null',
    [scene.formId],
  );
  assert.deepEqual(rows, [{ id: other.id }]);

  await edit(scene, id, { answers: { photo: null, guests: null } });
  assert.equal((await scene.read(id)).has_files, false);
});

test('edited reference data is stored, searched and sent in events; invalid text is rejected', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' }, { reference: { campaign: 'spring' } });
  await assert.rejects(edit(scene, id, { reference: { a: 'x\u0000' } }), fails('validation_error', ['a']));
  await edit(scene, id, { reference: { campaign: 'autumn' } });
  assert.deepEqual(await find(scene, 'spring'), []);
  assert.deepEqual(await find(scene, 'autumn'), [id]);
  const events = await scene.events();
  assert.equal(events.at(-1)!.kind, 'submission.updated');
  assert.deepEqual(events.at(-1)!.snapshot.submission.reference_data, { campaign: 'autumn' });
});

test('tags are stored as typed, without duplicates, and trigger no events', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  await edit(scene, id, { tags: [' VIP ', 'vip', 'follow\tup'] });
  const tagsOf = async () =>
    (await database.query('select tags from submissions where id = $1', [id])).rows as unknown[];
  assert.deepEqual(await tagsOf(), [{ tags: ['VIP', 'follow up'] }]);
  await assert.rejects(edit(scene, id, { tags: ['ok', ' '] }), fails('validation_error', ['tags.1']));
  await edit(scene, id, { tags: [] });
  assert.deepEqual(await tagsOf(), [{ tags: [] }]);
  assert.deepEqual(await kinds(scene), ['submission.created']);
});

test('omitted parts of a change keep their value: answers, reference data, status and tags change separately and together', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada', age: 36 }, { reference: { a: '1', b: '2' } });
  await edit(scene, id, { answers: { age: 37 }, reference: { a: null }, status: 'incomplete', tags: ['x'] });
  const { answers, reference, status } = await scene.read(id);
  assert.deepEqual([answers, reference, status], [{ name: 'Ada', age: 37 }, { b: '2' }, 'incomplete']);
  await assert.rejects(
    edit(scene, id, { answers: { name: null }, status: 'completed' }),
    fails('validation_error', ['name']),
  );
  assert.deepEqual(await kinds(scene), ['submission.created', 'submission.updated']);
});

test('a status change moves one count and triggers updated, and the first completion triggers created', async () => {
  const scene = await openHeardScene();
  const completed = await scene.submit({ name: 'Ada' });
  const begun = await scene.begin({ name: 'Tom' });
  const firstCompletion = (await scene.read(completed)).completed_at;
  const before = await kinds(scene);

  await edit(scene, completed, { status: 'incomplete' });
  assert.deepEqual(await scene.counts(), { shown: { incomplete: 2 }, found: { incomplete: 2 } });
  assert.deepEqual((await scene.read(completed)).completed_at, firstCompletion);

  await edit(scene, completed, { status: 'completed' });
  await edit(scene, begun, { status: 'completed' });
  assert.deepEqual(await scene.counts(), { shown: { completed: 2 }, found: { completed: 2 } });
  assert.deepEqual((await scene.read(completed)).completed_at, firstCompletion);
  assert.ok((await scene.read(begun)).completed_at);
  const after = ['submission.updated', 'submission.updated', 'submission.created'];
  assert.deepEqual(await kinds(scene), [...before, ...after]);
});

test('an incomplete submission may lack required answers, is edited without an event, and is completed only if valid', async () => {
  const scene = await openHeardScene();
  const id = await scene.begin({ name: 'Tom' });
  const before = await kinds(scene);
  await edit(scene, id, { answers: { name: null, age: 3 } });
  assert.deepEqual((await scene.read(id)).answers, { age: 3 });
  await assert.rejects(edit(scene, id, { status: 'completed' }), fails('validation_error', ['name']));
  assert.deepEqual(await kinds(scene), before);
  assert.deepEqual(await scene.counts(), { shown: { incomplete: 1 }, found: { incomplete: 1 } });
});

test('a submission of another workspace, another form or a deleted form does not exist', async () => {
  const scene = await openHeardScene();
  const stranger = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  const target = await targetOf(scene, id);
  const foreign = { ...target, workspaceId: stranger.workspaceId, formId: stranger.formId };
  const change = { answers: { name: 'Eve' } };
  for (const wrong of [
    foreign,
    { ...foreign, formId: scene.formId },
    { ...foreign, workspaceId: scene.workspaceId },
  ]) {
    await assert.rejects(changeSubmission(scene.context, wrong, change), fails('not_found'));
  }
  await database.query('update forms set deleted_at = now() where id = $1', [scene.formId]);
  await assert.rejects(changeSubmission(scene.context, target, change), fails('not_found'));
});

test('parallel status changes in both directions leave exact counts', async () => {
  const scene = await openHeardScene();
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0 ? scene.submit({ name: 'A' }) : scene.begin({ name: 'B' }),
    ),
  );
  await Promise.all(
    ids.map(async (id, index) => edit(scene, id, { status: index % 2 === 0 ? 'incomplete' : 'completed' })),
  );
  assert.deepEqual(await scene.counts(), {
    shown: { completed: 4, incomplete: 4 },
    found: { completed: 4, incomplete: 4 },
  });
});
