import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { sharedDirectory } from '#kit/embedded-postgres/create-cluster.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { openBucket } from '#kit/storage/open-storage.ts';
import { isSlice } from '#test/cases.ts';
import { command } from '#test/command-line.ts';
import { testDatabase } from '#test/database.ts';
import { openS3Server } from '#test/s3-server.ts';
import { until } from '#test/service.ts';

const home = await mkdtemp(join(tmpdir(), 'formloom-backup-command-'));
// Lets the PostgreSQL user enter; otherwise its database is elsewhere and outlives this folder.
await chmod(home, 0o755);
after(() => rm(home, { recursive: true, force: true }));
const path = (name: string): string => join(home, name);

/** Runs a command on the given instance, and returns its answer or complaint. */
async function formloom(
  { url, dataDir, ...more }: { url: string; dataDir: string; [variable: string]: string },
  ...args: string[]
) {
  const environment = { DATABASE_URL: url, DATA_DIR: dataDir, UPLOAD_FREE_MB: '16', ...more };
  const { code, complaint, answer } = await command(environment, ...args);
  return { code, complaint, answer: (answer ?? {}) as object };
}

const source = { url: (await testDatabase()).url, dataDir: path('source') };
await formloom(source, 'workspace', 'create', 'Acme');
await writeFile(path('passphrase'), 'correct horse battery\n');

test('backup and restore move an instance with its key, and report what they moved', async () => {
  const backup = await formloom(source, 'backup', path('one.backup'));
  assert.equal(backup.code, 0, backup.complaint);
  const other = { url: (await testDatabase({ isEmpty: true })).url, dataDir: path('other') };
  const restored = await formloom(other, 'restore', path('one.backup'));
  assert.equal(restored.code, 0, restored.complaint);
  assert.equal((restored.answer as { rows: number }).rows, (backup.answer as { rows: number }).rows);
  const { answer } = await formloom(other, 'workspace', 'list');
  assert.deepEqual(answer, (await formloom(source, 'workspace', 'list')).answer);
  const keys = [source, other].map(({ dataDir }) => readFile(join(dataDir, 'secret.key'), 'utf8'));
  assert.equal(await keys[1], await keys[0]);
  const again = await formloom(other, 'restore', path('one.backup'));
  assert.deepEqual([again.code, again.answer], [1, {}]);
  assert.match(again.complaint, /in use/);
});

test('one workspace is restored into another instance, which keeps its own workspaces', async () => {
  const { answer: created } = await formloom(source, 'workspace', 'create', 'Moves');
  const { id } = created as { id: string };
  const backedUp = await formloom(source, 'backup', path('moves.backup'), '--workspace', id);
  assert.equal(backedUp.code, 0, backedUp.complaint);
  const key = await readFile(join(source.dataDir, 'secret.key'), 'utf8');
  const other = { url: (await testDatabase()).url, dataDir: path('of-workspace'), SECRET_KEY: key.trim() };
  await formloom(other, 'workspace', 'create', 'Stays');
  const restored = await formloom(other, 'restore', path('moves.backup'));
  assert.equal(restored.code, 0, restored.complaint);
  const { workspace, name } = restored.answer as { workspace: string; name: string };
  assert.deepEqual([workspace, name], [id, 'Moves']);
  const { data } = (await formloom(other, 'workspace', 'list')).answer as { data: { name: string }[] };
  assert.deepEqual(data.map((each) => each.name).toSorted(), ['Moves', 'Stays']);
  const again = await formloom(other, 'restore', path('moves.backup'));
  assert.deepEqual([again.code, again.answer], [1, {}]);
  assert.match(again.complaint, /exists in this instance/);
});

test('a backup in the bucket is restored by its name on an empty machine, and no other copy is left', {
  skip: isSlice,
}, async () => {
  const { settings, environment: bucket } = await openS3Server();
  await formloom(source, 'backup', path('sent.backup'));
  for (const key of ['backups/monday.backup', 'backups/tuesday.backup', 'a/form'])
    await openBucket(settings).send(key, path('sent.backup'));
  const other = { url: (await testDatabase({ isEmpty: true })).url, dataDir: path('of-bucket'), ...bucket };
  const lost = await formloom(other, 'restore', 's3:sunday.backup');
  assert.match(lost.complaint, /no backup sunday\.backup\. It has tuesday\.backup, monday\.backup\./);
  const which = await formloom(other, 'restore', 's3:');
  assert.match(
    which.complaint,
    /Name a backup, as in s3:<name>\. The bucket has tuesday\.backup, monday\.backup\./,
  );
  assert.match((await formloom(source, 'restore', 's3:monday.backup')).complaint, /S3_ENDPOINT/);
  const restored = await formloom(other, 'restore', 's3:monday.backup');
  assert.equal(restored.code, 0, restored.complaint);
  assert.deepEqual(await formloom(other, 'workspace', 'list'), await formloom(source, 'workspace', 'list'));
  assert.deepEqual(await readdir(join(other.dataDir, 'spool')), []);
});

test("a copy restored onto an instance's bucket takes over the files; the original reports it, does not start, and can reclaim them", {
  skip: isSlice,
}, async () => {
  const { environment: bucket } = await openS3Server();
  const original = { ...source, ...bucket };
  assert.equal((await formloom(original, 'storage', 'replace')).code, 0);
  await formloom(original, 'backup', path('shared.backup'));
  const copy = { url: (await testDatabase({ isEmpty: true })).url, dataDir: path('shared'), ...bucket };
  const restored = await formloom(copy, 'restore', path('shared.backup'));
  assert.equal(restored.code, 0, restored.complaint);
  const storageOf = async (instance: typeof copy) => {
    const { answer } = await formloom(instance, 'doctor');
    const { data } = answer as { data: { check: string; finding: string }[] };
    return data.find(({ check }) => check === 'storage')!.finding;
  };
  const lies = /^Files are stored in /;
  const isTaken =
    /A restored copy of the instance may also have taken over the files.* stop the copy.*storage replace/s;
  assert.match(await storageOf(copy), lies);
  assert.match(await storageOf(original), isTaken);
  assert.equal((await formloom(original, 'storage', 'replace')).code, 0);
  assert.match(await storageOf(original), lies);
  assert.match(await storageOf(copy), isTaken);
});

test('`restore` and `move` reject a database on which the service would not start', async () => {
  const { url } = await testDatabase({ isEmpty: true });
  const readOnly = `${url}${url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only=on`;
  await formloom(source, 'backup', path('homeless.backup'));
  for (const refused of [
    await formloom({ url: readOnly, dataDir: path('homeless') }, 'restore', path('homeless.backup')),
    await formloom(source, 'move', '--to', readOnly),
  ]) {
    assert.deepEqual([refused.code, refused.answer], [1, {}]);
    assert.match(refused.complaint, /The database is read-only.*reset default_transaction_read_only/);
  }
});

test('`move` moves the database there and back; the old location no longer starts unless `--stay` keeps it', {
  skip: isSlice,
}, async () => {
  const other = { url: (await testDatabase()).url, dataDir: source.dataDir };
  const embedded = { url: '', dataDir: source.dataDir };
  const list = async (instance: typeof other) => formloom(instance, 'workspace', 'list');
  const before = (await list(source)).answer;
  const password = URL.parse(other.url)!.password;
  const moved = await formloom(source, 'move', '--to', other.url);
  assert.equal(moved.code, 0, moved.complaint);
  assert.ok(password === '' || !JSON.stringify(moved.answer).includes(password));
  assert.deepEqual((await list(other)).answer, before);
  const refused = await list(source);
  assert.deepEqual([refused.code, refused.answer], [1, {}]);
  assert.match(refused.complaint, /was moved to PostgreSQL at .* Set DATABASE_URL to that database/s);
  const own = await formloom(other, 'move', '--to', 'embedded');
  assert.equal(own.code, 0, own.complaint);
  assert.match(JSON.stringify(own.answer), /Embedded PostgreSQL in [^"]*source.postgres"/);
  assert.deepEqual((await list(embedded)).answer, before);
  const back = await formloom(embedded, 'move', '--to', source.url);
  assert.equal(back.code, 0, back.complaint);
  assert.deepEqual((await list(source)).answer, before);
  const stayed = await formloom(other, 'move', '--stay');
  assert.equal(stayed.code, 0, stayed.complaint);
  assert.deepEqual(Object.keys(stayed.answer), ['stayed', 'was_moved_to']);
  assert.deepEqual((await list(other)).answer, before);
  for (const wrong of [['--to', 'somewhere'], [], ['--stay', '--to', other.url]])
    assert.equal((await formloom(source, 'move', ...wrong)).code, 2, wrong.join(' '));
  assert.equal((await formloom(embedded, 'move', '--to', 'embedded')).code, 2);
});

/** Sets another temporary folder until the test ends. */
async function keepTemporary(t: TestContext, name: string, mode: number): Promise<string> {
  await mkdir(path(name), { mode });
  const before = process.env['TMPDIR'];
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  return (process.env['TMPDIR'] = path(name));
}

/** Lists what checks leave in the shared folder, which root uses because other users must reach it. */
const listShared = async (): Promise<string[]> =>
  existsSync(sharedDirectory)
    ? (await readdir(sharedDirectory)).filter((name) => name.startsWith('formloom-restore'))
    : [];

test('a sealed backup is checked in a temporary database, with its passphrase alone', {
  skip: isSlice,
}, async (t) => {
  const shared = await listShared();
  const temporary = await keepTemporary(t, 'closed', 0o700);
  const sealed = ['--passphrase-file', path('passphrase')];
  await formloom(source, 'backup', path('sealed.backup'), ...sealed);
  const refused = await formloom(source, 'restore', path('sealed.backup'), '--check');
  assert.match(refused.complaint, /is encrypted\. Pass its passphrase/);
  const before = await readdir(source.dataDir);
  const tried = await formloom(source, 'restore', path('sealed.backup'), '--check', ...sealed);
  assert.equal(tried.code, 0, tried.complaint);
  assert.ok((tried.answer as { rows: number }).rows > 0);
  assert.deepEqual(await readdir(source.dataDir), before);
  // As root, PostgreSQL runs as a user who cannot enter this folder.
  assert.deepEqual([await readdir(temporary), await listShared()], [[], shared]);
});

test('a check stops and removes what an earlier, killed check left behind', {
  skip: isSlice,
}, async (t) => {
  const temporary = await keepTemporary(t, 'open', 0o755);
  // No process writes into the pipe, so the check waits with its database running.
  await promisify(execFile)('mkfifo', [path('endless.backup')]);
  const args = [
    '--disable-warning=ExperimentalWarning',
    'dist/service/cli.js',
    'restore',
    path('endless.backup'),
    '--check',
  ];
  const check = spawn(process.execPath, args, { stdio: 'ignore' });
  const ended = once(check, 'exit');
  t.after(() => check.kill('SIGKILL'));
  const cluster = await until('its database', async () => {
    const [dataDir] = await readdir(temporary);
    const place = join(temporary, dataDir ?? '', 'postgres');
    return (await findPostmaster(place))?.status === 'ready' && place;
  });
  check.kill('SIGKILL');
  await ended;
  assert.ok(await findPostmaster(cluster), 'PostgreSQL outlives it');
  assert.match((await formloom(source, 'restore', path('passphrase'), '--check')).complaint, /not a backup/);
  assert.equal(await findPostmaster(cluster), undefined);
  assert.deepEqual(await readdir(temporary), []);
});

test('errors name the file that cannot be written or read, and nothing is overwritten', async () => {
  await writeFile(path('there'), 'mine');
  for (const [args, why, expected = 1] of [
    [['backup', path('there')], /there already exists/],
    [['backup', path('no-folder/file')], /The folder .*no-folder does not exist\. Create it first/],
    [['restore', path('absent')], /absent/],
    [['restore', path('there')], /not a backup/],
    [['backup', path('x'), '--passphrase-file', path('absent')], /File not found: \S*absent\.$/, 2],
    [
      ['restore', path('there'), '--check', '--passphrase-file', path('absent')],
      /File not found: \S*absent\.$/,
      2,
    ],
  ] as const) {
    const { code, complaint } = await formloom(source, ...args);
    assert.equal(code, expected, complaint);
    assert.match(complaint, why);
  }
  const crowded = await formloom({ ...source, UPLOAD_FREE_MB: '1000000000' }, 'backup', path('crowded'));
  assert.deepEqual([crowded.code, crowded.answer], [1, {}]);
  assert.match(crowded.complaint, /UPLOAD_FREE_MB.*Free up space there/);
  assert.equal(await readFile(path('there'), 'utf8'), 'mine');
});
