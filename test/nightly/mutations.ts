import { glob, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { sortUnits, type Unit } from '../groups.ts';
import { keepFilesInMemory } from '../memory.ts';
import { type Equivalent, equivalents } from './mutations/equivalents.ts';
import { type Change, changed, findMistyped } from './mutations/mistyped.ts';
import { listMutants, type Mutant } from './mutations/mutants.ts';
import { type Room, rooms } from './mutations/rooms.ts';
import {
  type Baseline,
  closeWorkshop,
  everyStatement,
  openWorkshop,
  type Run,
  runApart,
  runHere,
  takeBaseline,
  tidy,
  type Workshop,
} from './mutations/workshop.ts';

/*
 * npm run test:long -- mutations
 * Removes the guards of every room below, one by one, in a copy of the sources. Lists those whose
 * removal no test catches. Takes hours.
 * npm run test:long -- mutations queue sending
 * Only these rooms. A path such as src/ast/form/tree.ts is one file of them.
 * npm run test:long -- mutations --one ast
 * One at a time, for a machine that is busy.
 * npm run test:long -- mutations src/ast/form/tree.ts src/ast/form/tree.test.ts
 * With the named tests instead of the room's.
 * npm run test:long -- mutations --again <file>
 * Only the mutants that the output of an earlier run lists as surviving or unknown.
 *
 * mutations/equivalents.ts lists mutants that change nothing, with reasons.
 */

const isDefended = (path: string): boolean => !path.endsWith('.test.ts');
const find = async (patterns: readonly string[], tree: string): Promise<string[]> =>
  [
    ...new Set(
      (await Promise.all(patterns.map((pattern) => Array.fromAsync(glob(pattern, { cwd: tree }))))).flat(),
    ),
  ].sort();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * The time limit of tests with a mutant: this multiple of their last time without one, plus time to start.
 */
const patience = 5;
const beginMs = 3_000;
/** Extra time for a retry alone, for tests that wait in vain and then time out themselves. */
const aloneMs = 40_000;

/** A test file that covers a mutant, with all of its tests or only these. */
type Coming = { baseline: Baseline; tests: readonly number[] | undefined };

/** Test files that run together, in a separate process or in the shared one (isShared). */
type Together = {
  units: readonly (readonly string[])[];
  coming: readonly Coming[];
  isShared: boolean;
};

const runTogether = (
  workshop: Workshop,
  { units, coming, isShared }: Together,
  limitMs: number,
): Promise<Run> =>
  isShared
    ? runHere(
        workshop,
        coming.map(({ baseline, tests }) => ({ file: baseline.test, tests })),
        { limitMs },
      )
    : runApart(workshop, units, { limitMs });

const msOf = ({ baseline, tests }: Coming): number => baseline.msOf(tests) * baseline.slowness;
const usualMs = ({ coming }: Together): number => coming.reduce((sum, each) => sum + msOf(each), 0);
const one = (coming: Coming): Together => ({
  units: [[coming.baseline.test]],
  coming: [coming],
  isShared: coming.baseline.isShared,
});

/** The test that killed a mutant: its file, and its index in the file if known. */
type Killer = { file: string; test: number | undefined };

/**
 * Yields the tests likely to fail soonest first: the killer of the previous mutant, then the nearest, then
 * the fastest.
 */
async function* inOrder(source: string, all: readonly Coming[], last?: Killer): AsyncGenerator<Together> {
  const nearness = ({ baseline: { test } }: Coming): number => {
    if (test === last?.file) return Infinity;
    if (test === everyStatement && source.endsWith('queries.ts')) return 200;
    if (test === source.replace(/\.ts$/, '.test.ts')) return 100;
    const folders = dirname(source).split('/');
    return folders.filter((_, at) => test.startsWith(`${folders.slice(0, at + 1).join('/')}/`)).length;
  };
  const sorted = all
    .map(({ baseline, tests }) => ({
      baseline,
      tests: baseline.test === last?.file ? withFirst(tests, last.test) : tests,
    }))
    .toSorted((a, b) => nearness(b) - nearness(a) || msOf(a) - msOf(b));
  yield* sorted.slice(0, 2).map(one);
  const rest = sorted.slice(2);
  const shared = rest.filter(({ baseline }) => baseline.isShared);
  if (shared.length > 0) yield { units: [], coming: shared, isShared: true };
  const apart = rest.filter(({ baseline }) => !baseline.isShared);
  const { alone, together: sharing } = await sortUnits(apart.map(({ baseline }) => baseline.test));
  const groups = [...alone.map((unit) => [unit]), ...inParts(sharing)];
  const together = groups.map((group): Together => {
    const units = group.map((files) => files.map((file) => relative('.', file)));
    const names = units.flat();
    return { units, coming: apart.filter(({ baseline }) => names.includes(baseline.test)), isShared: false };
  });
  yield* together.toSorted((a, b) => usualMs(a) - usualMs(b));
}

/**
 * The number of shareable files in a process: enough to save time, and few enough to catch a mutant early.
 */
const perProcess = 8;
const inParts = (units: readonly Unit[]): Unit[][] =>
  Array.from({ length: Math.ceil(units.length / perProcess) }, (_, part) =>
    units.slice(part * perProcess, (part + 1) * perProcess),
  );

const withFirst = (tests: Coming['tests'], first: number | undefined): Coming['tests'] =>
  tests && first !== undefined && tests.includes(first)
    ? [first, ...tests.filter((test) => test !== first)]
    : tests;

/** The outcome of a mutant: a test killed it, none did, or a run exceeded its time. */
type Fate = { is: 'killed' | 'survives' | 'unknown'; by?: Killer };

/**
 * Runs the tests that cover a mutant until one fails. A timeout proves nothing. Neither does a failure later
 * than the usual time of all its tests, because a wait can time out on a busy machine. In both cases the
 * mutant is tried again alone, right after measuring its tests without it.
 */
async function tryChange(
  workshop: Workshop,
  { source, mutant }: Change,
  tests: AsyncIterable<Together>,
  isAlone: boolean,
): Promise<Fate> {
  const path = join(workshop.tree, source);
  const text = await readFile(path, 'utf8');
  const measures = async (each: Together): Promise<boolean> => {
    const { ending, ms } = await runTogether(workshop, each, 300_000);
    if (ending === 'passed') learn(each, ms);
    return ending === 'passed';
  };
  try {
    for await (const each of tests) {
      if (isAlone && !(await measures(each)))
        return { is: 'unknown', by: { file: 'a test that fails without it', test: undefined } };
      await writeFile(path, changed(text, mutant));
      const usual = usualMs(each);
      const limitMs = usual * patience + (isAlone ? aloneMs : beginMs);
      const { ending, ms, by: file, test } = await runTogether(workshop, each, limitMs);
      await writeFile(path, text);
      const by = { file, test };
      if (ending === 'passed') learn(each, ms);
      else if (ending === 'failed' && (isAlone || ms < usual * 2 + beginMs)) {
        if (await standsAlone(workshop, each, by)) return { is: 'killed', by };
        return { is: 'unknown', by };
      } else return { is: 'unknown', by };
    }
    return { is: 'survives' };
  } finally {
    await writeFile(path, text);
    await tidy(workshop);
  }
}

/**
 * Whether a failed test passes alone without the mutant, if tests before it were left out. A test that
 * depends on earlier ones runs with its whole file from then on.
 */
async function standsAlone(
  workshop: Workshop,
  { coming }: Together,
  { file, test }: Killer,
): Promise<boolean> {
  const found = coming.find(({ baseline }) => baseline.test === file);
  if (!found?.tests || test === undefined) return true;
  const { baseline } = found;
  const name = `${file} ${test}`;
  const known = alone.get(name);
  if (known !== undefined) return known;
  const limitMs = msOf({ baseline, tests: [test] }) * patience + aloneMs;
  const { ending } = await runHere(workshop, [{ file, tests: [test] }], { limitMs });
  alone.set(name, ending === 'passed');
  if (ending !== 'passed') baseline.testsOf = () => undefined;
  return ending === 'passed';
}
const alone = new Map<string, boolean>();

/** Updates the expected times, because the load of the machine varies. */
function learn(together: Together, ms: number): void {
  const share = ms / usualMs(together);
  for (const { baseline } of together.coming) baseline.slowness *= share;
}

async function takeBaselines(
  workshop: Workshop,
  files: Iterable<string>,
  sources: readonly string[],
): Promise<Baseline[]> {
  const baselines: Baseline[] = [];
  for (const test of files) {
    const baseline = await takeBaseline(workshop, test, sources);
    if (baseline) baselines.push(baseline);
    else say(`LEFT OUT, as it fails without a change: ${test}`);
  }
  return baselines;
}

/** The result of a room: the positions of the surviving and unknown mutants. */
type Result = {
  name: string;
  tried: number;
  killed: number;
  equivalent: number;
  survives: string[];
  unknown: string[];
};

async function tryRoom(name: string, { sources, tests }: Room, only: readonly string[]): Promise<Result> {
  const workshops = [await openWorkshop(), ...(isOneAtATime ? [] : [await openWorkshop()])];
  const [{ tree }] = workshops as [Workshop];
  const result: Result = { name, tried: 0, killed: 0, equivalent: 0, survives: [], unknown: [] };
  try {
    const paths = (await find(sources, tree)).filter(
      (path) => isDefended(path) && (only.length === 0 || only.includes(path)),
    );
    const changes: Change[] = [];
    for (const source of paths)
      for (const mutant of listMutants(source, await readFile(join(tree, source), 'utf8')))
        if (isEquivalent(source, mutant)) result.equivalent += 1;
        else if (again === undefined || again.has(`${source} ${mutant.what}`))
          changes.push({ source, mutant });
    result.tried = changes.length;
    say(`${name}: ${changes.length} defences`);

    const files = (await find(named.length > 0 ? named : tests, tree))[Symbol.iterator]();
    const baselines = (await Promise.all(workshops.map((each) => takeBaselines(each, files, paths)))).flat();
    say(`${name}: ${baselines.length} test files`);
    const unknown: Change[] = [];
    const survivors = new Map<Change, string>();
    let last: Killer | undefined;
    const tryOne = async (workshop: Workshop, change: Change, isAlone: boolean): Promise<void> => {
      const { source, mutant } = change;
      const coming = baselines
        .map((baseline) => ({ baseline, tests: baseline.testsOf(source, mutant) }))
        .filter(({ tests }) => tests === undefined || tests.length > 0);
      const fate = await tryChange(workshop, change, inOrder(source, coming, last), isAlone);
      const place = `${source}:${mutant.line} ${mutant.what}`;
      say(`${fate.is}  ${place}${fate.by === undefined ? '' : `  by ${fate.by.file}`}`);
      if (fate.is === 'killed') [result.killed, last] = [result.killed + 1, fate.by];
      else if (fate.is === 'survives')
        survivors.set(change, `${place}${coming.length === 0 ? ' (no test comes here)' : ''}`);
      else if (isAlone) result.unknown.push(place);
      else unknown.push(change);
    };
    const queue = changes[Symbol.iterator]();
    const tryAll = async (workshop: Workshop): Promise<void> => {
      for (const change of queue) await tryOne(workshop, change, false);
    };
    await Promise.all(workshops.map(tryAll));
    for (const change of unknown) await tryOne(workshops[0]!, change, true);
    // Tests catch most mutants that types catch, and sooner. So types are checked only for the survivors.
    const mistyped = findMistyped(tree, [...survivors.keys()]);
    result.killed += mistyped.size;
    for (const [change, place] of survivors) if (!mistyped.has(change)) result.survives.push(place);
  } finally {
    await Promise.all(workshops.map(closeWorkshop));
  }
  return result;
}

/** Returns the mutants that an earlier run listed, by source and description. */
async function readListed(path: string): Promise<Set<string>> {
  const listed = (await readFile(path, 'utf8')).matchAll(
    /^(?:SURVIVES|UNKNOWN).* {2}(\S+):\d+ (.+?)(?: \(no test comes here\))?$/gm,
  );
  return new Set([...listed].map(([, source, what]) => `${source} ${what}`));
}

const met = new Set<Equivalent>();

function isEquivalent(source: string, { what, prepared }: Mutant): boolean {
  const found = equivalents[source]?.find(
    (each) =>
      each.what === what && (each.of === undefined || prepared?.some((part) => part.includes(each.of!))),
  );
  if (found) met.add(found);
  return found !== undefined;
}

// Each copy has its own database server.
delete process.env['TEST_DATABASE_URL'];
const removeFiles = keepFilesInMemory();
const words = process.argv.slice(2);
const isOneAtATime = words.includes('--one');
const againAt = words.indexOf('--again');
const again = againAt < 0 ? undefined : await readListed(words[againAt + 1]!);
const given = words.filter((word, at) => !word.startsWith('--') && (againAt < 0 || at !== againAt + 1));
const named = given.filter((word) => word.endsWith('.test.ts'));
const paths = given.filter((word) => word.includes('/') && !named.includes(word));
const isOf = ({ sources }: Room): Promise<boolean> =>
  find(sources, '.').then((found) => paths.some((path) => found.includes(path)));
const results: Result[] = [];
for (const [name, room] of Object.entries(rooms))
  if (given.length === 0 || given.includes(name) || (await isOf(room)))
    results.push(await tryRoom(name, room, given.includes(name) ? [] : paths));
removeFiles();
for (const { survives, unknown } of results) {
  for (const place of survives) say(`SURVIVES  ${place}`);
  for (const place of unknown) say(`UNKNOWN, as its tests did not end in their time, alone either  ${place}`);
}
for (const { name, tried, killed, equivalent, survives, unknown } of results)
  say(
    `${name}: ${tried} defences, ${killed} missed by types or a test, ${survives.length} by none, ${unknown.length} unknown; ${equivalent} more change nothing`,
  );
if (given.length === 0)
  for (const [source, list] of Object.entries(equivalents))
    for (const each of list)
      if (!met.has(each)) say(`NO LONGER THERE, of those that change nothing: ${source} ${each.what}`);
