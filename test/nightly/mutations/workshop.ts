import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { needsItsOwn, startsInstances } from '../../groups.ts';
import { openTestServer, type TestServer } from '../../server.ts';
import type { Mutant } from './mutants.ts';
import type { Chosen, Order, Outcome, Part, Range } from './runner.ts';

const home = fileURLToPath(new URL('../../..', import.meta.url));

/** A copy of the sources to change, with its own database server. */
export type Workshop = { tree: string; server: TestServer; runner?: ChildProcess | undefined };

const leftOut = new Set(['.git', '.local', 'data', 'dist', 'node_modules', 'screenshots']);

/** Copies the sources and starts the server. */
export async function openWorkshop(): Promise<Workshop> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'formloom-mutations-')));
  for (const name of await readdir(home))
    if (!leftOut.has(name)) await cp(join(home, name), join(tree, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) await symlink(join(home, name), join(tree, name));
  return { tree, server: await openTestServer(() => {}) };
}

export async function closeWorkshop(workshop: Workshop): Promise<void> {
  const { tree, server } = workshop;
  await stopRunner(workshop);
  await server.close();
  await rm(tree, { recursive: true });
}

/**
 * The result of a run of test files. It ends at the first failure or at its time limit, which proves nothing
 * about the tests. `by` is the failed file, `test` its index there if known, and `parts` the coverage on
 * request.
 */
export type Run = {
  ending: 'passed' | 'failed' | 'cut off';
  ms: number;
  by: string;
  test?: number | undefined;
  parts: Part[];
};

/** Runs test files of the copy in order, in the reused process. */
export async function runHere(
  workshop: Workshop,
  files: readonly Chosen[],
  { limitMs, measured = [] }: { limitMs: number; measured?: readonly string[] },
): Promise<Run> {
  const began = performance.now();
  const child = (workshop.runner ??= await startRunner(workshop));
  const [{ file: first }] = files as [Chosen];
  const outcome = await new Promise<Outcome | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs);
    const end = (found: Outcome | undefined): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(found);
    };
    const died: Outcome = { failed: { file: first, test: undefined }, parts: [], isWorn: true };
    // A mutant may also end the process.
    child.once('message', end).once('exit', () => end(died));
    child.send({ files, measured } satisfies Order);
  });
  if (!outcome || outcome.isWorn) await stopRunner(workshop);
  const ending = outcome === undefined ? 'cut off' : outcome.failed === undefined ? 'passed' : 'failed';
  const { file: by, test } = outcome?.failed ?? { file: first, test: undefined };
  return { ending, ms: performance.now() - began, by, test, parts: outcome?.parts ?? [] };
}

async function startRunner({ tree, server }: Workshop): Promise<ChildProcess> {
  const child = fork(join(tree, 'test/nightly/mutations/runner.ts'), {
    cwd: tree,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, ...server.environment },
  });
  await once(child, 'message');
  return child;
}

async function stopRunner(workshop: Workshop): Promise<void> {
  const child = workshop.runner;
  workshop.runner = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await gone;
}

/** Runs test files of the copy in order in a separate process, as `test/group.ts` does. */
export async function runApart(
  { tree, server }: Workshop,
  units: readonly (readonly string[])[],
  {
    limitMs,
    more = { NODE_COMPILE_CACHE: join(tree, '.cache') },
  }: { limitMs: number; more?: NodeJS.ProcessEnv },
): Promise<Run> {
  const runner = JSON.stringify(pathToFileURL(join(tree, 'test/group.ts')).href);
  const script = join(tree, '.run.ts');
  await writeFile(
    script,
    `import { runInTurn } from ${runner};\nawait runInTurn(${JSON.stringify(units)}, { timeoutMs: ${limitMs} });\n`,
  );
  const began = performance.now();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--test-reporter=tap', script],
    {
      cwd: tree,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        ...process.env,
        ...server.environment,
        ...more,
      },
    },
  );
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      // Kills it with its child processes. It may have ended meanwhile.
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) reject(error);
      }
    };
    let ending: Run['ending'] | undefined;
    const end = (how: Run['ending']): void => {
      ending ??= how;
      stop();
    };
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (/^ *not ok /m.test(output)) end('failed');
    });
    const timer = setTimeout(() => end('cut off'), limitMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      ending ??= code === 0 ? 'passed' : 'failed';
      const by =
        output
          .match(/^# Subtest: .*$/gm)
          ?.at(-1)
          ?.slice('# Subtest: '.length) ?? units[0]![0]!;
      resolve({ ending, ms: performance.now() - began, by, parts: [] });
    });
  });
}

/** Drops the databases of tests that were interrupted. */
export async function tidy({ server }: Workshop): Promise<void> {
  const client = new Client({ connectionString: server.environment['TEST_DATABASE_URL']! });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where datname like 'test\\_%'",
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  } finally {
    await client.end();
  }
}

/**
 * A test file that passes without mutants, and whether it may run in the reused process. `slowness` is the
 * ratio of its last time to its measured time.
 */
export type Baseline = {
  test: string;
  slowness: number;
  isShared: boolean;
  /** Returns the measured time of these tests, or of all. */
  msOf(tests: readonly number[] | undefined): number;
  /** Returns the indexes of its tests that cover a mutant, or undefined if unknown. */
  testsOf(source: string, mutant: Mutant): readonly number[] | undefined;
};

/**
 * Measures a test file without mutants.
 * @param sources the sources to mutate.
 * @returns undefined if the file fails without mutants.
 */
export async function takeBaseline(
  workshop: Workshop,
  test: string,
  sources: readonly string[],
): Promise<Baseline | undefined> {
  const text = await readFile(join(workshop.tree, test), 'utf8');
  const mayShare = !needsItsOwn.test(text) && !startsInstances.test(text);
  const shared =
    mayShare && (await runHere(workshop, [{ file: test }], { limitMs: baselineMs, measured: sources }));
  if (shared && shared.ending === 'passed')
    return {
      test,
      slowness: 1,
      isShared: true,
      msOf: (tests) => sum(shared.parts.filter((part) => isAmong(part.test, tests))),
      testsOf: testsIn(workshop, shared.parts, test),
    };
  const coverage = join(workshop.tree, '.coverage');
  const more = { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' };
  const { ending, ms } = await runApart(workshop, [[test]], { limitMs: baselineMs, more });
  const ran: Part['ran'] = [];
  for (const name of await readdir(coverage).catch(() => [])) {
    const { result } = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {
      result: { url: string; functions: { ranges: Range[] }[] }[];
    };
    for (const { url, functions } of result) ran.push([url, functions.flatMap(({ ranges }) => ranges)]);
  }
  await rm(coverage, { recursive: true, force: true });
  const all = { test: undefined, ms, ran, statements: [] };
  return ending === 'passed'
    ? { test, slowness: 1, isShared: false, msOf: () => ms, testsOf: testsIn(workshop, [all], test) }
    : undefined;
}

const sum = (parts: readonly Part[]): number => parts.reduce((all, { ms }) => all + ms, 0);
const isAmong = (test: number | undefined, tests: readonly number[] | undefined): boolean =>
  test === undefined || tests === undefined || tests.includes(test);

const baselineMs = 300_000;

/** A test that checks in a second that every statement stays in one workspace. */
export const everyStatement = 'test/statements.test.ts';

function testsIn({ tree }: Workshop, parts: readonly Part[], file: string): Baseline['testsOf'] {
  const byTest = [...Map.groupBy(parts, ({ test }) => test)].map(([test, of]) => ({
    test,
    ranges: Map.groupBy(
      of.flatMap(({ ran }) => ran),
      ([url]) => url,
    ),
    statements: [...new Set(of.flatMap(({ statements }) => statements))],
  }));
  const knowsStatements = file !== everyStatement && parts.some(({ statements }) => statements.length > 0);
  return (source, { start, prepared }) => {
    const url = pathToFileURL(join(tree, source)).href;
    const coming = byTest.filter(({ ranges, statements }) => {
      if (knowsStatements && prepared !== undefined)
        return statements.some((text) => prepared.every((part) => text.includes(part)));
      const around = (ranges.get(url) ?? [])
        .flatMap(([, each]) => each)
        .filter(({ startOffset, endOffset }) => startOffset <= start && start < endOffset);
      const sizes = around.map(({ startOffset, endOffset }) => endOffset - startOffset);
      // With several processes, each counts the innermost range separately.
      return around.some(({ count }, index) => count > 0 && sizes[index] === Math.min(...sizes));
    });
    const tests = coming.map(({ test }) => test);
    return tests.includes(undefined) ? undefined : tests.filter((test) => test !== undefined);
  };
}
