import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/* Which test files share a process. Each process of its own would load the service anew, most of a second of CPU. */

/** Files that run in one process: one after the other, but for those that share a stage. */
type Group = readonly (readonly string[])[];

/** What reaches beyond a file: it measures its process, or changes what all share. */
export const needsItsOwn = /process\.(?:on|cpuUsage|memoryUsage)\(|\bmock\.|globalThis\.\w+ = /;
/** What waits for processes of its own, for their starts and their leases. */
export const startsInstances = /makeInstance\(|startProcess\(/;
/** A stage is opened while it is loaded, which happens once in a process, and closed after the file that did. */
const isStage = /^after\(|^export const .* = await open/m;
const imported = /from '(\.{1,2}\/[^']+|#[^']+)'/g;

/** So many files share a process: enough to gain from it, few enough that three processes end at about the same time. */
const perGroup = { browser: 8, waiting: 3, other: 40 } as const;

/** Sorts test files into groups, in the order in which they are run. */
export async function groupFiles(files: readonly string[]): Promise<Group[]> {
  const alone: Group[] = [];
  const waiting: (readonly string[])[] = [];
  const stages = new Map<string, string[]>();
  for (const file of files.map((path) => resolve(path)).toSorted()) {
    const text = await readFile(file, 'utf8');
    const stage = await stageOf(file, text);
    if (needsItsOwn.test(text) || (stage && needsItsOwn.test(await readFile(stage, 'utf8'))))
      alone.push([[file]]);
    else if (startsInstances.test(text)) waiting.push([file]);
    else stages.set(stage ?? file, [...(stages.get(stage ?? file) ?? []), file]);
  }
  const units = [...stages.values()];
  const isBrowser = (unit: readonly string[]): boolean => unit.some((file) => file.includes('.browser.'));
  const fileCount = (group: Group): number => group.flat().length;
  return mix([
    fill(units.filter(isBrowser), perGroup.browser).toSorted((a, b) => fileCount(b) - fileCount(a)),
    alone,
    // Those at the end of the alphabet, whole flows, take the longest.
    fill(waiting.toReversed(), perGroup.waiting),
    fill(
      units.filter((unit) => !isBrowser(unit)),
      perGroup.other,
    ),
  ]);
}

/**
 * All kinds from the beginning to the end, each in its order: those that start instances wait much of their time, for a
 * start or a lease, and browsers hardly ever, so that one kind after the other would leave a processor idle.
 */
function mix(kinds: readonly (readonly Group[])[]): Group[] {
  const places = kinds.flatMap((groups) =>
    groups.map((group, index) => ({ group, place: index / groups.length })),
  );
  return places.toSorted((a, b) => a.place - b.place).map(({ group }) => group);
}

/** The module among those that a file imports which opens something for all that import it. */
async function stageOf(file: string, text: string): Promise<string | undefined> {
  for (const [, name] of text.matchAll(imported)) {
    const path = name!.startsWith('#')
      ? resolve(name!.replace(/^#test\//, 'test/').replace(/^#/, 'src/'))
      : resolve(file, '..', name!);
    if (isStage.test(await readFile(path, 'utf8'))) return path;
  }
  return undefined;
}

/** Neighbours together, until there are as many files as a group has. */
function fill(units: readonly (readonly string[])[], most: number): Group[] {
  const groups: (readonly string[])[][] = [];
  for (const unit of units) {
    const last = groups.at(-1);
    if (last && last.flat().length + unit.length <= most) last.push(unit);
    else groups.push([unit]);
  }
  return groups;
}

/** Writes the file that each group is run by, and returns what to run: Node takes files by their names, in that order. */
export function writeGroups(
  groups: readonly Group[],
  directory: string,
  timeoutMs: number,
): Promise<string[]> {
  const [context, runner] = ['./test-context.ts', './group.ts'].map((name) =>
    JSON.stringify(import.meta.resolve(name)),
  );
  return Promise.all(
    groups.map(async (group, index) => {
      const path = join(directory, `${String(index).padStart(3, '0')}.mjs`);
      const call = `runInTurn(${JSON.stringify(group)}, ${timeoutMs})`;
      // In this order: node:test is loaded before anything of a module that imports it is run.
      await writeFile(
        path,
        `import ${context};\nconst { runInTurn } = await import(${runner});\nawait ${call};\n`,
      );
      return path;
    }),
  );
}
