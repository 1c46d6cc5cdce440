import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '#kit/config.ts';
import { diskStorage } from '#kit/disk-storage.ts';
import { openLog } from '#kit/log.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { readArchive } from '../archive.ts';
import { backUpWhenDue } from './back-up-when-due.ts';

const { database } = await testDatabase();
const home = await mkdtemp(join(tmpdir(), 'formloom-schedule-'));
after(() => rm(home, { recursive: true }));
const log = openLog('silent');

const contextOf = (environment: Record<string, string>) => {
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: '0f'.repeat(32), ...environment });
  const storage = diskStorage(join(home, 'bucket'), 0);
  return { database, storage, log, version: '1', config };
};

test('without a schedule none is made', async () => {
  assert.equal(await backUpWhenDue(contextOf({})), undefined);
});

test('of several processes one makes the backup of a moment; those beyond the number kept are removed', async () => {
  const to = join(home, 'nightly');
  // Each second is a moment of its own, so that three are due in three seconds.
  const context = contextOf({ BACKUP_SCHEDULE: '* * * * * *', BACKUP_KEEP: '2', BACKUP_TO: to });
  const names = new Set<string>();
  while (names.size < 3) {
    const made = await Promise.all([1, 2, 3].map(() => backUpWhenDue(context)));
    for (const name of made.filter((each) => each !== undefined)) {
      assert.ok(!names.has(name), `${name} was made twice`);
      names.add(name);
    }
  }
  const kept = await readdir(to);
  assert.equal(kept.length, 2);
  for (const name of kept) assert.ok(names.has(name));
  const entries: string[] = [];
  for await (const { name, body } of readArchive(join(to, kept[0]!), undefined)) {
    entries.push(name);
    await body.resume().toArray();
  }
  assert.ok(entries.includes('secret.key') && entries.at(-1) === 'ending.json');
});

test('to object storage it is sealed where a passphrase is set, and leaves nothing on the disk, nor does one that was killed', async () => {
  const spool = join(home, 'spool', 'backups');
  await mkdir(spool, { recursive: true });
  for (const left of ['formloom-2026-01-01.backup', 'made-formloom-2026-01-02.backup.part'])
    await writeFile(join(spool, left), 'cut off');
  const name = await backUpWhenDue(
    contextOf({
      BACKUP_SCHEDULE: '0 3 * * *',
      BACKUP_TO: 's3',
      BACKUP_PASSPHRASE: 'correct horse',
      S3_ENDPOINT: 'http://127.0.0.1:1/bucket',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    }),
  );
  const path = join(home, 'bucket', 'backups', name!);
  await assert.rejects(readArchive(path, undefined).next(), /takes its passphrase/);
  const entries = readArchive(path, 'correct horse');
  assert.equal((await entries.next()).value?.name, 'manifest.json');
  await entries.return(undefined);
  assert.deepEqual(await readdir(join(home, 'spool')), []);
});

test('one that cannot be made says why, is tried again at the next moment, and is in no way of it', async () => {
  const context = contextOf({
    BACKUP_SCHEDULE: '* * * * * *',
    BACKUP_TO: join(home, 'bucket', 'backups', 'no-folder'),
  });
  const { rows: before } = await database.query('select from backups where problem is not null');
  const config = { ...context.config, backup: { ...context.config.backup!, to: '/dev/null/folder' } };
  // Nothing is due in the second in which the one before was made.
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
