import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { suites } from './long.ts';

const home = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${home}package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};

test('package.json has at most 16 scripts', () => {
  assert.ok(Object.keys(scripts).length <= 16, Object.keys(scripts).join(', '));
});

test('every script of package.json and every file of a long suite exists', () => {
  const cells = readFileSync(`${home}test/cells.ts`, 'utf8');
  const named = [
    ...[...cells.matchAll(/'((?:src|test)\/[^']+)'/g)].map(([, pattern]) => pattern!),
    ...Object.values(scripts).flatMap((line) => line.split(' ').filter((word) => /\.(ts|mjs)$/.test(word))),
    ...Object.values(suites).flatMap(({ script, files = [] }) => [...files, ...(script ? [script] : [])]),
  ];
  assert.deepEqual(
    named.filter((pattern) => globSync(pattern, { cwd: home }).length === 0),
    [],
  );
});

test('a long suite runs a script or test files', () => {
  const idle = Object.entries(suites).filter(([, { script, files }]) => script === undefined && !files);
  assert.deepEqual(idle, []);
});

test('every test that npm test leaves out or shortens is in a long suite that runs it fully', () => {
  const full = Object.values(suites).filter(({ environment }) => environment?.['TEST_CASES'] === 'full');
  const run = new Set(
    full.flatMap(({ files = [] }) => files.flatMap((pattern) => globSync(pattern, { cwd: home }))),
  );
  const short = globSync('{src,test}/**/*.test.ts', { cwd: home }).filter((path) =>
    /import \{[^}]*\} from '[^']*\/cases\.ts'/.test(readFileSync(home + path, 'utf8')),
  );
  assert.ok(short.length > 50);
  assert.deepEqual(
    short.filter((path) => !run.has(path)),
    [],
  );
});

/**
 * Text files of the project. The lock file and the changelog name scripts of other projects and old versions.
 */
const texts = '{*.md,.ci/*,{bench,clients,deploy,docs,src,test,web}/**/*.{md,ts,tsx,mjs,yml,service}}';
const outside = /^CHANGELOG\.md$|node_modules|\/dist\//;

test('every npm script and long suite named in a text exists', () => {
  const unknown = globSync(texts, { cwd: home })
    .filter((path) => !outside.test(path))
    .flatMap((path) => {
      const text = readFileSync(home + path, 'utf8');
      const asked = [...text.matchAll(/npm\s+run(?:\s+-s|\s+--silent)?\s+([a-z]+(?::[a-z]+)?)/g)]
        .map(([, name]) => name!)
        .filter((name) => !(name in scripts));
      const longs = [...text.matchAll(/test:long -- ([a-z]+)/g)]
        .map(([, name]) => name!)
        .filter((name) => !(name in suites));
      const shorts = [...text.matchAll(/`(?:npm run )?(test:[a-z]+)/g)]
        .map(([, name]) => name!)
        .filter((name) => !(name in scripts));
      return [...asked, ...longs, ...shorts].map((name) => `${path}: ${name}`);
    });
  assert.deepEqual(unknown, []);
});
