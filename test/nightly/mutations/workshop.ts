import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { needsItsOwn } from '../../groups.ts';
import { openTestServer, type TestServer } from '../../server.ts';
import type { Order, Outcome, Range } from './runner.ts';

const home = fileURLToPath(new URL('../../..', import.meta.url));

/** A copy of the sources to change, with a database server of its own. */
export type Workshop = { tree: string; server: TestServer; runner?: ChildProcess | undefined };

const leftOut = new Set(['.git', '.local', 'data', 'dist', 'node_modules', 'screenshots']);

/** Copies the sources, and starts the server. */
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
 * How a run of test files ended: the first failure ends it, and so does the end of its time, which says nothing of the
 * tests. `by` is the file that failed; `ran` the parts of the sources that did, where that was asked.
 */
export type Run = { ending: 'passed' | 'failed' | 'cut off'; ms: number; by: string; ran: Outcome['ran'] };

/** Runs test files of the copy one after the other, in the process that does so again and again. */
export async function runHere(
  workshop: Workshop,
  files: readonly string[],
  { limitMs, isMeasured = false }: { limitMs: number; isMeasured?: boolean },
): Promise<Run> {
  const began = performance.now();
  const child = (workshop.runner ??= await startRunner(workshop));
  const outcome = await new Promise<Outcome | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs);
    const end = (found: Outcome | undefined): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(found);
    };
    // A change may end the process, too.
    child.once('message', end).once('exit', () => end({ failed: files[0]!, ran: [], isWorn: true }));
    child.send({ files, isMeasured } satisfies Order);
  });
  if (!outcome || outcome.isWorn) await stopRunner(workshop);
  const ending = outcome === undefined ? 'cut off' : outcome.failed === undefined ? 'passed' : 'failed';
  return { ending, ms: performance.now() - began, by: outcome?.failed ?? files[0]!, ran: outcome?.ran ?? [] };
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

/** Runs test files of the copy in a process of their own, one after the other, as `test/groups.ts` has them. */
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
    `import { runInTurn } from ${runner};\nawait runInTurn(${JSON.stringify(units)}, ${limitMs});\n`,
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
      // With the processes that it started. It may have ended meanwhile.
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
      resolve({ ending, ms: performance.now() - began, by, ran: [] });
    });
  });
}

/** Databases of tests that were ended in their middle. */
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
 * A test file that passes without a change: how long it took when it last did, which parts of the sources it runs, and
 * whether it may share the process that runs tests again and again.
 */
export type Baseline = {
  test: string;
  ms: number;
  isShared: boolean;
  runs(source: string, offset: number): boolean;
};

/** @returns undefined for a file that fails without a change. */
export async function takeBaseline(workshop: Workshop, test: string): Promise<Baseline | undefined> {
  const mayShare = !needsItsOwn.test(await readFile(join(workshop.tree, test), 'utf8'));
  const shared = mayShare && (await runHere(workshop, [test], { limitMs: baselineMs, isMeasured: true }));
  if (shared && shared.ending === 'passed')
    return { test, ms: shared.ms, isShared: true, runs: partsOf(workshop, shared.ran) };
  const coverage = join(workshop.tree, '.coverage');
  const more = { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' };
  const { ending, ms } = await runApart(workshop, [[test]], { limitMs: baselineMs, more });
  const ran: Outcome['ran'] = [];
  for (const name of await readdir(coverage).catch(() => [])) {
    const { result } = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {
      result: { url: string; functions: { ranges: Range[] }[] }[];
    };
    for (const { url, functions } of result) ran.push([url, functions.flatMap(({ ranges }) => ranges)]);
  }
  await rm(coverage, { recursive: true, force: true });
  return ending === 'passed' ? { test, ms, isShared: false, runs: partsOf(workshop, ran) } : undefined;
}

const baselineMs = 300_000;

function partsOf({ tree }: Workshop, ran: Outcome['ran']): Baseline['runs'] {
  const ranges = new Map<string, Range[]>();
  for (const [url, found] of ran)
    if (url.startsWith(pathToFileURL(tree).href)) ranges.set(url, [...(ranges.get(url) ?? []), ...found]);
  return (source, offset) => {
    const around = (ranges.get(pathToFileURL(join(tree, source)).href) ?? []).filter(
      ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
    );
    const sizes = around.map(({ startOffset, endOffset }) => endOffset - startOffset);
    // Of several processes, each has its own count of the innermost part.
    return around.some(({ count }, index) => count > 0 && sizes[index] === Math.min(...sizes));
  };
}
