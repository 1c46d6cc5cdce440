import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/*
 * Decides which test files share a process. Loading the service in another process takes most of a second of
 * CPU.
 */

/** Files that one process runs in order: a single file, or the files of one stage. */
export type Unit = readonly string[];

/** Matches files with effects beyond themselves: they measure their process or change shared state. */
export const needsItsOwn = /process\.(?:on|cpuUsage|memoryUsage)\(|\bmock\.|globalThis\.\w+ = /;
/** Matches files that start processes and wait for their start and their leases. */
export const startsInstances = /makeInstance\(|startProcess\(/;
/**
 * Matches a stage, or sources that are parsed once in a process. Importing a stage opens it, and it is closed
 * after the file that opened it.
 */
const isStage = /^after\(|^export const .* = await open|^const parsedSources\b/m;
const imported = /from '(\.{1,2}\/[^']+|#[^']+)'/g;

/**
 * Sorts test files into units, in the order in which they start.
 * @returns `alone`: files that need a process of their own.
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
    // A stage with many files is a tenth of the whole run, so it comes first.
    { units: units.filter(isBrowser).toSorted((a, b) => b.length - a.length), until: lastLong },
    // The whole flows at the end of the alphabet take the longest.
    { units: waiting.toReversed(), until: lastLong },
    { units: units.filter((unit) => !isBrowser(unit)), until: 1 },
  ]);
  return { together, alone };
}

/** No long unit starts after this share of the run, so that all processes end at about the same time. */
const lastLong = 0.85;

/**
 * Interleaves the kinds evenly from the start, each in its order. Files that start instances mostly wait for
 * a start or a lease, and browsers hardly ever do. Running one kind after the other would leave a processor
 * idle.
 */
function mix(kinds: readonly { units: readonly Unit[]; until: number }[]): Unit[] {
  const places = kinds.flatMap(({ units, until }) =>
    units.map((unit, index) => ({ unit, place: (until * index) / units.length })),
  );
  return places.toSorted((a, b) => a.place - b.place).map(({ unit }) => unit);
}

/** Returns the stage that a file imports, if any. */
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
 * Writes the runner files and returns their paths, named in the order in which Node runs them. Each of
 * `processes` runners takes the next free shared unit. Units that run alone come first, because a long one
 * would otherwise finish last on its own.
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
      // The order matters: node:test loads before any code of a module that imports it.
      await writeFile(
        path,
        `import ${context};\nconst { runInTurn } = await import(${runner});\nawait ${call};\n`,
      );
      return path;
    }),
  );
}
