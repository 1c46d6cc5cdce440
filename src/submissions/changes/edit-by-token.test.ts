import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerFiles } from '#ast/answers/check-answers.ts';
import { changeForm } from '#forms/forms.ts';
import { changeSettings } from '#forms/settings.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { toChangedBy } from '../differences.ts';
import { editByToken, openEditLink } from './edit-by-token.ts';
import { trashSubmissionsInTransaction } from './trash.ts';

const { database } = await testDatabase();
const questions = [
  element('text', 'name', { required: true, label: 'Name' }),
  element('file_upload', 'photo'),
];
const editing = { editing: true };

async function submitted(scene: Scene, answers: object, files: AnswerFiles = new Map()) {
  const result = await scene.send(answers, { files, reference: { from: 'mail' } });
  assert.ok(result.ok && result.editToken !== undefined);
  return { id: result.submission.id, token: result.editToken };
}

const edit = (scene: Scene, token: string, raw: object, more: { files?: AnswerFiles; seen?: Date } = {}) =>
  editByToken(scene.context, { formId: scene.formId, token, raw, files: new Map(), ...more });

const filesOf = async (scene: Scene) =>
  (
    await database.query<{ filename: string; kept: boolean }>(
      'select filename, submission_id is not null as kept from files where form_id = $1 order by id',
      [scene.formId],
    )
  ).rows.map(({ filename, kept }) => `${filename} ${kept ? 'kept' : 'let go'}`);

test('an edit link opens the submission and changes it, with submission.updated and unchanged counts', async () => {
  const scene = await openScene(database, questions, editing);
  await scene.listen();
  const { id, token } = await submitted(scene, { name: 'Ada' });
  const opened = await openEditLink(database, scene.formId, token);
  assert.deepEqual(
    [opened.submissionId, opened.raw, opened.reference, opened.form.type],
    [id, { name: 'Ada' }, { from: 'mail' }, 'form'],
  );
  assert.deepEqual(await edit(scene, token, { name: 'Grace' }, { seen: opened.seen }), { ok: true, id });
  assert.deepEqual((await scene.read(id)).answers, { name: 'Grace' });
  assert.deepEqual(
    (await scene.events()).map(({ kind }) => kind),
    ['submission.created', 'submission.updated'],
  );
  assert.deepEqual((await scene.counts()).shown, { completed: 1 });
});

test('a repeated change triggers one event, and a change based on outdated answers is rejected', async () => {
  const scene = await openScene(database, questions, editing);
  await scene.listen();
  const { id, token } = await submitted(scene, { name: 'Ada' });
  const { seen } = await openEditLink(database, scene.formId, token);
  await edit(scene, token, { name: 'Grace' });
  await edit(scene, token, { name: 'Grace' });
  assert.equal((await scene.events()).length, 2);
  await assert.rejects(edit(scene, token, { name: 'Eve' }, { seen }), { code: 'precondition_failed' });
  assert.deepEqual((await scene.read(id)).answers, { name: 'Grace' });
});

test('an edit can keep, add and remove files', async () => {
  const scene = await openScene(database, questions, editing);
  const [one, two] = [await scene.upload('photo', 'one.png'), await scene.upload('photo', 'two.png')];
  const { id, token } = await submitted(scene, { name: 'Ada' }, new Map([['photo', [one, two]]]));
  const three = await scene.upload('photo', 'three.png');
  await edit(scene, token, { name: 'Ada' }, { files: new Map([['photo', [two, three]]]) });
  assert.deepEqual((await scene.read(id)).answers['photo'], [two, three]);
  assert.deepEqual(await filesOf(scene), ['one.png let go', 'two.png kept', 'three.png kept']);
});

test('an edit cannot claim a file of another submission', async () => {
  const scene = await openScene(database, questions, editing);
  const foreign = await scene.upload('photo', 'foreign.png');
  const other = await submitted(scene, { name: 'Eve' }, new Map([['photo', [foreign]]]));
  const { id, token } = await submitted(scene, { name: 'Ada' });
  const files = new Map([['photo', [foreign]]]);
  await assert.rejects(edit(scene, token, { name: 'Ada' }, { files }), { code: 'conflict' });
  assert.deepEqual((await scene.read(id)).answers, { name: 'Ada' });
  assert.deepEqual((await scene.read(other.id)).answers['photo'], [foreign]);
});

test('an edit is validated against the answered version', async () => {
  const scene = await openScene(database, questions, editing);
  const { token } = await submitted(scene, { name: 'Ada' });
  await changeForm(database, scene.workspaceId, scene.formId, {
    structure: structure(element('number', 'age', { required: true })),
  });
  const refused = await edit(scene, token, { name: '' });
  assert.ok(!refused.ok && refused.errors[0]!.field === 'name');
  assert.ok((await edit(scene, token, { name: 'Grace' })).ok);
});

const broken: readonly [what: string, breakIt: (scene: Scene, id: string) => Promise<unknown>][] = [
  [
    'that expired',
    (_, id) =>
      database.query(
        "update submission_links set expires_at = now() - interval '1 second' where submission_id = $1",
        [id],
      ),
  ],
  [
    'while editing is switched off',
    (s) => changeSettings(database, s.workspaceId, s.formId, { editing: false }),
  ],
  [
    'of a submission in the trash',
    (s, id) => trashSubmissionsInTransaction(database, s, { ids: [id], by: toChangedBy(null) }),
  ],
  ['of a submission that is gone', (_, id) => database.query('delete from submissions where id = $1', [id])],
  [
    'of a form that is gone',
    (s) => database.query('update forms set deleted_at = now() where id = $1', [s.formId]),
  ],
];

for (const [what, breakIt] of broken) {
  test(`an edit link ${what} is invalid, and changes nothing`, async () => {
    const scene = await openScene(database, questions, editing);
    const { id, token } = await submitted(scene, { name: 'Ada' });
    await breakIt(scene, id);
    await assert.rejects(openEditLink(database, scene.formId, token), { code: 'not_found' });
    await assert.rejects(edit(scene, token, { name: 'Eve' }), { code: 'not_found' });
    const { rows } = await database.query('select from submissions where id = $1 and answers::text like $2', [
      id,
      '%Eve%',
    ]);
    assert.equal(rows.length, 0);
  });
}

test('an edit link is invalid for another form of the same workspace', async () => {
  const scene = await openScene(database, questions, editing);
  const { token } = await submitted(scene, { name: 'Ada' });
  const { formId } = await openScene(database, questions, editing, scene);
  await assert.rejects(openEditLink(database, formId, token), { code: 'not_found' });
  await assert.rejects(
    editByToken(scene.context, { formId, token, raw: { name: 'Eve' }, files: new Map() }),
    {
      code: 'not_found',
    },
  );
});

test('the ID of a submission, its token with another form, and a resume link are not valid edit links', async () => {
  const [scene, other] = [
    await openScene(database, questions, editing),
    await openScene(database, questions, editing),
  ];
  const { id, token } = await submitted(scene, { name: 'Ada' });
  await assert.rejects(openEditLink(database, other.formId, token), { code: 'not_found' });
  await assert.rejects(openEditLink(database, scene.formId, id), { code: 'not_found' });
  await database.query("update submission_links set purpose = 'resume' where submission_id = $1", [id]);
  await assert.rejects(openEditLink(database, scene.formId, token), { code: 'not_found' });
});

test('a form without editing creates no edit link', async () => {
  const scene = await openScene(database, questions);
  const result = await scene.send({ name: 'Ada' });
  assert.ok(result.ok && !('editToken' in result));
});
