import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWithSignals } from './end-run.ts';

/*
 * npm run test:long                     lists the suites that take or need too much for npm test
 * npm run test:long -- <suite> [args…]  runs one suite; its arguments replace those of the table
 */
export type LongSuite = {
  summary: string;
  /** What to install or set first. */
  needs?: string;
  /** Environment variables that are already set take precedence. */
  environment?: Readonly<Record<string, string>>;
  /** The script to run. Default: test/run.ts. */
  script?: string;
  /** Default arguments of the script. For test/run.ts and test/external.ts these are test files. */
  files?: readonly string[];
};

/** npm test runs a slice of these tests. test/cases.ts reads the variable. */
const full = { TEST_CASES: 'full' };

export const suites: Readonly<Record<string, LongSuite>> = {
  backup: {
    summary:
      'Backups under load, each restored, and kill -9 during a backup, a restore and a move. `backup 5`: rounds.',
    script: 'test/nightly/backup-rounds.ts',
  },
  browsers: {
    summary:
      'A whole form with and without JavaScript, the builder, the table, an embedded form, touch, print and passkeys in Firefox and in WebKitGTK.',
    needs: 'Debian: firefox-esr, and webkit2gtk-driver with xvfb. An engine that is missing is skipped',
    environment: { TEST_TIMEOUT_MS: '180000' },
    files: ['test/browsers/browsers.ts'],
  },
  cells: {
    summary:
      'The service on three cells. With CITUS_URL also on a Citus cluster: moves, backups and a lost node under load.',
    needs: 'CITUS_URL (docs/operating/cells.md) for the cluster',
    script: 'test/cells.ts',
  },
  commands: {
    summary:
      'kill -9 of each command that creates a cell, changes keys or changes the storage. `commands 6`: rounds.',
    script: 'test/nightly/command-rounds.ts',
  },
  document: {
    summary:
      'Every operation of the OpenAPI document, the rules and generators of other tools, its page and the client.',
    environment: full,
    files: [
      'src/app/openapi/openapi.test.ts',
      'src/app/openapi/tools.test.ts',
      'src/webhooks/payload.test.ts',
      'test/client.test.ts',
      'test/flows/api-docs.browser.test.ts',
    ],
  },
  environments: {
    summary:
      'A start, a submission and a stop with other versions of Node and npm, languages, users, paths and outputs.',
    environment: { ...full, TEST_TIMEOUT_MS: '7200000' },
    files: [
      'test/nightly/environments.ts',
      'test/flows/environment.test.ts',
      'src/kit/log-output.test.ts',
      'test/deploy.test.ts',
      'test/setup.test.ts',
    ],
  },
  exhaustive: {
    summary:
      'Every limit of uploaded files, every backup, restore and move, and every fault of a receiver. npm test checks one of each kind.',
    environment: full,
    files: [
      'src/search/summary.test.ts',
      'src/backup/**/*.test.ts',
      'src/forms/{images,import}/*.test.ts',
      'src/forms/whole-endpoints.test.ts',
      'src/kit/storage/*.test.ts',
      'src/page/steps.test.ts',
      'src/submissions/changes/remove-form.test.ts',
      'src/submissions/import/*.test.ts',
      'test/faults/*.test.ts',
    ],
  },
  external: {
    summary: 'The tests of npm test on PostgreSQL 15, and those that need a Valkey or OpenStack Swift.',
    needs: 'Debian: postgresql-15, valkey-server or redis-server, and the packages of `nodes`',
    script: 'test/external.ts',
  },
  failover: {
    summary: 'A database of two machines, run by Patroni, loses its primary under load.',
    needs: 'Linux, and from Debian: patroni, etcd-server, haproxy, postgresql-15',
    files: ['test/nightly/failover.ts'],
  },
  faults: {
    summary:
      'The fault matrix of webhooks, with 1,000 events for each fault, in three minutes. `faults 200`: events.',
    script: 'test/nightly/faults.ts',
  },
  full: {
    summary: '10,000 submits at once to a form with a response limit of 1,000. `full 2000`: submits.',
    script: 'test/nightly/full-form.ts',
  },
  guides: {
    summary: 'Every command of the README, the guides and the pages for operators, as written.',
    environment: full,
    files: ['test/flows/tour.test.ts', 'test/handbook.test.ts', 'test/operations.test.ts'],
  },
  image: {
    summary:
      'The image of deploy/Containerfile and a release are made, installed and served, without a container.',
    needs: 'root, on Linux',
    script: 'test/nightly/image.ts',
  },
  kill: {
    summary: 'kill -9 of every process under load and during imports. `kill 5`: rounds.',
    environment: full,
    script: 'test/nightly/kill-rounds.ts',
  },
  lists: {
    summary: '100,000 submissions are read page by page while others submit and delete.',
    files: ['test/nightly/read-all.ts'],
  },
  mail: {
    summary: 'Imports of 10,000 invitations and their emails under kill -9.',
    environment: full,
    files: [
      'test/nightly/invitations-kill.ts',
      'test/flows/mail-kill.test.ts',
      'src/invitations/endpoints.test.ts',
    ],
  },
  memory: {
    summary: 'One process and two, under load in groups of 512 MB and 1 GB. `memory 60`: seconds of load.',
    needs: 'root, on Linux',
    script: 'test/nightly/memory-rounds.ts',
  },
  mutations: {
    summary:
      'Removes the defences one by one and lists the removals that no test notices. `mutations queue`: one room. Hours.',
    script: 'test/nightly/mutations.ts',
  },
  nodes: {
    summary:
      'Two machines on one database with S3 and a Valkey: files, sessions, limits and restarts under load.',
    needs:
      'Debian: valkey-server or redis-server, swift-account, swift-container, swift-object, swift-proxy, memcached',
    script: 'test/external.ts',
    files: ['test/flows/nodes.external.ts', 'test/kit/s3-storage.external.ts'],
  },
  processes: {
    summary:
      'Servers, processes, commands, tasks and the embedded database, restarted and killed in every way.',
    environment: full,
    files: [
      'src/app/cli/*.test.ts',
      'src/app/server/full-disk.test.ts',
      'src/kit/embedded-postgres/*.test.ts',
      'src/kit/processes/supervisor.test.ts',
      'test/end-run.test.ts',
      'test/mcp.test.ts',
      'test/not-run.test.ts',
      'test/flows/bulk-kill.test.ts',
      'test/flows/import-kill.test.ts',
      'test/flows/npm-stop.test.ts',
      'test/flows/unexpected-error.test.ts',
      'test/flows/reindex-kill.test.ts',
      'test/flows/restart.test.ts',
      'test/flows/web-processes.test.ts',
      'test/flows/two-processes.test.ts',
      'test/faults/workers.test.ts',
    ],
  },
  properties: {
    summary: 'Every property with its full number of random cases. npm test tries an eighth of them.',
    environment: { ...full, TEST_TIMEOUT_MS: '1800000' },
    files: [
      'src/ast/**/*.test.ts',
      'src/forms/round-trip.test.ts',
      'src/search/filter/filter.test.ts',
      'src/kit/json-body.test.ts',
      'src/submissions/import/moments.test.ts',
      'src/submissions/import/round-trip.test.ts',
      'src/mail/injection.test.ts',
      'test/hostile.test.ts',
      'test/flows/page-script-logic.browser.test.ts',
    ],
  },
  recipes: {
    summary:
      'The recipes of docs/recipes.md compile, together and each alone. npm test applies all at once and runs their tests.',
    environment: { ...full, TEST_TIMEOUT_MS: '1800000' },
    files: ['test/recipes.test.ts'],
  },
  screens: {
    summary:
      'Every test of a screen or page, in every look. npm test shows each screen in one look by turns.',
    environment: full,
    files: ['{src,test}/**/*.browser.test.ts'],
  },
  security: {
    summary:
      '100,000 requests drawn from the OpenAPI document, and every test of permissions and outbound addresses.',
    environment: { ...full, FUZZ_REQUESTS: '100000', TEST_TIMEOUT_MS: '7200000' },
    files: [
      'test/fuzz.test.ts',
      'test/hostile.test.ts',
      'src/app/operations/api.test.ts',
      'src/app/operations/conventions.test.ts',
      'src/kit/outbound/address-guard.test.ts',
      'src/kit/outbound/outbound.test.ts',
      'src/workspaces/same-work.test.ts',
      'test/faults/names.test.ts',
    ],
  },
  slow: {
    summary: 'The slowest requests that we know, and how long each blocks the event loop of a server.',
    files: [
      'test/nightly/slow-requests.ts',
      'test/nightly/slow-operations.ts',
      'test/nightly/slow-bodies.ts',
    ],
  },
  stop: {
    summary: 'SIGTERM to npm start under load, in each of its ways. `stop 5`: rounds.',
    script: 'test/nightly/stop-rounds.ts',
  },
  upgrade: {
    summary:
      'The previous version and this one serve one database under load; two nodes are restarted one by one.',
    needs: 'valkey-server or redis-server; UPGRADE_FROM=<commit> names the previous version',
    files: ['test/nightly/upgrade.ts'],
  },
};

const home = fileURLToPath(new URL('..', import.meta.url));

function describeSuites(): string {
  const width = Math.max(...Object.keys(suites).map((name) => name.length));
  const lines = Object.entries(suites).flatMap(([name, { summary, needs }]) => [
    `${name.padEnd(width)}  ${summary}`,
    ...(needs === undefined ? [] : [`${' '.repeat(width)}  Needs ${needs}.`]),
  ]);
  return ['Usage: npm run test:long -- <suite> [arguments]', '', ...lines, ''].join('\n');
}

async function runSuite(suite: LongSuite, given: readonly string[]): Promise<number> {
  endWithSignals();
  const words = [suite.script ?? 'test/run.ts', ...(given.length > 0 ? given : (suite.files ?? []))];
  const child = spawn(process.execPath, [...process.execArgv, ...words], {
    cwd: home,
    stdio: 'inherit',
    env: { ...suite.environment, ...process.env },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

if (import.meta.main) {
  const [name, ...given] = process.argv.slice(2);
  const suite = name === undefined ? undefined : suites[name];
  if (suite) process.exitCode = await runSuite(suite, given);
  else {
    const problem = name === undefined ? '' : `There is no suite "${name}".\n`;
    process.stdout.write(problem + describeSuites());
    process.exitCode = name === undefined ? 0 : 1;
  }
}
