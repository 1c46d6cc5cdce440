import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BuilderDocument, openUnsavedEdits } from './autosave.ts';

const place = { userId: 'ada', formId: 'form' };
const form = (name: string): BuilderDocument => ({
  structure: { type: 'form', attrs: { name }, children: [] },
  settings: {},
});
const save = (name: string) => ({ ...form(name), etag: '"3"', base_version: 1 });
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const none: ReadonlySet<string> = new Set();

/** Opens windows that share the storage of one browser. */
function openBrowser(before: Readonly<Record<string, string>> = {}) {
  const storage = Object.assign(Object.create(methods), before) as typeof methods & Record<string, string>;
  return (window: string) => openUnsavedEdits(place, storage, window);
}
const methods = {
  getItem(this: Record<string, string>, name: string): string | null {
    return this[name] ?? null;
  },
  setItem(this: Record<string, string>, name: string, value: string): void {
    this[name] = value;
  },
  removeItem(this: Record<string, string>, name: string): void {
    delete this[name];
  },
};

test("changes that a window keeps after a conflict survive another window's saves", () => {
  const window = openBrowser();
  window('first').keep(save('mine'), at(1));
  window('second').keep(save('other'), at(2));
  window('second').keep(undefined, at(3));
  assert.deepEqual(window('third').take(form('saved'), none)?.structure, form('mine').structure);
});

test("an open window's kept changes are its own, and a closed window's go to the next", () => {
  const window = openBrowser();
  window('first').keep(save('mine'), at(1));
  assert.equal(window('second').take(form('saved'), new Set(['first', 'second'])), undefined);
  assert.deepEqual(window('second').take(form('saved'), new Set(['second']))?.kept_at, at(1).toISOString());
  window('second').keep(undefined, at(2));
  assert.equal(window('third').take(form('saved'), none), undefined);
});

test('the newest of several kept changes is restored first, and changes already on the server are dropped', () => {
  const window = openBrowser();
  window('first').keep(save('older'), at(1));
  window('second').keep(save('saved'), at(2));
  assert.deepEqual(window('third').take(form('saved'), none)?.structure, form('older').structure);
});

test('changes kept by an older version without window names are found, and broken entries are ignored', () => {
  const entry = JSON.stringify({ ...save('mine'), kept_at: at(1).toISOString() });
  const window = openBrowser({
    'formloom.unsaved.ada.form': entry,
    'formloom.unsaved.ada.form.cut': '{"etag"',
  });
  assert.deepEqual(window('first').take(form('saved'), none)?.structure, form('mine').structure);
});
