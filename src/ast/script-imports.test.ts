import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { lazyRules } from './form/lazy-rules.ts';

const room = import.meta.dirname;

/**
 * Returns every file in a bundle of `paths`, by their imports, except types and rules that are loaded on
 * demand (`lazy-*.ts`).
 */
async function bundleOf(paths: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const open = paths.map((path) => join(room, path));
  for (let path = open.pop(); path; path = open.pop()) {
    if (found.has(path) || /\/lazy-[\w-]+\.ts$/.test(path)) continue;
    found.add(path);
    const text = await readFile(path, 'utf8');
    for (const [, what = '', from = ''] of text.matchAll(
      /(?:import|export)\s+([^'";]*?)\s+from\s+'([^']+)'/g,
    )) {
      if (!what.startsWith('type ')) open.push(join(dirname(path), from));
    }
  }
  return new Set([...found].map((path) => relative(room, path)));
}

test("the page's script bundles the checks, but no titles, schemas, validation or messages", async () => {
  const bundle = await bundleOf([
    'logic/evaluate.ts',
    'answers/check-step.ts',
    'rules/moments.ts',
    'form/fields.ts',
  ]);
  assert.ok(bundle.has('rules/check-rules.ts') && bundle.has('form/tree.ts'));
  const large = [
    'form/elements.ts',
    'attributes/attributes.ts',
    'validate.ts',
    'schema.ts',
    'rules/sentences.ts',
    'rules/pattern.ts',
    'rules/pattern-problem.ts',
  ];
  assert.deepEqual(
    large.filter((path) => bundle.has(path)),
    [],
  );
});

test("the page's script loads exactly the rules of late types on demand, by type name", async () => {
  const folder = join('types', 'lazy-rules');
  const files = await readdir(join(room, folder));
  const found = await Promise.all(
    files.map(
      async (path) => [basename(path, '.ts'), (await import(join(room, folder, path))).rules] as const,
    ),
  );
  assert.deepEqual(Object.fromEntries(found), lazyRules);
  const bundle = await bundleOf([
    'logic/evaluate.ts',
    'answers/check-step.ts',
    'rules/moments.ts',
    'form/fields.ts',
  ]);
  assert.deepEqual(
    files.filter((path) => bundle.has(join(folder, path))),
    [],
  );
});
