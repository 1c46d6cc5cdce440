import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { readConfig } from '#kit/config.ts';
import { openLog } from '#kit/log.ts';
import { openBucket } from '#kit/storage/open-storage.ts';
import { diskStorage } from '#kit/storage.ts';
import { isSlice } from '#test/cases.ts';
import { testDatabase } from '#test/database.ts';
import { openS3Server } from '#test/s3-server.ts';
import { until } from '#test/service.ts';
import { untilWaiting } from '#test/while-held.ts';
import { readArchive } from './archive.ts';
import { backUpWhenDue, sweepBackups } from './schedule.ts';

const { database } = await testDatabase();
const home = await mkdtemp(join(tmpdir(), 'formloom-schedule-'));
after(() => rm(home, { recursive: true }));
const log = openLog('silent');

const { settings, environment } = await openS3Server();
const toBucket = {
  BACKUP_TO: 's3',
  ...environment,
};

const contextOf = (environment: Record<string, string>) => {
  const config = readConfig({
    DATA_DIR: home,
    UPLOAD_FREE_MB: '16',
    SECRET_KEY: '0f'.repeat(32),
    ...environment,
  });
  const storage = diskStorage(join(home, 'bucket'), 0);
  return { database, storage, log, version: '1', config };
};

/** Makes the next scheduled backup. */
const makeNext = (context: Parameters<typeof backUpWhenDue>[0]): Promise<string> =>
  until('the next moment', () => backUpWhenDue(context));

test('without a schedule no backup is made', async () => {
  assert.equal(await backUpWhenDue(contextOf({})), undefined);
});

test('one of several processes makes each scheduled backup; backups beyond the number to keep are deleted', async () => {
  const to = join(home, 'nightly');
  // A backup is due every second, so three are due in three seconds.
  const context = contextOf({ BACKUP_SCHEDULE: '* * * * * *', BACKUP_KEEP: '2', BACKUP_TO: to });
  const names = new Set<string>();
  while (names.size < 3) {
    const results = await Promise.all([1, 2, 3].map(() => backUpWhenDue(context)));
    for (const name of results.filter((each) => each !== undefined)) {
      assert.ok(!names.has(name), `${name} was made twice`);
      names.add(name);
    }
  }
  const files = await readdir(to);
  assert.equal(files.length, 2);
  for (const name of files) assert.ok(names.has(name));
  const entries: string[] = [];
  for await (const { name, body } of readArchive(join(to, files[0]!), undefined)) {
    entries.push(name);
    await body.resume().toArray();
  }
  assert.ok(entries.includes('secret.key') && entries.at(-1) === 'ending.json');
});

test('a backup to object storage is sealed if a passphrase is set, and leaves nothing on disk, even from a killed one', {
  skip: isSlice,
}, async () => {
  const spool = join(home, 'spool');
  await mkdir(spool, { recursive: true });
  const killed = 'formloom-2026-01-01T03-00-00-000Z.backup';
  for (const name of [killed, `${killed}.part`]) await writeFile(join(spool, name), 'answers and the key');
  await database.query('delete from backups');
  await database.query(
    "insert into backups (due_at, name, begun_at) values ('2026-01-01T03:00Z', $1, now())",
    [killed],
  );
  const each = { ...toBucket, BACKUP_SCHEDULE: '* * * * * *', BACKUP_KEEP: '1' };
  await makeNext(contextOf(each));
  const name = await makeNext(contextOf({ ...each, BACKUP_PASSPHRASE: 'correct horse' }));
  assert.deepEqual(await readdir(spool), []);
  const bucket = openBucket(settings);
  assert.deepEqual(await bucket.list('backups/'), [`backups/${name}`]);
  const path = join(home, 'fetched');
  await writeFile(path, await buffer((await bucket.open(`backups/${name}`))!));
  await assert.rejects(readArchive(path, undefined).next(), /is encrypted\. Pass its passphrase/);
  const entries = readArchive(path, 'correct horse');
  assert.equal((await entries.next()).value?.name, 'manifest.json');
  await entries.return(undefined);
});

test('a backup that cannot be made records the reason, and does not prevent the next one', async () => {
  const context = contextOf({
    BACKUP_SCHEDULE: '* * * * * *',
    BACKUP_TO: join(home, 'bucket', 'backups', 'no-folder'),
  });
  const { rows: before } = await database.query('select from backups where problem is not null');
  const config = { ...context.config, backup: { ...context.config.backup!, to: '/dev/null/folder' } };
  // No backup is due in the second of the previous one.
  const rows = await until('the next moment', async () => {
    await backUpWhenDue({ ...context, config });
    const { rows } = await database.query<{ problem: string }>(
      'select problem from backups where problem is not null',
    );
    return rows.length > before.length && rows;
  });
  assert.equal(rows.length, before.length + 1);
  assert.match(rows.at(-1)!.problem, /ENOTDIR/);
});

/** A schedule whose time does not come during a test. */
const yearly = { BACKUP_SCHEDULE: '0 3 1 1 *', BACKUP_TO: join(home, 'yearly') };

const rows = async () =>
  (await database.query('select name, finished_at, bytes, problem from backups order by due_at')).rows;

/** Locks a table that a backup reads, and returns a function that unlocks it. */
async function holdTable(): Promise<() => Promise<void>> {
  const holder = await database.connect();
  await holder.query('begin; lock table announced in access exclusive mode');
  return async () => {
    await holder.query('rollback');
    holder.release();
  };
}

test('a backup that a stop interrupts ends immediately, leaves nothing, and is made by the next process', {
  timeout: 60_000,
}, async () => {
  await database.query('delete from backups');
  const context = contextOf(yearly);
  const letGo = await holdTable();
  const stop = new AbortController();
  const running = backUpWhenDue(context, stop.signal);
  await untilWaiting(database, 1);
  assert.equal((await readdir(yearly.BACKUP_TO)).length, 1);
  // Another process does not start it in the meantime.
  assert.equal(await backUpWhenDue(context), undefined);
  stop.abort();
  assert.equal(await running, undefined);
  assert.deepEqual([await readdir(yearly.BACKUP_TO), await rows()], [[], []]);
  await letGo();
  const name = await backUpWhenDue(context);
  assert.deepEqual(await readdir(yearly.BACKUP_TO), [name]);
});

test('a bucket that does not respond does not delay a stop', { timeout: 60_000 }, async () => {
  await database.query('delete from backups');
  const requested = Promise.withResolvers<void>();
  const silent = createServer(() => requested.resolve()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const stop = new AbortController();
  const endpoint = { ...toBucket, S3_ENDPOINT: `http://127.0.0.1:${port}/bucket` };
  const running = backUpWhenDue(contextOf({ ...yearly, ...endpoint }), stop.signal);
  await requested.promise;
  stop.abort();
  assert.equal(await running, undefined);
  assert.deepEqual([await readdir(join(home, 'spool')), await rows()], [[], []]);
  silent.closeAllConnections();
  silent.close();
});

test('an unreachable bucket is named in the error, and nothing is left on disk', {
  skip: isSlice,
}, async () => {
  await database.query('delete from backups');
  const away = { ...yearly, ...toBucket, S3_ENDPOINT: 'http://127.0.0.1:1/bucket' };
  await backUpWhenDue(contextOf(away));
  assert.match(
    (await rows())[0]!.problem,
    /^Files .* A request to the bucket at 127\.0\.0\.1:1\/bucket failed: .*bad port/,
  );
  assert.deepEqual(await readdir(join(home, 'spool')), []);
});

test('a killed or failed backup is retried after some minutes, and counts as failed until then', async () => {
  await database.query('delete from backups');
  await rm(yearly.BACKUP_TO, { recursive: true });
  const context = contextOf(yearly);
  const whole = await backUpWhenDue(context);
  await database.query('update backups set finished_at = null, bytes = null');
  await database.query(
    `insert into backups (due_at, name, begun_at) values ('2020-01-01T03:00Z', 'earlier', '2020-01-01T03:00Z')`,
  );
  const someMinutesLater = () =>
    database.query(`update backups set begun_at = begun_at - interval '11 minutes',
                                       finished_at = finished_at - interval '11 minutes'`);
  assert.equal(
    await backUpWhenDue(context),
    undefined,
    'what kills a process does not kill the next at once',
  );
  await someMinutesLater();
  const broken = { ...context.config.backup!, to: '/dev/null/folder' };
  assert.ok(await backUpWhenDue({ ...context, config: { ...context.config, backup: broken } }));
  const problems = async () => (await rows()).map(({ problem }) => problem as string | null);
  const [earlier, failed] = await problems();
  assert.equal(earlier, 'it was interrupted');
  assert.match(failed!, /ENOTDIR/);
  assert.equal(await backUpWhenDue(context), undefined);
  await someMinutesLater();
  const letGo = await holdTable();
  const running = backUpWhenDue(context);
  await untilWaiting(database, 1);
  assert.deepEqual(await problems(), [earlier, failed]);
  await letGo();
  const both = [whole, await running];
  assert.deepEqual((await readdir(yearly.BACKUP_TO)).toSorted(), both, 'what is whole is never replaced');
  assert.deepEqual(await problems(), [null]);
});

test("several servers with separate folders keep no more than BACKUP_KEEP backups, and leave other instances' backups alone", {
  skip: isSlice,
}, async () => {
  await database.query('delete from backups');
  await database.query(
    `insert into instance (key_fingerprint, storage_id) values ('a', '00000000-0000-0000-0000-0000a0b1c2d3')`,
  );
  const nodes = ['one', 'two'].map((name) => {
    const context = contextOf({ BACKUP_SCHEDULE: '* * * * * *', BACKUP_KEEP: '1' });
    return {
      ...context,
      config: { ...context.config, backup: { ...context.config.backup!, to: join(home, name) } },
    };
  });
  const others = [
    'formloom-2020-01-01T03-00-00-000Z.backup',
    'formloom-00000000-2020-01-01T03-00-00-000Z.backup',
  ];
  await mkdir(join(home, 'one'));
  for (const name of [...others, 'mine']) await writeFile(join(home, 'one', name), 'of somebody else');
  const killed = 'formloom-a0b1c2d3-2026-01-01T03-00-00-000Z.backup.part';
  await writeFile(join(home, 'one', killed), 'cut off');
  for (const node of [...nodes, nodes[0]!]) await makeNext(node);
  const last = await makeNext(nodes[1]!);
  await sweepBackups(nodes[0]!);
  assert.deepEqual((await readdir(join(home, 'one'))).toSorted(), [...others, 'mine'].toSorted());
  assert.deepEqual(await readdir(join(home, 'two')), [last]);
});

test('a backup with missing files is recorded as a problem, and does not replace a complete one', async () => {
  await database.query('delete from backups');
  const context = contextOf({
    BACKUP_SCHEDULE: '* * * * * *',
    BACKUP_KEEP: '1',
    BACKUP_TO: join(home, 'lacking'),
  });
  const whole = await makeNext(context);
  await database.query(
    `with workspace as (
       insert into workspaces (id, name, plan, created_at) values (gen_random_uuid(), 'A', 'free', now()) returning id),
     form as (
       insert into forms (workspace_id, id, name, description, status, settings, version, created_at, updated_at)
       select id, gen_random_uuid(), 'F', '', 'published', '{}', 1, now(), now() from workspace returning workspace_id, id)
     insert into files (workspace_id, id, form_id, element, filename, content_type, size, created_at)
     select workspace_id, gen_random_uuid(), id, 'file', unnest('{a,b}'::text[]), 'text/plain', 3, now() from form`,
  );
  const lacking = [await makeNext(context), await makeNext(context)];
  const found = await rows();
  assert.deepEqual(
    found.map(({ name, problem }) => [name, problem]),
    [
      [whole, null],
      [lacking[1], '2 files are missing or incomplete in storage'],
    ],
  );
  assert.deepEqual((await readdir(join(home, 'lacking'))).toSorted(), [whole, lacking[1]]);
  await database.query('delete from files');
  const again = await makeNext(context);
  assert.deepEqual(await readdir(join(home, 'lacking')), [again]);
});
