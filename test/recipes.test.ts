import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isSlice } from './cases.ts';

/*
 * Applies docs/recipes.md to a copy of the tree. npm test applies all recipes together and runs their tests.
 * npm run test:long -- recipes also compiles them, together and each alone. The copy is in .local, which uses
 * the clone's node_modules, always at one path. The compiler caches its results (node_modules/.cache) and
 * checks only what changed.
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const copy = join(home, '.local', 'recipes');
const copied = [
  'bench',
  'clients',
  'db',
  'docs',
  'examples',
  'src',
  'test',
  'web',
  'package.json',
  'tsconfig.json',
];
/** Files that other tests and `npm run client` create and delete meanwhile. */
const unstable = /[/\\](node_modules|dist|LICENSE|typescript[/\\]src[/\\]api\.ts)$/;
/** The compiler takes 45 s of CPU without a cache. */
const timeout = 900_000;

type Recipe = { name: string; diff: string };

const recipes: readonly Recipe[] = [
  ...readFileSync(join(home, 'docs', 'recipes.md'), 'utf8').matchAll(
    /^## (.+?)\n[^]*?^```diff\n([^]*?)^```$/gm,
  ),
].map(([, name, diff]) => ({ name: name!, diff: diff! }));

const inCopy = (path: string): string => join(copy, path);

function makeCopy(): void {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of copied) {
    const filter = (path: string): boolean => !unstable.test(path);
    cpSync(join(home, name), inCopy(name), { recursive: true, filter });
  }
}

const without = (lines: readonly string[], sign: '+' | '-'): string =>
  lines.map((line) => (line.startsWith(sign) ? '' : `${line.slice(1)}\n`)).join('');

/**
 * Applies a unified diff. The text that a hunk replaces must be unique in its file. Line numbers are ignored.
 */
function apply({ name, diff }: Recipe): void {
  for (const part of diff.split(/^--- /m).slice(1)) {
    const [from, to, ...lines] = part.trimEnd().split('\n');
    const path = to!.replace('+++ b/', '');
    const isNew = from === '/dev/null';
    if (isNew) assert.ok(!existsSync(inCopy(path)), `${name}: ${path} exists already`);
    let content = isNew ? '' : readFileSync(inCopy(path), 'utf8');
    for (const hunk of lines
      .join('\n')
      .split(/^@@ .*\n/m)
      .slice(1)) {
      const changed = hunk.trimEnd().split('\n');
      const before = without(changed, '+');
      if (isNew) content = without(changed, '-');
      else {
        assert.equal(content.split(before).length, 2, `${name}: ${path} does not have once:\n${before}`);
        content = content.replace(before, () => without(changed, '-'));
      }
    }
    mkdirSync(dirname(inCopy(path)), { recursive: true });
    writeFileSync(inCopy(path), content);
  }
}

const testsOf = ({ diff }: Recipe): string[] =>
  [...diff.matchAll(/^--- \/dev\/null\n\+\+\+ b\/(.*\.test\.ts)$/gm)].map(([, path]) => path!);

async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, words, {
    cwd: copy,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  const output = (await Promise.all([readAll(child.stdout), readAll(child.stderr)])).join('');
  assert.equal(await code, 0, output);
}

/** Compiles as test/run.ts does: in one thread, with its memory settings. */
const compile = (project: '.' | 'web', name: string): Promise<void> =>
  run(
    [
      join(home, 'node_modules', 'typescript', 'bin', 'tsc'),
      '--noEmit',
      '--singleThreaded',
      '--incremental',
      '--project',
      project,
      '--tsBuildInfoFile',
      join(home, 'node_modules', '.cache', `recipes-${name}.tsbuildinfo`),
    ],
    { GOMAXPROCS: '1', GOGC: '400', ...process.env },
  );

/**
 * Runs the tests in one process, so that they share a service. A recipe may add a migration, so no database
 * template is used.
 */
function runTests(files: readonly string[]): Promise<void> {
  const { TEST_DATABASE_TEMPLATE: _, NODE_TEST_CONTEXT: __, ...environment } = process.env;
  const flags = ['--disable-warning=ExperimentalWarning', '--preserve-symlinks'];
  return run([...flags, '--test', '--test-isolation=none', ...files], environment);
}

async function check(chosen: readonly Recipe[]): Promise<void> {
  makeCopy();
  for (const recipe of chosen) apply(recipe);
  if (!isSlice) {
    await compile('.', 'server');
    await compile('web', 'web');
  }
  await runTests(chosen.flatMap(testsOf));
}

after(() => rmSync(copy, { recursive: true, force: true }));

test('docs/recipes.md has four recipes, each with a test', () => {
  assert.equal(recipes.length, 4);
  for (const recipe of recipes) assert.equal(testsOf(recipe).length, 1, recipe.name);
});

test(`all recipes together ${isSlice ? 'apply' : 'compile'}, and their tests pass`, { timeout }, () =>
  check(recipes),
);

for (const recipe of recipes)
  test(`${recipe.name}: the recipe alone compiles, and its test passes`, { skip: isSlice, timeout }, () =>
    check([recipe]),
  );
