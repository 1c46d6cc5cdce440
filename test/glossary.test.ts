import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(home, path), 'utf8');
const [terms, oldWords] = read('docs/glossary.md').split('\n## Old words\n') as [string, string];

/** Returns the cells of each table row in a text, without headings. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (Term|Old) \|/.test(line))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));

test('the glossary lists each term once, with a meaning and an existing folder', () => {
  const rows = rowsOf(terms);
  const names = rows.map(([term]) => term!.toLowerCase());
  assert.ok(names.length >= 60, `${names.length} terms`);
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
  const faulty = rows.filter(
    ([, meaning, where]) => !meaning!.endsWith('.') || !existsSync(join(home, where!.replaceAll('`', ''))),
  );
  assert.deepEqual(faulty, []);
});

const anyExport = /^export (?:async )?(?:function\*?|const|let|type|interface|class) +(\w+)/gm;

const exportedNames = [
  ...new Set(
    globSync('{src,web}/**/*.{ts,tsx}', { cwd: home })
      .filter((path) => !/\.test\.tsx?$/.test(path))
      .flatMap((path) => [...read(path).matchAll(anyExport)].map(([, name]) => name!)),
  ),
];

const wordsOf = (name: string): string[] =>
  (name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());

/** Whether a name uses an old word in the notation of the table. */
function usesOldWord(name: string, old: string): boolean {
  if (old.endsWith('()')) return name === old.slice(0, -2);
  const [first, ...others] = wordsOf(name);
  if (old.endsWith('…')) return first === old.slice(0, -1) && others.length > 0 && /^[a-z]/.test(name);
  return [first, ...others].some((word) => word === old || word === `${old}s`);
}

test('no exported name uses an old word', () => {
  const rows = rowsOf(oldWords);
  assert.ok(rows.length >= 35);
  const found = rows.flatMap(([cell, instead]) => {
    const names = exportedNames.filter((name) => usesOldWord(name, cell!.replaceAll('`', '')));
    return names.map((name) => `${name}: use ${instead} instead of ${cell}`);
  });
  assert.deepEqual(found, []);
});
