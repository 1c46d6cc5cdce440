import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutants.ts';

/** A change to one source. */
export type Change = { source: string; mutant: Mutant };

/** The source with the change made. */
export const changed = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end);

/**
 * Finds the changes that do not compile: `npm test` begins with the types, so they are missed. One change of each source
 * is looked at in one pass; it is the cause of an error that stands in the same statement of the file.
 */
export function findMistyped(tree: string, changes: readonly Change[]): Set<Change> {
  const mistyped = new Set<Change>();
  const bySource = Map.groupBy(changes, ({ source }) => source);
  const project = join(tree, 'tsconfig.mutations.json');
  // What a defence alone used would go with it.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  writeFileSync(
    project,
    JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: [], files: [...bySource.keys()] }),
  );
  const passes = Math.max(0, ...[...bySource.values()].map(({ length }) => length));
  for (let pass = 0; pass < passes; pass += 1) {
    const tried = [...bySource.values()].flatMap((list) => list[pass] ?? []);
    const texts = tried.map(({ source }) => readFileSync(join(tree, source), 'utf8'));
    tried.forEach(({ source, mutant }, index) => {
      writeFileSync(join(tree, source), changed(texts[index]!, mutant));
    });
    const compiler = join(tree, 'node_modules/typescript/bin/tsc');
    const parameters = ['--noEmit', '--checkers', '1', '--pretty', 'false', '-p', project];
    const { stdout } = spawnSync(process.execPath, [compiler, ...parameters], {
      cwd: tree,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    const errors = [...stdout.matchAll(/^(.+?)\((\d+),\d+\): error /gm)];
    tried.forEach((change, index) => {
      const { source, mutant } = change;
      writeFileSync(join(tree, source), texts[index]!);
      const [from, to] = mutant.statement.map((offset) => texts[index]!.slice(0, offset).split('\n').length);
      if (errors.some(([, path, line]) => path === source && Number(line) >= from! && Number(line) <= to!))
        mistyped.add(change);
    });
  }
  return mistyped;
}
