import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/* Which test files share a process. Each process of its own would load the service anew, most of a second of CPU. */

/** Files that are run one after the other by the same process: one, or those that share a stage. */
export type Unit = readonly string[];

/** What reaches beyond a file: it measures its process, or changes what all share. */
export const needsItsOwn = /process\.(?:on|cpuUsage|memoryUsage)\(|\bmock\.|globalThis\.\w+ = /;
/** What waits for processes of its own, for their starts and their leases. */
export const startsInstances = /makeInstance\(|startProcess\(/;
/** A stage is opened while it is loaded, which happens once in a process, and closed after the file that did. */
const isStage = /^after\(|^export const .* = await open/m;
const imported = /from '(\.{1,2}\/[^']+|#[^']+)'/g;

/**
 * Sorts test files into units, in the order in which they are begun.
 * @returns `alone`: those that need a process of their own.
 */
export async function sortUnits(files: readonly string[]): Promise<{ together: Unit[]; alone: Unit[] }> {
  const alone: Unit[] = [];
  const waiting: Unit[] = [];
  const stages = new Map<string, string[]>();
  for (const file of files.map((path) => resolve(path)).toSorted()) {
    const text = await readFile(file, 'utf8');
    const stage = await stageOf(file, text);
    if (needsItsOwn.test(text) || (stage && needsItsOwn.test(await readFile(stage, 'utf8'))))
      alone.push([file]);
    else if (startsInstances.test(text)) waiting.push([file]);
    else stages.set(stage ?? file, [...(stages.get(stage ?? file) ?? []), file]);
  }
  const units = [...stages.values()];
  const isBrowser = (unit: Unit): boolean => unit.some((file) => file.includes('.browser.'));
  const together = mix([
    // A stage with many files is a tenth of all: it comes first.
    { units: units.filter(isBrowser).toSorted((a, b) => b.length - a.length), until: lastLong },
    // Those at the end of the alphabet, whole flows, take the longest.
    { units: waiting.toReversed(), until: lastLong },
    { units: units.filter((unit) => !isBrowser(unit)), until: 1 },
  ]);
  return { together, alone };
}

/** Nothing that takes long is begun after so much of the run: all processes shall end at about the same time. */
const lastLong = 0.85;

/**
 * All kinds from the beginning on, each in its order and spread evenly: those that start instances wait much of their time, for a
 * start or a lease, and browsers hardly ever, so that one kind after the other would leave a processor idle.
 */
function mix(kinds: readonly { units: readonly Unit[]; until: number }[]): Unit[] {
  const places = kinds.flatMap(({ units, until }) =>
    units.map((unit, index) => ({ unit, place: (until * index) / units.length })),
  );
  return places.toSorted((a, b) => a.place - b.place).map(({ unit }) => unit);
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

/**
 * Writes what runs the units, and returns it: Node takes files by their names, in that order. So many processes take one unit after
 * the other of those that share, whoever is free; those that are alone come first, as one that waits for long would wait by itself at the end.
 */
export async function writeRunners(
  { together, alone }: { together: readonly Unit[]; alone: readonly Unit[] },
  { processes, directory, timeoutMs }: { processes: number; directory: string; timeoutMs: number },
): Promise<string[]> {
  const taken = await mkdtemp(join(directory, 'taken-'));
  const runners = [
    ...alone.map((unit) => ({ units: [unit], taken: undefined })),
    ...Array.from({ length: Math.min(processes, together.length) }, () => ({ units: together, taken })),
  ];
  const [context, runner] = ['./test-context.ts', './group.ts'].map((name) =>
    JSON.stringify(import.meta.resolve(name)),
  );
  return Promise.all(
    runners.map(async ({ units, taken }, index) => {
      const path = join(directory, `${String(index).padStart(3, '0')}.mjs`);
      const call = `runInTurn(${JSON.stringify(units)}, ${JSON.stringify({ timeoutMs, taken })})`;
      // In this order: node:test is loaded before anything of a module that imports it is run.
      await writeFile(
        path,
        `import ${context};\nconst { runInTurn } = await import(${runner});\nawait ${call};\n`,
      );
      return path;
    }),
  );
}
