import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { findPostgresAccount } from '#kit/embedded-postgres/machine.ts';
import { runProgram } from '#kit/embedded-postgres/program.ts';
import { endWithSignals } from './end-run.ts';
import { until } from './service.ts';
import { type External, end, makeDirectory, missingValkey, openValkey, start } from './valkey.ts';

/*
 * npm run test:long -- external
 * runs what npm test runs on a separate PostgreSQL, and the tests that need a Valkey.
 *
 * npm run test:long -- external <files…>
 * runs only these test files.
 *
 * The PostgreSQL is the one at TEST_DATABASE_URL. By default it is a new cluster of the Debian package
 * postgresql-15, the oldest version that Formloom supports. The Valkey is the one at VALKEY_TEST_URL. By
 * default it is this machine's valkey-server or redis-server.
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const postgresPrograms = '/usr/lib/postgresql/15/bin';
const node = [process.execPath, '--disable-warning=ExperimentalWarning'] as const;
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function openPostgres(): Promise<External> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined)
    return { url, description: 'PostgreSQL at TEST_DATABASE_URL', close: async () => {} };
  await access(join(postgresPrograms, 'postgres')).catch((cause: unknown) => {
    throw new Error(
      `There is no PostgreSQL 15 in ${postgresPrograms} (Debian: apt-get install postgresql-15). ` +
        'Install it, or name a server on which databases can be made: TEST_DATABASE_URL=postgres://…',
      { cause },
    );
  });
  // PostgreSQL refuses to run as root.
  const account = await findPostgresAccount();
  const directory = await makeDirectory(account);
  const initdb = [
    '--username=formloom',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ];
  await runProgram(join(postgresPrograms, 'initdb'), ['-D', directory, ...initdb], {
    account,
    purpose: 'make a database for the tests',
  });
  const settings = [
    'listen_addresses=',
    `unix_socket_directories=${directory}`,
    'fsync=off',
    'max_connections=200',
  ];
  const server = start(
    [join(postgresPrograms, 'postgres'), '-D', directory, ...settings.flatMap((setting) => ['-c', setting])],
    account,
  );
  const socketUrl = `postgres://formloom@localhost/postgres?host=${encodeURIComponent(directory)}`;
  const version = await until('PostgreSQL 15 to answer', () => askVersion(socketUrl));
  return {
    url: socketUrl,
    description: `PostgreSQL ${version}`,
    async close() {
      await end(server, 'SIGINT');
      await rm(directory, { recursive: true });
    },
  };
}

async function askVersion(url: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query<{ version: string }>("select current_setting('server_version') as version"))
      .rows[0]!.version;
  } catch {
    // It is still starting. The caller reports it if it never starts.
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs a script of this project and returns whether it succeeded. */
async function succeeds(
  parameters: readonly string[],
  environment: Record<string, string>,
): Promise<boolean> {
  const child = spawn(node[0], [node[1], ...parameters], {
    cwd: home,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function testOnPostgres(files: readonly string[]): Promise<boolean> {
  const postgres = await openPostgres();
  say(`✔ ${postgres.description}`);
  try {
    return await succeeds([join(home, 'test', 'run.ts'), ...files], { TEST_DATABASE_URL: postgres.url });
  } finally {
    await postgres.close();
  }
}

async function testOnValkey(files: readonly string[]): Promise<boolean> {
  const valkey = await openValkey();
  if (!valkey) {
    say(`NOT RUN, as ${missingValkey}: ${files.join(', ')}`);
    return false;
  }
  say(`✔ ${valkey.description}`);
  try {
    return await succeeds([join(home, 'test', 'run.ts'), ...files], { VALKEY_TEST_URL: valkey.url });
  } finally {
    await valkey.close();
  }
}

endWithSignals();
const isExternal = (file: string): boolean => file.endsWith('.external.ts');
const given = process.argv.slice(2);
const external =
  given.length > 0
    ? given.filter(isExternal)
    : await Array.fromAsync(glob('test/**/*.external.ts', { cwd: home }));
const others = given.filter((file) => !isExternal(file));
try {
  const onPostgres = (given.length > 0 && others.length === 0) || (await testOnPostgres(others));
  const onValkey = external.length === 0 || (await testOnValkey(external));
  say(onPostgres && onValkey ? 'Everything external passed.' : 'Something external failed.');
  process.exit(onPostgres && onValkey ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
