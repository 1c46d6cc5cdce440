import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutants.ts';

/** A mutant of one source. */
export type Change = { source: string; mutant: Mutant };

/** Returns the source with the mutant applied. */
export const changed = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end);

/**
 * Finds mutants that do not compile. `npm test` checks types first, so it catches them. Each pass applies one
 * mutant per outermost statement, so a type error there is due to that mutant.
 */
export function findMistyped(tree: string, changes: readonly Change[]): Set<Change> {
  const mistyped = new Set<Change>();
  const byStatement = [
    ...Map.groupBy(changes, ({ source, mutant }) => `${source} ${mutant.statement[0]}`).values(),
  ];
  const project = join(tree, 'tsconfig.mutations.json');
  // Removing a guard leaves unused what only the guard used.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const files = [...new Set(changes.map(({ source }) => source))];
  writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: [], files }));
  const passes = Math.max(0, ...byStatement.map(({ length }) => length));
  for (let pass = 0; pass < passes; pass += 1) {
    const tried = Map.groupBy(
      byStatement.flatMap((list) => list[pass] ?? []),
      ({ source }) => source,
    );
    const originals = [...tried.keys()].map((source) => ({
      source,
      text: readFileSync(join(tree, source), 'utf8'),
    }));
    const places = originals.flatMap(({ source, text }) =>
      write(join(tree, source), text, tried.get(source)!),
    );
    const errors = findErrors(tree, project);
    for (const { source, text } of originals) writeFileSync(join(tree, source), text);
    for (const { change, from, to } of places)
      if (errors.some(({ path, line }) => path === change.source && line >= from && line <= to))
        mistyped.add(change);
  }
  return mistyped;
}

/** The lines of a mutant's statement after the mutation. */
type Place = { change: Change; from: number; to: number };

/** Writes a source with mutants in several of its statements. */
function write(path: string, text: string, changes: readonly Change[]): Place[] {
  let written = '';
  let at = 0;
  const lines = (): number => written.split('\n').length;
  const copy = (to: number): void => void ([written, at] = [written + text.slice(at, to), to]);
  const places = changes
    .toSorted((a, b) => a.mutant.start - b.mutant.start)
    .map((change): Place => {
      const { start, end, replacement, statement } = change.mutant;
      copy(statement[0]);
      const from = lines();
      copy(start);
      written += replacement;
      at = end;
      copy(statement[1]);
      return { change, from, to: lines() };
    });
  copy(text.length);
  writeFileSync(path, written);
  return places;
}

function findErrors(tree: string, project: string): { path: string; line: number }[] {
  const compiler = join(tree, 'node_modules/typescript/bin/tsc');
  const parameters = ['--noEmit', '--checkers', '1', '--pretty', 'false', '-p', project];
  const { stdout } = spawnSync(process.execPath, [compiler, ...parameters], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const found = stdout.matchAll(/^(.+?)\((\d+),\d+\): error /gm);
  return [...found].map(([, path, line]) => ({ path: path!, line: Number(line) }));
}
