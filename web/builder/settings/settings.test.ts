import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '#ast/settings.ts';
import { element, structure } from '#test/ast/forms.ts';
import { parseEditableTree } from '../model/edit-node.ts';
import { mergeDocuments } from '../saving/autosave.ts';
import { compareSettings, findSettingProblems } from './settings-values.ts';

const rootOf = (sent: object) => {
  const read = parseEditableTree(sent);
  assert.ok(read.ok);
  return read.root;
};
const root = rootOf(structure(element('text', 'a')));
const problemsOf = (settings: object, hasPassword = false) =>
  findSettingProblems(root, settings as Settings, hasPassword).map(({ field, view, title }) => [
    field,
    view,
    title,
  ]);

test('a problem that blocks publishing settings links to its control in its view', () => {
  assert.deepEqual(problemsOf({ min_seconds: 2, subject_element: 'a' }), []);
  assert.deepEqual(
    problemsOf({ closes_at: 'soon', min_seconds: '12s', subject_element: 'gone', theme: { color: '#0b' } }),
    [
      ['closes_at', 'settings', 'Closes'],
      ['min_seconds', 'settings', 'Minimum seconds to complete'],
      ['subject_element', 'settings', 'Subject'],
      ['theme.color', 'theme', 'Color'],
    ],
  );
  assert.deepEqual(problemsOf({ access: 'password' }), [['password', 'settings', 'Password']]);
  assert.deepEqual(problemsOf({ access: 'password' }, true), []);
});

test('differences of settings use the labels of their controls', () => {
  const differences = compareSettings(
    { access: 'public', theme: { color: '#111111', corner: 'round' }, editing: true },
    {
      access: 'closed',
      theme: { corner: 'round', color: '#222222', logo: 'id' },
      editing: true,
      min_seconds: 3,
      embed_origins: ['https://a.test'],
    },
  );
  assert.deepEqual(
    differences.map(({ subject, details }) => [subject, ...details]),
    [
      ['Who can respond', '“Anyone with the link” → “No one”'],
      ['Theme: Color', '“#111111” → “#222222”'],
      ['Theme: Logo', '(empty) → “an image”'],
      ['Minimum seconds to complete', '(empty) → 3'],
      ['Allowed sites', '(empty) → ["https://a.test"]'],
    ],
  );
});

test("merging two editors' changes keeps the form and each setting that one changed, and conflicts if both changed one", () => {
  const document = (id: string, settings: Settings) => ({
    structure: structure(element('text', id)),
    settings,
  });
  const base = document('a', { editing: true, edit_days: 3, theme: { color: '#111111', corner: 'round' } });
  const reordered = { corner: 'round', color: '#111111' } as const;
  const mine = document('mine', { edit_days: 4, theme: reordered });
  const theirs = document('a', { editing: true, edit_days: 3, language: 'german' });
  assert.deepEqual(
    mergeDocuments(base, mine, theirs),
    document('mine', { edit_days: 4, language: 'german' }),
  );
  assert.equal(mergeDocuments(base, mine, document('theirs', base.settings)), undefined);
  assert.equal(mergeDocuments(base, mine, document('a', { ...base.settings, edit_days: 5 })), undefined);
  assert.deepEqual(mergeDocuments(base, mine, mine), mine);
});
