import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { limits } from '#ast/limits.ts';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { dataPermissions, type Permission, permissionNames, permissions } from '#workspaces/permissions.ts';
import { plans } from '#workspaces/plans.ts';

/* docs/guides say what is: their tables are held against ours, and test/flows/tour.test.ts runs their commands. */

const folder = new URL('../docs/guides/', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(`${name}.md`, folder), 'utf8');

/** The cells of all rows of a page's tables but their heads, without the marks of code. */
const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/^\| (.+) \|$/gm)]
    .map(([, row]) => row!.split(' | ').map((cell) => cell.replaceAll('`', '')))
    .filter(([first]) => !['Code', 'Plan', 'What', 'Permission'].includes(first!));

test('the guide to errors has every code of the table with its status, what it means and what to do', async () => {
  const rows = rowsOf(await read('errors'));
  const codes = Object.keys(errorCodes) as ErrorCode[];
  assert.deepEqual(
    rows.map(([code, status]) => [code, Number(status)]).sort(),
    codes.map((code) => [code, errorCodes[code].status]).sort(),
  );
  for (const [code, , why, remedy] of rows) assert.ok(why && remedy, code);
});

test('the guide to permissions has each with its sentence, and says which a key has without a list', async () => {
  assert.deepEqual(
    rowsOf(await read('permissions')),
    permissionNames.map((name: Permission) => [
      name,
      permissions[name],
      dataPermissions.includes(name) ? 'yes' : 'no',
    ]),
  );
});

test('the guide to limits has the plans and the caps as they are', async () => {
  const rows = new Map(rowsOf(await read('limits')).map(([first, ...rest]) => [first, rest]));
  for (const [plan, { perMinute, burst }] of Object.entries(plans))
    assert.deepEqual(rows.get(plan), [String(perMinute), String(burst)], plan);
  const caps: readonly [string, string][] = [
    ['steps of a form', String(limits.steps)],
    ['elements of a form', String(limits.elements)],
    ['options of a question', String(limits.options)],
    ['one answer', `${limits.answerBytes / 1_024} KB`],
    ['a file', `${limits.fileBytes / 1_024 / 1_024} MB`],
    ['files of one upload', String(limits.files)],
  ];
  for (const [what, most] of caps) assert.deepEqual(rows.get(what), [most], what);
});

test('links between guides lead to guides', async () => {
  const names = await readdir(folder);
  for (const name of names)
    for (const [, target] of (await readFile(new URL(name, folder), 'utf8')).matchAll(/\]\(([^)#]+)\)/g))
      assert.ok(names.includes(target!), `${name}: ${target}`);
});
