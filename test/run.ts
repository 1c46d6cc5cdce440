import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, dearest } from './cost.ts';
import { endWithSignals } from './end-run.ts';
import { sortUnits, writeRunners } from './groups.ts';
import { findLeftClusters } from './left-clusters.ts';
import { keepFilesInMemory } from './memory.ts';
import { findLoggedSecrets } from './secrets.ts';
import { openTestServer } from './server.ts';

/*
 * npm test                       everything: types, lint, format, and the tests on a real PostgreSQL and
 *                                browser, without what test/long.ts runs
 * npm test -- <files…>           only these test files
 * npm run test:long -- external  the tests, on the PostgreSQL at TEST_DATABASE_URL
 *
 * TEST_COSTS=30  prints the 30 test files that used the most CPU
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const files = process.argv.slice(2);
const started = Date.now();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

function run(
  command: string,
  parameters: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: home, env: environment, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/**
 * The compiler and the linter are Go programs that run side by side on two cores. Each uses one thread,
 * because several threads infer types repeatedly. Each collects garbage at four times the live memory (2 GB
 * at most) instead of one. This takes 32 s of CPU instead of 41.
 */
const frugal: NodeJS.ProcessEnv = { GOMAXPROCS: '1', GOGC: '400', ...process.env };

/** Runs a step of the checks and returns whether it succeeded. */
async function step(name: string, command: string, parameters: readonly string[]): Promise<boolean> {
  const since = Date.now();
  const isGood = (await run(command, parameters, frugal)) === 0;
  say(isGood ? `✔ ${name} (${seconds(since)})` : `✖ ${name}`);
  return isGood;
}

const tool = (name: string): string => join(home, 'node_modules', '.bin', name);

/** The path of the package, because npm's `.bin/tsc` may be the version of the code generators. */
const compiler = join(home, 'node_modules', 'typescript', 'bin', 'tsc');

/** Type-checks a project incrementally: only what changed and what depends on it. */
const checkTypes = (name: string, project: string): Promise<boolean> => {
  const found = join(home, 'node_modules', '.cache', `${name}.tsbuildinfo`);
  const kept = ['--incremental', '--tsBuildInfoFile', found];
  return step(name, process.execPath, [compiler, '--noEmit', '--singleThreaded', ...kept, '-p', project]);
};

/**
 * Runs the checks before the tests. The linter takes a third longer than the rest on one of two cores, so it
 * runs on beside the first tests.
 */
async function checkUp(): Promise<{ isGood: boolean; linted: Promise<boolean> }> {
  const linted = step('lint', tool('oxlint'), ['--type-aware', '--quiet']);
  const checks = await Promise.all([
    checkTypes('types', '.'),
    checkTypes('types of web', 'web'),
    step('format', tool('biome'), ['check', '--log-level=error']),
    step('compiled', process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(home, 'test', 'compile.ts'),
    ]),
  ]);
  return { isGood: checks.every(Boolean), linted };
}

let removeFiles = (): void => {};
endWithSignals(() => removeFiles());

// The named files must exist, because node --test runs all tests if the list is empty.
const absent = files.filter((file) => globSync(file, { cwd: home }).length === 0);
if (absent.length > 0) {
  say(`✖ no such test: ${absent.join(', ')}`);
  process.exit(1);
}
const checks = files.length === 0 ? await checkUp() : { isGood: true, linted: Promise.resolve(true) };
if (!checks.isGood) {
  await checks.linted;
  process.exit(1);
}

const since = Date.now();
removeFiles = keepFilesInMemory();
const server = await openTestServer(say);
const logs = await mkdtemp(join(tmpdir(), 'formloom-logs-'));
const environment: NodeJS.ProcessEnv = { ...process.env, ...server.environment, TEST_LOGS: logs };
say(`✔ database (${seconds(since)})`);
const chosen = globSync(files.length > 0 ? files : ['{src,web,test}/**/*.test.ts'], { cwd: home });
const timeoutMs = Number(process.env['TEST_TIMEOUT_MS'] ?? 120_000);
/**
 * Three more than there are cores, because tests often wait for a browser, a lease or a receiver. With four,
 * a tenth of the CPU was idle.
 */
const processes = 5;
const code = await run(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    // Most of what a test allocates is garbage by the next collection: 39 s of CPU instead of 43 for six
    // files (one round, a busy machine).
    '--max-semi-space-size=64',
    // Loaded modules are kept. With a small initial space they would be copied repeatedly, a tenth of the CPU
    // of five folders.
    '--min-semi-space-size=16',
    // The same flag as in setup.mjs.
    '--preserve-symlinks',
    '--test',
    `--test-concurrency=${processes}`,
    `--test-timeout=${timeoutMs}`,
    ...(await writeRunners(await sortUnits(chosen), {
      processes,
      directory: logs,
      timeoutMs: 10 * timeoutMs,
    })),
  ],
  environment,
);
await server.close();
const { lines, secrets, found } = await findLoggedSecrets(logs);
const costs = await dearest(logs, Number(process.env['TEST_COSTS'] ?? 0));
await rm(logs, { recursive: true });
removeFiles();
const left = await findLeftClusters(home, started);
for (const each of left) say(`✖ a test left its database in ${each}`);
for (const each of found.slice(0, 20)) say(`  ${each}`);
if (files.length === 0 && (lines === 0 || secrets === 0)) found.push('nothing was logged');
say(`${found.length === 0 ? '✔' : '✖'} no secret in the logs (${secrets} secrets, ${lines} lines)`);
for (const each of costs) say(each);
const isGood = (await checks.linted) && code === 0 && found.length === 0 && left.length === 0;
const took = `${seconds(started)}, ${cpuSeconds().toFixed(0)} s of CPU`;
say(isGood ? `Everything passed in ${took}.` : `Something failed, after ${took}.`);
process.exit(isGood ? 0 : code || 1);
