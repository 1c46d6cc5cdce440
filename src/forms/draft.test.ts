import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { readBuilderForm, saveWorkingCopy } from './draft.ts';
import { changeFormStatus, findForm } from './form-rows.ts';
import { changeForm, createForm } from './forms.ts';
import { copyAsNewForm, duplicateForm } from './new-forms.ts';
import { changeSettings } from './settings.ts';
import { findVersionDetails, publishWorkingCopy } from './versions.ts';

const { database } = await testDatabase();
const workspace = await createWorkspace(database, { name: 'Test', plan: 'free' });
const other = await createWorkspace(database, { name: 'Other', plan: 'free' });
const ada = (
  await createUser(database, { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' })
).id;
const bob = (
  await createUser(database, { name: 'Bob', email: 'bob@example.com', password: 'correct horse battery' })
).id;

const workspaceId = workspace.id;
const live = structure(element('text', 'subject'));
const edited = structure(element('text', 'subject'), element('email', 'email'));
const incomplete = {
  type: 'form',
  attrs: {},
  children: [{ type: 'step', attrs: {}, children: [{ type: 'text', attrs: {}, children: [] }] }],
};

const make = async (): Promise<string> => (await createForm(database, workspaceId, { structure: live })).id;
const read = (formId: string) => readBuilderForm(database, workspaceId, formId);
const save = (formId: string, revision: number, changed: object, userId = ada, baseVersion = 1) =>
  saveWorkingCopy(database, {
    workspaceId,
    formId,
    revisions: [revision],
    structure: changed,
    baseVersion,
    userId,
  });
const saveSettings = (formId: string, revision: number, settings: object, structureToo: object = live) =>
  saveWorkingCopy(database, {
    workspaceId,
    formId,
    revisions: [revision],
    structure: structureToo,
    settings,
    baseVersion: 1,
    userId: ada,
  });
const versionOf = async (formId: string, version: number) =>
  (await findVersionDetails(database, { workspace_id: workspaceId, form_id: formId, version }))[0]!;
const publish = (formId: string, revision: number, version: number) =>
  publishWorkingCopy(database, {
    workspaceId,
    formId,
    revisions: [revision],
    version,
    userId: ada,
    caller: { may: () => true },
  });
const liveStructure = async (formId: string) =>
  (await findForm(database, { workspace_id: workspaceId, id: formId }))[0]!.structure;

const refused =
  (code: ErrorCode, message = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };

test('a form without edits opens with its live version, and opening it writes nothing', async () => {
  const id = await make();
  const { draft } = await read(id);
  assert.deepEqual(draft, {
    revision: 0,
    structure: live,
    settings: {},
    base_version: 1,
    saved_at: null,
    saved_by: null,
  });
  const { rows } = await database.query('select from form_drafts where form_id = $1', [id]);
  assert.equal(rows.length, 0);
});

test('a save changes the working copy and never the live version', async () => {
  const id = await make();
  assert.equal((await save(id, 0, edited)).revision, 1);
  const { draft } = await read(id);
  assert.deepEqual([draft.structure, draft.revision, draft.saved_by], [edited, 1, 'Ada']);
  assert.deepEqual(await liveStructure(id), live);
});

test('a working copy may be incomplete; publishing it is rejected with the path of every problem', async () => {
  const id = await make();
  await save(id, 0, incomplete);
  await assert.rejects(publish(id, 1, 1), (error) => {
    refused('validation_error')(error);
    assert.deepEqual(
      (error as ApiError).errors!.map(({ path }) => path),
      [[], [0, 0], [0, 0]],
    );
    return true;
  });
  assert.deepEqual(await liveStructure(id), live);
});

test('two editors: the second save on one revision is rejected with the name and time of the first, and loses nothing', async () => {
  const id = await make();
  await save(id, 0, edited);
  const mine = structure(element('text', 'mine'));
  const theirs = structure(element('text', 'theirs'));
  await save(id, 1, theirs, bob);
  await assert.rejects(
    save(id, 1, mine),
    refused('precondition_failed', /^Bob saved this form at 20\d\d-.+Z/),
  );
  await assert.rejects(save(id, 0, mine), refused('precondition_failed'));
  assert.deepEqual((await read(id)).draft.structure, theirs);
});

test('of two parallel first saves, one succeeds and the other is rejected', async () => {
  const id = await make();
  const saves = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((name) => save(id, 0, structure(element('text', name)))),
  );
  assert.equal(saves.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a save that is repeated because its response was lost succeeds once', async () => {
  const id = await make();
  const first = await save(id, 0, edited);
  assert.deepEqual(await save(id, 0, edited), first);
  assert.equal((await read(id)).draft.revision, 1);
});

test('a save without a revision overwrites the working copy, and keeps its base version', async () => {
  const id = await make();
  await saveWorkingCopy(database, {
    workspaceId,
    formId: id,
    revisions: null,
    structure: edited,
    userId: null,
  });
  await changeForm(database, workspaceId, id, { structure: structure(element('text', 'api')) });
  const theirs = structure(element('text', 'theirs'));
  await saveWorkingCopy(database, {
    workspaceId,
    formId: id,
    revisions: null,
    structure: theirs,
    userId: bob,
  });
  const { draft } = await read(id);
  assert.deepEqual(
    [draft.structure, draft.revision, draft.base_version, draft.saved_by],
    [theirs, 2, 1, 'Bob'],
  );
});

test('publishing makes the working copy live as a new version by its author, and publishes the form', async () => {
  const id = await make();
  await save(id, 0, edited);
  await publish(id, 1, 1);
  const { form, draft } = await read(id);
  assert.deepEqual(
    [form.status, form.version, form.structure, form.version_created_by],
    ['published', 2, edited, 'Ada'],
  );
  assert.ok(form.published_at);
  assert.deepEqual([draft.revision, draft.base_version], [1, 2]);
  const [first] = await findVersionDetails(database, { workspace_id: workspaceId, form_id: id, version: 1 });
  assert.deepEqual([first!.structure, first!.is_live, first!.created_by], [live, false, null]);
});

test('publishing without a change publishes the live version unchanged', async () => {
  const id = await make();
  await publish(id, 0, 1);
  const { form } = await read(id);
  assert.deepEqual([form.status, form.version], ['published', 1]);
});

test('publishing an old revision, on an old live version, or an archived form is rejected', async () => {
  const id = await make();
  await save(id, 0, edited);
  await assert.rejects(publish(id, 0, 1), refused('precondition_failed', /^Ada saved/));
  await changeForm(database, workspaceId, id, { structure: structure(element('text', 'api')) });
  await assert.rejects(
    publish(id, 1, 1),
    refused('precondition_failed', /live form has changed since you compared it/),
  );
  await changeFormStatus(database, workspaceId, id, 'archive');
  await assert.rejects(publish(id, 1, 2), refused('conflict', /Restore it/));
});

test('a change over the API beside a working copy keeps both, and appears as another live version', async () => {
  const id = await make();
  await save(id, 0, edited);
  const fromApi = structure(element('text', 'api'));
  await changeForm(database, workspaceId, id, { structure: fromApi });
  const { form, draft } = await read(id);
  assert.deepEqual(
    [form.structure, form.version, draft.structure, draft.base_version],
    [fromApi, 2, edited, 1],
  );
});

test('a working copy without changes follows the live version', async () => {
  const id = await make();
  await save(id, 0, edited);
  await publish(id, 1, 1);
  const fromApi = structure(element('text', 'api'));
  await changeForm(database, workspaceId, id, { structure: fromApi });
  const { draft } = await read(id);
  assert.deepEqual([draft.structure, draft.base_version, draft.revision], [fromApi, 3, 1]);
});

test('the next save after publishing is based on the published version', async () => {
  const id = await make();
  await save(id, 0, edited);
  await publish(id, 1, 1);
  await save(id, 1, structure(element('text', 'next')), bob, 1);
  assert.equal((await read(id)).draft.base_version, 2);
});

test('a form is unpublished, archived and restored only from the right status; repeating it has no effect', async () => {
  const id = await make();
  await publish(id, 0, 1);
  await assert.rejects(changeFormStatus(database, workspaceId, id, 'restore'), refused('conflict'));
  for (const [change, status] of [
    ['unpublish', 'draft'],
    ['unpublish', 'draft'],
    ['archive', 'archived'],
    ['archive', 'archived'],
    ['restore', 'draft'],
  ] as const) {
    await changeFormStatus(database, workspaceId, id, change);
    assert.equal((await read(id)).form.status, status);
  }
  await changeFormStatus(database, workspaceId, id, 'archive');
  await assert.rejects(changeFormStatus(database, workspaceId, id, 'unpublish'), refused('conflict'));
  assert.equal((await read(id)).form.version, 1);
});

test('settings: two people who change different ones lose nothing, null removes one, and invalid ones are named', async () => {
  const id = await make();
  await Promise.all([
    changeSettings(database, workspaceId, id, { confirmation_message: 'Thank you' }),
    changeSettings(database, workspaceId, id, { subject_element: 'subject', language: 'german' }),
  ]);
  assert.deepEqual((await read(id)).form.settings, {
    confirmation_message: 'Thank you',
    subject_element: 'subject',
    language: 'german',
  });
  await changeSettings(database, workspaceId, id, { language: null });
  assert.equal((await read(id)).form.settings.language, undefined);
  await assert.rejects(
    changeSettings(database, workspaceId, id, { colour: 'red' }),
    refused('validation_error'),
  );
  await assert.rejects(
    changeSettings(database, workspaceId, id, { subject_element: 'absent' }),
    refused('validation_error'),
  );
});

test('settings belong to the working copy, complete or not, and only become live when it is published', async () => {
  const id = await make();
  const theme = { corner: 'round', color: '#0b6655' };
  await saveSettings(id, 0, { theme, closes_at: 'tomor', password: 'never kept' });
  const { form, draft } = await read(id);
  assert.deepEqual([form.settings, draft.settings], [{}, { theme, closes_at: 'tomor' }]);
  await assert.rejects(publish(id, 1, 1), refused('validation_error', /settings/));
  await saveSettings(id, 1, { theme });
  await publish(id, 2, 1);
  const published = await read(id);
  assert.deepEqual([published.form.version, published.form.settings], [2, { theme }]);
  assert.equal(published.form.has_password, false);
});

test('a save without settings keeps them, and a repeated save with settings succeeds once', async () => {
  const id = await make();
  const first = await saveSettings(id, 0, { editing: true });
  assert.deepEqual(await saveSettings(id, 0, { editing: true }), first);
  await assert.rejects(saveSettings(id, 0, { editing: false }), refused('precondition_failed'));
  await save(id, 1, edited);
  assert.deepEqual((await read(id)).draft.settings, { editing: true });
});

test('every version has its settings: from a publication, from the API with or without settings, and from single changes', async () => {
  const id = await make();
  await saveSettings(id, 0, { editing: true });
  await publish(id, 1, 1);
  await changeForm(database, workspaceId, id, { structure: edited, settings: { language: 'german' } });
  await changeForm(database, workspaceId, id, { structure: live });
  await changeSettings(database, workspaceId, id, { editing: true }, bob);
  await changeSettings(database, workspaceId, id, { password: 'secret' });
  const versions = await Promise.all([1, 2, 3, 4, 5].map((version) => versionOf(id, version)));
  assert.deepEqual(
    versions.map(({ settings, created_by }) => [settings, created_by]),
    [
      [{}, null],
      [{ editing: true }, 'Ada'],
      [{ language: 'german' }, null],
      [{ language: 'german' }, null],
      [{ editing: true, language: 'german' }, 'Bob'],
    ],
  );
  const { form } = await read(id);
  assert.deepEqual([form.version, form.has_password], [5, true], 'a password is part of no version');
});

test('a setting that is changed immediately reaches the working copy too, unless the copy has changed it', async () => {
  const id = await make();
  await saveSettings(id, 0, { language: 'german', edit_days: 3 }, edited);
  await changeSettings(database, workspaceId, id, { language: 'french', embed_origins: ['https://a.test'] });
  const { form, draft } = await read(id);
  assert.deepEqual(form.settings, { language: 'french', embed_origins: ['https://a.test'] });
  assert.deepEqual(draft.settings, { language: 'german', edit_days: 3, embed_origins: ['https://a.test'] });
  assert.deepEqual([draft.structure, draft.base_version, draft.revision], [edited, 2, 2]);
  await assert.rejects(save(id, 1, live), refused('precondition_failed'), 'an open editor is told');
});

test('a working copy that differs only in settings stays separate from a change over the API', async () => {
  const id = await make();
  await saveSettings(id, 0, { editing: true });
  await changeForm(database, workspaceId, id, { structure: edited });
  const { draft } = await read(id);
  assert.deepEqual([draft.structure, draft.settings, draft.base_version], [live, { editing: true }, 1]);
});

test('a setting that names a removed element does not block other settings or duplicating the form', async () => {
  const settings = { receipt_email_element: 'email', subject_element: 'subject', editing: true };
  const { id } = await createForm(database, workspaceId, { structure: edited, settings });
  await changeForm(database, workspaceId, id, { structure: structure(element('text', 'other')) });
  const copy = await duplicateForm(database, { workspaceId, formId: id, userId: ada });
  assert.deepEqual((await read(copy.id)).form.settings, { editing: true });
  assert.deepEqual(await changeSettings(database, workspaceId, id, { edit_days: 3 }), {
    editing: true,
    edit_days: 3,
  });
  await assert.rejects(
    changeSettings(database, workspaceId, id, { subject_element: 'subject' }),
    refused('validation_error'),
  );
});

test('a copy or duplicate that fails midway leaves no form', async () => {
  const id = await make();
  await save(id, 0, edited);
  const count = async () => (await database.query('select count(*) from forms')).rows[0].count as string;
  const before = await count();
  const unknown = { workspaceId, formId: id, userId: 'unknown' };
  await assert.rejects(copyAsNewForm(database, { ...unknown, structure: incomplete }));
  await assert.rejects(duplicateForm(database, unknown));
  assert.equal(await count(), before);
});

test('a copy becomes a new form with the working copy, complete or not', async () => {
  const id = await make();
  const settings = { editing: true };
  const copy = await copyAsNewForm(database, {
    workspaceId,
    formId: id,
    structure: incomplete,
    settings,
    userId: ada,
  });
  const { form, draft } = await read(copy.id);
  assert.deepEqual([form.status, form.structure, draft.structure], ['draft', live, incomplete]);
  assert.deepEqual(draft.settings, settings);
});

test('a form of another workspace is never found', async () => {
  const id = await make();
  const stranger = { workspaceId: other.id, formId: id, structure: edited, userId: ada };
  await assert.rejects(readBuilderForm(database, other.id, id), refused('not_found'));
  await assert.rejects(
    saveWorkingCopy(database, { ...stranger, revisions: [0], baseVersion: 1 }),
    refused('not_found'),
  );
  await assert.rejects(
    publishWorkingCopy(database, { ...stranger, revisions: [0], version: 1, caller: { may: () => true } }),
    refused('not_found'),
  );
  await assert.rejects(copyAsNewForm(database, stranger), refused('not_found'));
  await assert.rejects(changeFormStatus(database, other.id, id, 'archive'), refused('not_found'));
  await assert.rejects(changeSettings(database, other.id, id, {}), refused('not_found'));
  assert.deepEqual((await read(id)).draft.revision, 0);
});
