import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Declared, declaredStatements } from '#kit/statement.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** Every statement of the service: loading the files declares them. */
export async function loadStatements(): Promise<Declared[]> {
  for (const name of await readdir(src, { recursive: true })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const path = join(src, name);
    if (/\bstatement\(/.test(await readFile(path, 'utf8'))) await import(path);
  }
  // A test of statements may share the process; its own are named so.
  return declaredStatements().filter(({ name }) => !name.startsWith('test.'));
}
