import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DeclaredStatement, declaredStatements } from '#kit/statement.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** Imports the files that declare statements and returns every statement of the service. */
export async function loadStatements(): Promise<DeclaredStatement[]> {
  for (const name of await readdir(src, { recursive: true })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const path = join(src, name);
    if (/\bstatement\(/.test(await readFile(path, 'utf8'))) await import(path);
  }
  // Tests may share the process. The text of their own statements begins with a comment.
  return declaredStatements().filter(({ text }) => !text.startsWith('/* test */'));
}
