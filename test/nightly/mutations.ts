import { spawn } from 'node:child_process';
import { cp, glob, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { openTestServer, type TestServer } from '../server.ts';
import { listMutants, type Mutant } from './mutants.ts';

/*
 * npm run test:mutations                    takes away the defences of every room below, one by one, in a copy of the
 *                                           sources, and lists those that no test misses. It takes hours
 * npm run test:mutations -- queue sending   of these rooms only; a path, such as src/ast/tree.ts, is one file of them
 * npm run test:mutations -- --one ast       one at a time, for a machine that has something else to do
 * npm run test:mutations -- src/ast/tree.ts src/ast/tree.test.ts   by the tests that are named, in place of the room's
 */
type Room = { sources: string[]; tests: string[] };
const rooms: Readonly<Record<string, Room>> = {
  queue: {
    sources: ['src/kit/queue.ts', 'src/kit/queue/*.ts'],
    tests: ['src/kit/queue.test.ts', 'src/kit/queue/*.test.ts', 'src/webhooks/sending/*.test.ts'],
  },
  'exactly-once': {
    sources: ['src/submissions/exactly-once/*.ts'],
    tests: ['src/submissions/**/*.test.ts', 'src/page/*.test.ts'],
  },
  sending: {
    sources: ['src/webhooks/sending/*.ts'],
    tests: ['src/webhooks/**/*.test.ts', 'test/faults/*.test.ts'],
  },
  workspaces: {
    sources: ['src/workspaces/**/*.ts'],
    tests: [
      'src/workspaces/**/*.test.ts',
      'src/console/*.test.ts',
      'src/console/accounts/*.test.ts',
      'src/app/*.test.ts',
    ],
  },
  post: {
    sources: ['src/page/post/*.ts'],
    tests: ['src/page/*.test.ts', 'src/page/post/*.test.ts', 'src/files/*.test.ts'],
  },
  ast: {
    sources: ['src/ast/**/*.ts'],
    tests: [
      'src/ast/**/*.test.ts',
      'src/forms/payload/*.test.ts',
      'src/page/{piping,theme/*,render/*}.test.ts',
      'src/submissions/summary/*.test.ts',
      'test/form-language.test.ts',
    ],
  },
  api: {
    sources: ['src/app/api.ts', 'src/app/find-caller.ts', 'src/kit/conditional.ts', 'src/kit/cursor.ts'],
    tests: [
      'src/app/*.test.ts',
      'src/kit/cursor.test.ts',
      'src/workspaces/{idempotency,keys,audit}/*.test.ts',
      'src/console/{,accounts/}*.test.ts',
      'src/forms/{,drafts/}*.test.ts',
      'src/submissions/{,list/,changes/}*.test.ts',
    ],
  },
  many: {
    sources: ['src/submissions/{bulk,tags,notes,filter}/*.ts'],
    tests: ['src/submissions/**/*.test.ts', 'src/search/**/*.test.ts'],
  },
  backup: {
    sources: ['src/backup/**/*.ts', 'src/app/restore.ts'],
    tests: ['src/backup/**/*.test.ts', 'src/app/cli/backup-commands.test.ts'],
  },
  forms: {
    sources: ['src/forms/**/*.ts'],
    tests: ['src/forms/**/*.test.ts', 'src/page/{admission,visits}.test.ts', 'src/app/conventions.test.ts'],
  },
  accounts: {
    sources: ['src/console/**/*.ts'],
    tests: ['src/console/**/*.test.ts', 'src/workspaces/**/*.test.ts', 'src/app/conventions.test.ts'],
  },
  watch: { sources: ['src/app/watch/*.ts'], tests: ['src/app/watch/*.test.ts', 'src/app/metrics/*.test.ts'] },
};

const home = fileURLToPath(new URL('../..', import.meta.url));
const isDefended = (path: string): boolean => !/(\.test|\.external|\.fixture|\/testing)\.ts$/.test(path);
const find = async (patterns: readonly string[]): Promise<string[]> =>
  [
    ...new Set(
      (await Promise.all(patterns.map((pattern) => Array.fromAsync(glob(pattern, { cwd: home }))))).flat(),
    ),
  ].sort();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** A copy of the sources to change, with a database server of its own. */
type Workshop = { tree: string; server: TestServer };

const leftOut = new Set(['.git', '.local', 'data', 'dist', 'node_modules', 'screenshots']);

async function openWorkshop(): Promise<Workshop> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'formloom-mutations-')));
  for (const name of await readdir(home))
    if (!leftOut.has(name)) await cp(join(home, name), join(tree, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) await symlink(join(home, name), join(tree, name));
  return { tree, server: await openTestServer(() => {}) };
}

async function closeWorkshop({ tree, server }: Workshop): Promise<void> {
  await server.close();
  await rm(tree, { recursive: true });
}

/** Runs a test file of the copy until its end, its first failure or the end of its time. */
function passes(
  { tree, server }: Workshop,
  test: string,
  { ms, coverage }: { ms: number; coverage?: string },
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--test-reporter=tap', test],
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
    const stop = (): void => {
      // With the processes that it started. It may have ended meanwhile.
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) reject(error);
      }
    };
    let hasFailed = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!/^not ok /m.test(text)) return;
      hasFailed = true;
      stop();
    });
    const timer = setTimeout(stop, ms);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 && !hasFailed);
    });
  });
}

/** Databases of tests that were ended in their middle. */
async function tidy({ server }: Workshop): Promise<void> {
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

/** A test file that passes without a change: how long it takes, and which parts of the sources it runs. */
type Baseline = { test: string; ms: number; runs(source: string, offset: number): boolean };
type Range = { startOffset: number; endOffset: number; count: number };

async function takeBaseline(workshop: Workshop, test: string): Promise<Baseline | undefined> {
  const coverage = join(workshop.tree, '.coverage');
  const began = performance.now();
  const isGood = await passes(workshop, test, { ms: 300_000, coverage });
  const ms = performance.now() - began;
  const ranges = new Map<string, Range[]>();
  for (const name of await readdir(coverage).catch(() => [])) {
    const { result } = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {
      result: { url: string; functions: { ranges: Range[] }[] }[];
    };
    for (const { url, functions } of result)
      ranges.set(url, [...(ranges.get(url) ?? []), ...functions.flatMap((each) => each.ranges)]);
  }
  await rm(coverage, { recursive: true, force: true });
  if (!isGood) say(`LEFT OUT, as it fails without a change: ${test}`);
  return isGood
    ? {
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
      }
    : undefined;
}

/** As long as the tests of one change may take together, as they took without it; the two nearest are run anyhow. */
const patienceMs = 25_000;

/** What fails soonest comes first: what missed the defence before this one, then the nearest, then the quickest. */
const inOrder = (source: string, baselines: readonly Baseline[], last: string | undefined): Baseline[] => {
  const nearness = ({ test }: Baseline): number => {
    if (test === last) return Infinity;
    if (test === source.replace(/\.ts$/, '.test.ts')) return 100;
    const folders = dirname(source).split('/');
    return folders.filter((_, at) => test.startsWith(`${folders.slice(0, at + 1).join('/')}/`)).length;
  };
  let spentMs = 0;
  return baselines
    .toSorted((a, b) => nearness(b) - nearness(a) || a.ms - b.ms)
    .filter(({ ms }, at) => {
      spentMs += ms;
      return at < 2 || spentMs < patienceMs;
    });
};

/** @returns the test file that misses the defence; undefined when none does. */
async function kill(
  workshop: Workshop,
  source: string,
  { start, end, replacement }: Mutant,
  baselines: readonly Baseline[],
  last: string | undefined,
): Promise<string | undefined> {
  const path = join(workshop.tree, source);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.slice(0, start) + replacement + text.slice(end));
  try {
    for (const { test, ms } of inOrder(source, baselines, last))
      if (!(await passes(workshop, test, { ms: ms * 3 + 15_000 }))) return test;
    return undefined;
  } finally {
    await writeFile(path, text);
    await tidy(workshop);
  }
}

async function tryRoom(name: string, { sources, tests }: Room, only: readonly string[]): Promise<string[]> {
  const workshops = [await openWorkshop(), ...(isOneAtATime ? [] : [await openWorkshop()])];
  const survivors: string[] = [];
  try {
    const baselines: Baseline[] = [];
    const files = (await find(named.length > 0 ? named : tests))[Symbol.iterator]();
    const takeAll = async (workshop: Workshop): Promise<void> => {
      for (const test of files) {
        const baseline = await takeBaseline(workshop, test);
        if (baseline) baselines.push(baseline);
      }
    };
    await Promise.all(workshops.map(takeAll));
    const paths = (await find(sources)).filter(
      (path) => isDefended(path) && (only.length === 0 || only.includes(path)),
    );
    const work: { source: string; mutant: Mutant }[] = [];
    for (const source of paths)
      for (const mutant of listMutants(source, await readFile(join(home, source), 'utf8')))
        work.push({ source, mutant });
    say(`${name}: ${work.length} defences, ${baselines.length} test files`);
    const queue = work[Symbol.iterator]();
    const tryAll = async (workshop: Workshop): Promise<void> => {
      let last: string | undefined;
      for (const { source, mutant } of queue) {
        const running = baselines.filter((each) => each.runs(source, mutant.start));
        const killer = await kill(workshop, source, mutant, running, last);
        last = killer ?? last;
        const place = `${source}:${mutant.line} ${mutant.what}`;
        if (killer === undefined)
          survivors.push(`${place}${running.length === 0 ? ' (no test comes here)' : ''}`);
        say(
          `${killer === undefined ? 'SURVIVES' : 'killed'}  ${place}${killer === undefined ? '' : `  by ${killer}`}`,
        );
      }
    };
    await Promise.all(workshops.map(tryAll));
    say(
      `\n${name}: ${work.length} defences, ${work.length - survivors.length} missed by a test, ${survivors.length} by none\n`,
    );
  } finally {
    await Promise.all(workshops.map(closeWorkshop));
  }
  return survivors;
}

// Each copy has a server of its own.
delete process.env['TEST_DATABASE_URL'];
const isOneAtATime = process.argv.includes('--one');
const given = process.argv.slice(2).filter((word) => word !== '--one');
const named = given.filter((word) => word.endsWith('.test.ts'));
const paths = given.filter((word) => word.includes('/') && !named.includes(word));
const isOf = ({ sources }: Room): Promise<boolean> =>
  find(sources).then((found) => paths.some((path) => found.includes(path)));
const survivors: string[] = [];
for (const [name, room] of Object.entries(rooms))
  if (given.length === 0 || given.includes(name) || (await isOf(room)))
    survivors.push(...(await tryRoom(name, room, given.includes(name) ? [] : paths)));
say(survivors.join('\n'));
