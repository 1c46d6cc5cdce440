import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formLimits } from '#ast/basics/limits.ts';
import { readConfig } from '#kit/config.ts';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { dataPermissions, type Permission, permissionNames, permissions } from '#rules/permissions.ts';
import { plans } from '#workspaces/authenticate.ts';
import { findUnmarked, runGuides } from './page-commands.ts';

/* Compares the tables of docs/guides with the code. test/flows/tour.test.ts runs the commands. */

const folder = new URL('../docs/guides/', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(`${name}.md`, folder), 'utf8');

/** Returns the cells of all table rows of a page except headings, without backticks. */
const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/^\| (.+) \|$/gm)]
    .map(([, row]) => row!.split(' | ').map((cell) => cell.replaceAll('`', '')))
    .filter(([first]) => !['Code', 'Plan', 'What', 'Permission'].includes(first!));

test('the errors guide lists every code with its status, meaning and remedy', async () => {
  const rows = rowsOf(await read('errors'));
  const codes = Object.keys(errorCodes) as ErrorCode[];
  assert.deepEqual(
    rows.map(([code, status]) => [code, Number(status)]).sort(),
    codes.map((code) => [code, errorCodes[code].status]).sort(),
  );
  for (const [code, , why, remedy] of rows) assert.ok(why && remedy, code);
});

test('the permissions guide describes each permission and says which ones a key has by default', async () => {
  assert.deepEqual(
    rowsOf(await read('permissions')),
    permissionNames.map((name: Permission) => [
      name,
      permissions[name].description,
      dataPermissions.includes(name) ? 'yes' : 'no',
    ]),
  );
});

test('the limits guide lists the plans and caps of the code', async () => {
  const rows = new Map(rowsOf(await read('limits')).map(([first, ...rest]) => [first, rest]));
  for (const [plan, { perMinute, burst }] of Object.entries(plans))
    assert.deepEqual(rows.get(plan), [String(perMinute), String(burst)], plan);
  const megabytes = (bytes: number): string => `${bytes / 1_024 / 1_024} MB`;
  const caps: readonly [string, string][] = [
    ['steps of a form', String(formLimits.steps)],
    ['elements of a form', String(formLimits.elements)],
    ['options of a question', String(formLimits.options)],
    ['one answer', `${formLimits.answerBytes / 1_024} KB`],
    [
      'a file',
      `${megabytes(readConfig({}).limits.fileBytes)}, or the limit of the operator, up to ${megabytes(formLimits.fileBytes)}`,
    ],
    ['files of one upload', String(formLimits.files)],
  ];
  for (const [what, most] of caps) assert.deepEqual(rows.get(what), [most], what);
});

test('links between guides point to existing guides', async () => {
  const names = await readdir(folder);
  for (const name of names)
    for (const [, target] of (await readFile(new URL(name, folder), 'utf8')).matchAll(/\]\(([^)#]+)\)/g))
      assert.ok(names.includes(target!), `${name}: ${target}`);
});

/** The marks of commands, by page, that a test runs. */
const marked: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['tour', 'run', 'listen'],
  'docs/operating/README.md': ['run', 'people'],
  'docs/operating/cells.md': ['run'],
  'docs/operating/domains.md': ['run'],
  ...Object.fromEntries(
    [...runGuides.map((name) => `guides/${name}`), 'backups', 'mcp', 'secrets'].map((name) => [
      `docs/${name}.md`,
      ['run'],
    ]),
  ),
};

test('every command of the README and docs is run by a test or says why not', async () => {
  const home = fileURLToPath(new URL('..', import.meta.url));
  const pages = globSync(['*.md', 'docs/*.md', 'docs/{guides,operating}/*.md', 'clients/typescript/*.md'], {
    cwd: home,
  });
  assert.ok(pages.length > 20);
  const unmarked = await Promise.all(pages.map((page) => findUnmarked(page, marked[page] ?? [])));
  assert.deepEqual(unmarked.flat(), []);
});
