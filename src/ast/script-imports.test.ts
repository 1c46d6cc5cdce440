import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const room = import.meta.dirname;

/** Every file that a bundle of the given ones holds: what they import, types aside. */
async function bundleOf(paths: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const open = paths.map((path) => join(room, path));
  for (let path = open.pop(); path; path = open.pop()) {
    if (found.has(path)) continue;
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

test('the page’s script bundles the checks without titles, schemas, validation and sentences', async () => {
  const bundle = await bundleOf(['logic/evaluate.ts', 'check-step.ts', 'rules/moments.ts', 'fields.ts']);
  assert.ok(bundle.has('rules/pattern.ts') && bundle.has('tree.ts'));
  const large = [
    'elements.ts',
    'attributes.ts',
    'validate.ts',
    'schema.ts',
    'rules/sentences.ts',
    'rules/pattern-problem.ts',
  ];
  assert.deepEqual(
    large.filter((path) => bundle.has(path)),
    [],
  );
});
