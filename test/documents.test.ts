import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sentencesOf } from './sentences.ts';

const home = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(home, path), 'utf8');
const pages = globSync('{*.md,{bench,deploy,docs,examples,src,test,web}/**/*.md}', { cwd: home }).filter(
  (path) => path !== 'CHANGELOG.md',
);

test('every relative link between pages points to an existing file', () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#\s]+?)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:|^\//.test(target))
      .filter((target) => !existsSync(join(home, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

/** The folders that file names in a decision can be relative to. */
const bases = ['', 'src', 'src/ast', 'src/page', 'src/submissions', 'src/webhooks', 'web', 'web/builder'];

test('every file that a decision names exists', () => {
  const missing = globSync('docs/decisions/*.md', { cwd: home }).flatMap((page) =>
    [...read(page).matchAll(/`([\w-]+\/[\w./-]+\.(?:tsx?|mjs|md))`/g)]
      .map(([, path]) => path!)
      .filter((path) => !bases.some((base) => existsSync(join(home, base, path))))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('every file and folder that the README of a room names exists', () => {
  const missing = globSync('{src,web}/**/README.md', { cwd: home }).flatMap((page) =>
    [...read(page).matchAll(/`([\w./-]+(?:\.tsx?|\/))`/g)]
      .map(([, path]) => path!)
      .filter((path) => !path.startsWith('/'))
      .filter((path) => ![dirname(page), '', 'src', 'web'].some((base) => existsSync(join(home, base, path))))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('every source file that a comment names exists', () => {
  const sources = globSync('{*,{src,web,test,clients,deploy}/**/*}.{ts,tsx}', {
    cwd: home,
    exclude: ['**/node_modules'],
  });
  const missing = sentencesOf(['{src,web}/**/*.{ts,tsx}'])
    .filter(({ kind }) => kind === 'comment')
    .flatMap(({ file, text }) =>
      [...text.matchAll(/(?<![\w>*])[#\w.-][\w./-]*\.tsx?\b/g)]
        .map(([name]) => name.replace(/^#|^(?:\.\.?\/)+/g, ''))
        .filter((path) => !sources.some((source) => `/${source}`.endsWith(`/${path}`)))
        .map((path) => `${file}: ${path}`),
    );
  assert.deepEqual(missing, []);
});

test('the index of decisions lists each page once, with its title', () => {
  const index = read('docs/decisions/README.md');
  const files = readdirSync(join(home, 'docs', 'decisions')).filter((name) => /^\d{4}-/.test(name));
  const listed = [...index.matchAll(/^- \[(\d+)\. (.+)\]\((.+)\): /gm)].map(
    ([, number, title, file]) => `${file} # ${number!.padStart(4, '0')}. ${title}`,
  );
  const actual = files.map((file) => `${file} ${read(`docs/decisions/${file}`).split('\n')[0]}`);
  assert.deepEqual(listed.toSorted(), actual.toSorted());
});

test('each step of a walkthrough in ARCHITECTURE.md names a file that exports the name', () => {
  const steps = [...read('ARCHITECTURE.md').matchAll(/^\| \d+ \| `([^`]+)` \| `(\w+)` \|/gm)];
  assert.ok(steps.length > 40, `${steps.length} steps`);
  const missing = steps
    .map(([, path, name]) => ({ path: path!, name: name! }))
    .filter(({ path, name }) => {
      const exported = new RegExp(`^export (?:async )?(?:function\\*?|const|class) ${name}\\b`, 'm');
      return !existsSync(join(home, path)) || !exported.test(read(path));
    });
  assert.deepEqual(missing, []);
});

test('ARCHITECTURE.md contains the first terms of the glossary', () => {
  const words = read('docs/glossary.md').split('\n## ')[1]!;
  const rows = words.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Term'));
  assert.equal(rows.length, 20);
  const map = read('ARCHITECTURE.md');
  const absent = rows
    .map((row) => row.split(' | ').slice(0, 2).join(' | '))
    .filter((row) => !map.includes(`${row} |\n`));
  assert.deepEqual(absent, []);
});
