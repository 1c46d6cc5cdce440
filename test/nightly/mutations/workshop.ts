import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { openTestServer, type TestServer } from '../../server.ts';

const home = fileURLToPath(new URL('../../..', import.meta.url));

/** A copy of the sources to change, with a database server of its own. */
export type Workshop = { tree: string; server: TestServer };

const leftOut = new Set(['.git', '.local', 'data', 'dist', 'node_modules', 'screenshots']);

/** Copies the sources, and starts the server. */
export async function openWorkshop(): Promise<Workshop> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'formloom-mutations-')));
  for (const name of await readdir(home))
    if (!leftOut.has(name)) await cp(join(home, name), join(tree, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) await symlink(join(home, name), join(tree, name));
  return { tree, server: await openTestServer(() => {}) };
}

export async function closeWorkshop({ tree, server }: Workshop): Promise<void> {
  await server.close();
  await rm(tree, { recursive: true });
}

/**
 * How a run of test files ended: the first failure ends it, and so does the end of its time, which says nothing of the
 * tests. `by` is the file that failed.
 */
export type Run = { ending: 'passed' | 'failed' | 'cut off'; ms: number; by: string };

/** Runs test files of the copy in one process, one after the other, as `test/groups.ts` has them. */
export async function runTests(
  { tree, server }: Workshop,
  units: readonly (readonly string[])[],
  { limitMs, coverage }: { limitMs: number; coverage?: string },
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
        // Compiled code says nothing of which parts of it ran.
        ...(coverage === undefined
          ? { NODE_COMPILE_CACHE: join(tree, '.cache') }
          : { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' }),
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
      resolve({ ending, ms: performance.now() - began, by });
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

/** A test file that passes without a change: how long it took when it last did, and which parts of the sources it runs. */
export type Baseline = { test: string; ms: number; runs(source: string, offset: number): boolean };
type Range = { startOffset: number; endOffset: number; count: number };

/** @returns undefined for a file that fails without a change. */
export async function takeBaseline(workshop: Workshop, test: string): Promise<Baseline | undefined> {
  const coverage = join(workshop.tree, '.coverage');
  const { ending, ms } = await runTests(workshop, [[test]], { limitMs: 300_000, coverage });
  const ranges = new Map<string, Range[]>();
  for (const name of await readdir(coverage).catch(() => [])) {
    const { result } = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {
      result: { url: string; functions: { ranges: Range[] }[] }[];
    };
    for (const { url, functions } of result)
      ranges.set(url, [...(ranges.get(url) ?? []), ...functions.flatMap((each) => each.ranges)]);
  }
  await rm(coverage, { recursive: true, force: true });
  if (ending !== 'passed') return undefined;
  return {
    test,
    ms,
    runs(source, offset) {
      const around = (ranges.get(pathToFileURL(join(workshop.tree, source)).href) ?? []).filter(
        ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
      );
      const sizes = around.map(({ startOffset, endOffset }) => endOffset - startOffset);
      // Of several processes, each has its own count of the innermost part.
      return around.some(({ count }, index) => count > 0 && sizes[index] === Math.min(...sizes));
    },
  };
}
