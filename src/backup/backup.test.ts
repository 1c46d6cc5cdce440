import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createCell } from '#cells/create-cell.ts';
import { type Database, openDatabase } from '#kit/database.ts';
import { claimStorage } from '#kit/instance-key.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { diskStorage } from '#kit/storage.ts';
import { element } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { testDatabase } from '#test/database.ts';
import { recordOldMigrations } from '#test/old-migrations.ts';
import { dial, standBefore } from '#test/relay.ts';
import { openService, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { untilWaiting } from '#test/while-held.ts';
import { readArchive, writeArchive } from './archive.ts';
import { BackupError, selectTables, startTableCopy } from './fill-table.ts';
import { makeBackup } from './make-backup.ts';
import { findMoveRecord, moveInstance, undoInstanceMove } from './move-instance.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';

const service = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { database, storage, vault } = service.services;
const home = await mkdtemp(join(tmpdir(), 'formloom-backup-'));
after(() => rm(home, { recursive: true }));
/** The instance key of test services. */
const key = '0f'.repeat(32);
await database.query('insert into instance (key_fingerprint) values ($1)', [vault.derive('fingerprint')[0]]);
const form = await makeForm(tenant, [element('text', 'a'), element('file_upload', 'file')]);

const backUp = (name: string, more: { key?: string } = { key }) =>
  makeBackup({ database, storage }, { path: join(home, name), version: '1', ...more });

/** Opens an empty instance. With `isNew` its database has no tables either. */
async function emptyInstance(more: { secretKey?: string; isNew?: boolean } = {}) {
  const { database: empty } = await testDatabase({
    isEmpty: more.isNew ?? false,
    name: 'formloom restore',
    pool: 2,
    limits: false,
  });
  const dataDir = await mkdtemp(join(home, 'data-'));
  const place = {
    database: empty,
    storage: diskStorage(join(dataDir, 'uploads'), 0),
    dataDir,
    secretKey: more.secretKey,
  };
  return {
    ...place,
    name: String((await empty.query('select current_database() as name')).rows[0].name),
    restore: (name: string, options: Partial<RestoreOptions> = {}, leastRoom = 0) =>
      restoreBackup(
        { ...place, storage: diskStorage(join(dataDir, 'uploads'), leastRoom) },
        { path: join(home, name), ...options },
      ),
  };
}

/** Returns a digest of every table. */
async function contents(db: Database): Promise<Record<string, string>> {
  const tables = await selectTables(db, { cells: [] });
  const found = tables.map(async ({ name }) => {
    const { rows } = await db.query<{ all: string }>(
      `select count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as all from ${name} t`,
    );
    return [name, rows[0]!.all] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

const isThere = async (db: Database, id: string): Promise<boolean> =>
  (await db.query('select from submissions where id = $1', [id])).rowCount === 1;

test('a backup contains every submission acknowledged before it began, with its file, whatever arrives meanwhile', async () => {
  const acknowledged: string[] = [];
  const load = { isOn: true };
  const send = async (): Promise<void> => {
    while (load.isOn) {
      const answer = await visitor.post(
        form.id,
        [
          ['a', 'word'],
          ['file', new File([`bytes ${acknowledged.length}`], 'a.txt', { type: 'text/plain' })],
        ],
        { headers: { Accept: 'application/json' } },
      );
      assert.equal(answer.status, 201);
      acknowledged.push(answer.body.id);
    }
  };
  const senders = [send(), send()];
  while (acknowledged.length < 10) await new Promise(setImmediate);
  const before = [...acknowledged];
  await claimStorage(database, { storage, place: 'here' });
  const made = await backUp('under-load');
  load.isOn = false;
  await Promise.all(senders);
  assert.ok(acknowledged.length > before.length, 'submissions came in meanwhile');
  assert.deepEqual(made.missing, []);
  const other = await emptyInstance({ isNew: true });
  const restored = await other.restore('under-load');
  // Its files are in another storage, which its first start claims.
  await claimStorage(other.database, { storage: other.storage, place: 'other' });
  assert.deepEqual([restored.rows, restored.files, restored.bytes], [made.rows, made.files, made.bytes]);
  for (const id of before) assert.ok(await isThere(other.database, id), id);
  const { rows: files } = await other.database.query<{ workspace_id: string; id: string; size: number }>(
    'select workspace_id, id, size from files where size > 0',
  );
  assert.ok(files.length >= before.length);
  for (const { workspace_id, id, size } of files) {
    const stored = await other.storage.open(`${workspace_id}/${id.slice(-2)}/${id}`);
    assert.equal((await buffer(stored!)).length, size);
  }
});

test('a file that is truncated, grew or cannot be read does not stop a backup, and is reported', async () => {
  const { rows } = await database.query<{ key: string; size: number }>(
    `select workspace_id || '/' || right(id::text, 2) || '/' || id as key, size from files where size > 6 order by id limit 3`,
  );
  const [cut, grown, broken] = rows.map(({ key }) => join(service.dataDir, 'uploads', key)) as [
    string,
    string,
    string,
  ];
  const whole = await Promise.all([cut, grown, broken].map((path) => readFile(path)));
  await truncate(cut, 3);
  await writeFile(grown, Buffer.concat([whole[1]!, whole[1]!]));
  await rm(broken);
  await mkdir(broken);
  const made = await backUp('damaged');
  assert.deepEqual(made.missing.toSorted(), rows.map(({ key }) => key).toSorted());
  const other = await emptyInstance();
  assert.equal((await other.restore('damaged')).files, made.files);
  const bytes = await Promise.all(rows.map(async ({ key }) => buffer((await other.storage.open(key))!)));
  assert.deepEqual(
    bytes.map((each, index) => [each.length, each.subarray(0, 3).equals(whole[index]!.subarray(0, 3))]),
    rows.map(({ size }, index) => [size, index < 2]),
  );
  await rm(broken, { recursive: true });
  for (const [index, path] of [cut, grown, broken].entries()) await writeFile(path, whole[index]!);
});

test('a table that sends nothing for a long time does not end a backup', { skip: isSlice }, async () => {
  const { url, database: quiet } = await testDatabase();
  const hasty = openDatabase({ connectionString: url }, { pool: 2, log: openLog('silent'), silenceMs: 800 });
  const holder = await quiet.connect();
  await holder.query('begin; lock table announced in access exclusive mode');
  const made = makeBackup({ database: hasty, storage }, { path: join(home, 'waited'), version: '1' });
  made.catch(() => {});
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'copy%announced%'
     and datname = current_database() and clock_timestamp() - query_start > interval '1 second'`;
  await until('it to wait', async () => (await quiet.query(waiting)).rowCount === 1);
  await holder.query('rollback');
  holder.release();
  assert.ok((await made).rows > 0);
  await hasty.end();
});

test('a migration that starts during a backup waits for its end, without blocking work on the tables', {
  skip: isSlice,
}, async () => {
  const { database: read } = await testDatabase();
  const holder = await read.connect();
  // The last table: all others are read by now, and stay locked until the end.
  await holder.query('begin; lock table workspaces in access exclusive mode');
  const made = makeBackup({ database: read, storage }, { path: join(home, 'read'), version: '1' });
  made.catch(() => {});
  await untilWaiting(read, 1);
  const sql = 'alter table submissions add column later integer';
  const later = { number: 9999, name: '9999_later.sql', sql, checksum: '' };
  const lines: string[] = [];
  const migrated = migrate(read, [...(await readMigrations()), later], (line) => lines.push(line));
  migrated.catch(() => {});
  await untilWaiting(read, 2);
  await read.query("begin; set local lock_timeout = '1s'; select from submissions; commit");
  assert.match(lines.join(), /Waiting for a backup/);
  assert.deepEqual(
    await migrate(read, await readMigrations()),
    [],
    'a server of this version starts meanwhile',
  );
  await holder.query('rollback');
  holder.release();
  assert.ok((await made).rows > 0);
  assert.deepEqual(await migrated, [later.name]);
});

test('a cell that is created during a backup waits for its end, without blocking requests', {
  skip: isSlice,
}, async () => {
  const { database: read, url } = await testDatabase();
  const unhurried = openDatabase(
    { connectionString: url },
    { pool: 2, log: openLog('silent'), limits: false },
  );
  await createCell(unhurried, 'second', {});
  const holder = await read.connect();
  await holder.query('begin; lock table workspaces in access exclusive mode');
  const made = makeBackup({ database: read, storage }, { path: join(home, 'beside'), version: '1' });
  made.catch(() => {});
  await untilWaiting(read, 1);
  const lines: string[] = [];
  const created = createCell(unhurried, 'third', { report: (line) => lines.push(line) });
  created.catch(() => {});
  await untilWaiting(read, 2);
  assert.match(lines.join(), /Waiting for a backup/);
  await read.query("begin; set local lock_timeout = '1s'; select from jobs; select from forms; commit");
  await holder.query('rollback');
  holder.release();
  await made;
  await created;
  await unhurried.end();
});

test('a restore brings back every table, sequence position, constraint and the key', async () => {
  // As in a scheduled backup, which has not ended when its own row is read.
  await database.query(`insert into backups (due_at, name, begun_at) values (now(), 'quiet', now())`);
  await backUp('quiet');
  await database.query('delete from backups');
  const [one, other] = [await emptyInstance(), await emptyInstance()];
  await one.restore('quiet');
  assert.equal((await one.database.query('select from backups')).rowCount, 0);
  await makeBackup(one, { path: join(home, 'of-restored'), version: '1', key });
  await other.restore('of-restored');
  assert.deepEqual(await contents(other.database), await contents(one.database));
  assert.equal((await readFile(join(other.dataDir, 'secret.key'), 'utf8')).trim(), key);
  const rules = `select conrelid::regclass::text as of, conname, pg_get_constraintdef(oid) as rule from pg_constraint
     where connamespace = current_schema()::regnamespace and conparentid = 0 order by 1, 2`;
  assert.deepEqual((await other.database.query(rules)).rows, (await database.query(rules)).rows);
  const triggers = `select tgrelid::regclass::text as of, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`;
  assert.deepEqual((await other.database.query(triggers)).rows, (await database.query(triggers)).rows);
  const sequences = 'select sequencename, last_value from pg_sequences order by 1';
  assert.deepEqual((await other.database.query(sequences)).rows, (await database.query(sequences)).rows);
});

/** CopyDone of PostgreSQL's protocol. The row count follows it. */
const copyDone = Buffer.from([0x63, 0, 0, 0, 4]);

test('a backup reports the true number of rows, even if the database sends it after the last row', {
  skip: isSlice,
}, async () => {
  const { database: slow } = await testDatabase({
    reach: (url) =>
      standBefore(url, (client) => {
        const upstream = dial(url);
        client.pipe(upstream);
        client.on('close', () => upstream.destroy());
        upstream.on('error', () => client.destroy());
        upstream.on('data', (chunk: Buffer) => {
          const at = chunk.indexOf(copyDone) + copyDone.length;
          if (at < copyDone.length) {
            client.write(chunk);
            return;
          }
          upstream.pause();
          client.write(chunk.subarray(0, at));
          setTimeout(() => {
            client.write(chunk.subarray(at));
            upstream.resume();
          }, 5);
        });
      }),
  });
  await slow.query(
    `insert into workspaces (id, name, plan, created_at) values (gen_random_uuid(), 'Slow', 'free', now())`,
  );
  await makeBackup({ database: slow, storage }, { path: join(home, 'slow'), version: '1' });
  const other = await emptyInstance();
  await other.restore('slow');
  assert.equal((await other.database.query('select from workspaces')).rowCount, 1);
});

const move = (from: Database, to: Database, report: (line: string) => void = () => undefined) =>
  moveInstance({ from, to, place: 'there', report });

test('a moved instance is unchanged, including its sequences, and can be moved back', async () => {
  await backUp('to-move');
  const [here, there] = [await emptyInstance(), await emptyInstance({ isNew: true })];
  await here.restore('to-move');
  await here.database.query(
    `insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot)
     select workspace_id, unnest('{00000000-0000-7000-8000-000000000000,ffffffff-0000-7000-8000-000000000000}'::uuid[]),
            id, id, 'submission.created', now(), '{}' from forms`,
  );
  const before = await contents(here.database);
  const lines: string[] = [];
  const moved = await move(here.database, there.database, (line) => lines.push(line));
  assert.deepEqual(await contents(there.database), before);
  const sequences = 'select sequencename, last_value from pg_sequences order by 1';
  assert.deepEqual((await there.database.query(sequences)).rows, (await here.database.query(sequences)).rows);
  assert.ok(moved.rows > 0);
  assert.match(lines.join('\n'), /^submissions: \d+ rows$/m);
  assert.equal((await findMoveRecord(here.database))?.moved_to, 'there');
  await assert.rejects(move(here.database, there.database), /was already moved to there/);
  await there.database.query(`update forms set name = 'Changed there'`);
  await move(there.database, here.database);
  assert.equal((await here.database.query('select name from forms')).rows[0].name, 'Changed there');
  assert.equal((await findMoveRecord(here.database))?.moved_to, null);
  // `there` now has the leftover copy, which a move can replace, or which can stay in use after all.
  await undoInstanceMove(there.database);
  await assert.rejects(move(here.database, there.database), /is in use/);
  await assert.rejects(undoInstanceMove(there.database), /was not moved/);
});

test('a move that is interrupted midway leaves both databases as they were, and can be repeated', async () => {
  await backUp('to-cut');
  const [here, there] = [await emptyInstance(), await emptyInstance()];
  await here.restore('to-cut');
  const before = await contents(here.database);
  for (const cut of [here, there]) {
    // Locks a table in the middle, after others were copied: the move waits for it until it is interrupted.
    const holder = await here.database.connect();
    await holder.query('begin; lock table submissions in access exclusive mode');
    const moving = assert.rejects(move(here.database, there.database));
    await until('it to wait', async () => {
      const { rowCount } = await database.query(
        `select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock' and query like 'copy%submissions%'`,
        [here.name],
      );
      return rowCount === 1;
    });
    const { rowCount } = await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and state <> 'idle' and query not like '%lock table%'`,
      [cut.name],
    );
    assert.equal(rowCount, 1);
    await holder.query('rollback');
    holder.release();
    await moving;
    assert.deepEqual(await contents(here.database), before);
    assert.equal((await there.database.query('select from workspaces')).rowCount, 0);
  }
  await move(here.database, there.database);
  assert.deepEqual(await contents(there.database), before);
});

test('a move that is interrupted during the final `analyze` of the target has changed nothing', {
  skip: isSlice,
}, async () => {
  await backUp('to-cut-late');
  const [here, there] = [await emptyInstance(), await emptyInstance()];
  await here.restore('to-cut-late');
  const before = await contents(here.database);
  const holder = await there.database.connect();
  // `analyze` writes to this table, and no earlier step does.
  await holder.query('begin; lock table pg_statistic in share mode');
  const moving = assert.rejects(move(here.database, there.database));
  await until('it to wait', async () => {
    const { rowCount } = await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock' and query = 'analyze'`,
      [there.name],
    );
    return rowCount === 1;
  });
  await moving;
  await holder.query('rollback');
  holder.release();
  assert.equal((await there.database.query('select from workspaces')).rowCount, 0);
  assert.equal((await findMoveRecord(here.database))?.moved_to, null);
  await move(here.database, there.database);
  assert.deepEqual(await contents(there.database), before);
});

test('a move interrupted between marking source and target leaves exactly one of them in use, and can be repeated', async () => {
  await backUp('to-end');
  for (const cut of ['here', 'there'] as const) {
    const both = { here: await emptyInstance(), there: await emptyInstance() };
    const [here, there] = [both.here.database, both.there.database];
    await both.here.restore('to-end');
    // The move marks the source as moved, then the target as arrived. The trigger ends the connection at that
    // moment.
    const isNoted = `new.moved_to is ${cut === 'here' ? 'not ' : ''}null`;
    await both[cut].database.query(
      `create function cut() returns trigger language plpgsql as 'begin perform pg_terminate_backend(pg_backend_pid()); return new; end';
       create trigger cut before update on instance for each row when (${isNoted}) execute function cut()`,
    );
    await assert.rejects(move(here, there), /terminat/);
    await both[cut].database.query('drop trigger cut on instance');
    assert.equal((await there.query('select from forms')).rowCount, 1, 'all rows are there already');
    assert.equal((await findMoveRecord(here))?.moved_to, cut === 'here' ? null : 'there');
    assert.match(
      String((await findMoveRecord(there))?.moved_to),
      /was interrupted; run it again/,
      'an instance continues on one side only',
    );
    // If the source stays in use, the next move includes its latest changes.
    if (cut === 'here') await here.query(`update forms set name = 'Changed here'`);
    const before = { ...(await contents(here)), instance: '' };
    await move(here, there);
    assert.deepEqual({ ...(await contents(there)), instance: '' }, before);
    assert.deepEqual(
      [(await findMoveRecord(here))?.moved_to, (await findMoveRecord(there))?.moved_to],
      ['there', null],
    );
    await assert.rejects(move(here, there), /was already moved to there/);
  }
});

test('a connection that was lost before a table is filled ends the restore without waiting', {
  timeout: 20_000,
}, async () => {
  const { database: lost } = await emptyInstance();
  const client = await lost.connect();
  const [table] = await selectTables(client, { cells: [] });
  const gone = new Promise((resolve) => client.once('error', resolve));
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await database.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
  await gone;
  const filling = startTableCopy(client, table!);
  await new Promise(setImmediate);
  await assert.rejects(filling.end());
  await filling.giveUp();
  client.release(true);
});

test('nothing is moved from or to a database that is in use, or on which a service runs', async () => {
  await backUp('to-refuse');
  const [here, there] = [await emptyInstance(), await emptyInstance()];
  const older = await emptyInstance({ isNew: true });
  await assert.rejects(move(older.database, there.database), /earlier version/);
  await assert.rejects(move(here.database, there.database), /nothing to move/);
  await here.restore('to-refuse');
  await assert.rejects(move(here.database, database), /is running on the target database/);
  await assert.rejects(move(database, there.database), /is running on this database/);
  await there.restore('to-refuse');
  await assert.rejects(move(here.database, there.database), /is in use/);
  assert.equal((await findMoveRecord(here.database))?.moved_to, null);
});

test('a backup is not restored into an instance that is in use, or whose service runs', async () => {
  await backUp('taken');
  const other = await emptyInstance();
  await other.restore('taken');
  const before = await contents(other.database);
  await assert.rejects(other.restore('taken'), /in use/);
  assert.deepEqual(await contents(other.database), before);
  const running = await testDatabase();
  await running.database.query('select 1');
  const { database: beside } = await testDatabase({ isEmpty: true });
  await beside.query('select 1');
  const place = { database: beside, storage, dataDir: home, secretKey: undefined };
  await assert.rejects(restoreBackup(place, { path: join(home, 'taken') }), /is running/);
});

test('a truncated or incomplete backup restores nothing; the complete one can be restored afterwards', async () => {
  await backUp('whole');
  const other = await emptyInstance();
  const copy = async (name: string, change: (entry: string, bytes: Buffer) => Buffer | undefined) => {
    await writeArchive(join(home, name), undefined, async (archive) => {
      for await (const { name: entry, body } of readArchive(join(home, 'whole'), undefined)) {
        const bytes = change(entry, await buffer(body));
        if (bytes) await archive.add(entry, bytes.length, bytes);
      }
    });
    await assert.rejects(other.restore(name), BackupError, name);
    for (const table of ['forms', 'workspaces', 'submissions'])
      assert.equal((await other.database.query(`select from ${table}`)).rowCount, 0, `${name}: ${table}`);
  };
  await copy('endless', (entry, bytes) => (entry === 'ending.json' ? undefined : bytes));
  await copy('rowless', (entry, bytes) => (entry.startsWith('tables/submissions/') ? undefined : bytes));
  await copy('fileless', (entry, bytes) => (entry.startsWith('files/') ? undefined : bytes));
  await copy('orphaned', (entry, bytes) =>
    entry === 'ending.json'
      ? Buffer.from(String(bytes).replace(/"forms":\d+/, '"forms":0'))
      : entry.startsWith('tables/forms/')
        ? undefined
        : bytes,
  );
  // A modified backup cannot write outside the storage.
  await writeArchive(join(home, 'escaping'), undefined, async (archive) => {
    for await (const { name, body } of readArchive(join(home, 'whole'), undefined)) {
      const bytes = await buffer(body);
      await archive.add(name.replace(/^files\/.*/, 'files/../../escaped'), bytes.length, bytes);
    }
  });
  await assert.rejects(other.restore('escaping'), /damaged: it contains files\/\.\.\/\.\.\/escaped/);
  assert.ok(!(await readdir(home)).includes('escaped'));
  // In the middle of a table: incompressible data arrives in pieces.
  const noise = randomBytes(2_000_000).toString('hex');
  await writeArchive(join(home, 'long'), undefined, async (archive) => {
    for await (const { name: entry, body } of readArchive(join(home, 'whole'), undefined)) {
      const content = String(await buffer(body));
      const longer = entry.startsWith('tables/forms/') ? content.replaceAll(form.name, noise) : content;
      await archive.add(entry, Buffer.byteLength(longer), Buffer.from(longer));
    }
  });
  const bytes = await readFile(join(home, 'long'));
  await writeFile(join(home, 'cut'), bytes.subarray(0, bytes.length / 2));
  await assert.rejects(other.restore('cut'), /incomplete/);
  await other.restore('whole');
  assert.equal((await other.database.query('select from forms')).rowCount, 1);
});

test('a restore is rejected if the disk has less space than must stay free', { skip: isSlice }, async () => {
  await backUp('crowded');
  const crowded = await emptyInstance();
  await assert.rejects(crowded.restore('crowded', {}, 2 ** 60), /UPLOAD_FREE_MB.*Free up space there/);
  await crowded.restore('crowded');
});

/** Makes a backup of a database with one workspace and the first `count` migrations. */
async function backUpOlder(name: string, count: number, last?: number): Promise<void> {
  const { database: older } = await testDatabase({ isEmpty: true });
  await migrate(older, (await readMigrations()).slice(0, count));
  await older.query(
    `insert into workspaces (id, name, plan, created_at) values (gen_random_uuid(), 'Old', 'free', now())`,
  );
  if (last !== undefined) await recordOldMigrations(older, 'public', last);
  await makeBackup({ database: older, storage }, { path: join(home, name), version: '0' });
}

test('a backup of an earlier version is migrated to this one, even with the old migration numbers', async () => {
  const { length } = await readMigrations();
  await backUpOlder('older', -1);
  await backUpOlder('at-84', 1, 84);
  await backUpOlder('at-92', 9, 84);
  for (const name of ['older', 'at-84', 'at-92']) {
    const other = await emptyInstance({ isNew: true });
    await other.restore(name);
    const { rows } = await other.database.query(
      'select name, (select max(number) from migrations) as last from workspaces',
    );
    assert.deepEqual(rows, [{ name: 'Old', last: length }]);
  }
  await backUpOlder('at-60', 1, 60);
  const other = await emptyInstance({ isNew: true });
  await assert.rejects(other.restore('at-60'), /whose database schema this version does not support/);
});

test('a backup of a newer version is rejected with that version, and a file that is not a backup is rejected', async () => {
  const manifest = {
    format: 1,
    version: '99.1.2',
    made_at: new Date().toISOString(),
    migrations: [{ number: 1, checksum: 'of another' }],
    key_fingerprint: null,
    tables: [],
  };
  const add = (name: string, entry: string, content: string) =>
    writeArchive(join(home, name), undefined, (archive) =>
      archive.add(entry, Buffer.byteLength(content), Buffer.from(content)),
    );
  await add('newer', 'manifest.json', JSON.stringify(manifest));
  await add('foreign', 'readme.txt', 'hello');
  await add('empty', 'manifest.json', '{}');
  const other = await emptyInstance();
  await assert.rejects(other.restore('newer'), /99\.1\.2/);
  await assert.rejects(other.restore('foreign'), /begins with readme/);
  await assert.rejects(other.restore('empty'), /can read/);
});

test('a backup without its key is restored only with that key, or if the key is declared lost', async () => {
  await backUp('keyless', {});
  assert.ok(!(await readFile(join(home, 'keyless'))).includes(key));
  // Checked before the first step that may take hours.
  for (const [other, why] of [
    [await emptyInstance(), /does not contain its key/],
    [await emptyInstance({ secretKey: '1e'.repeat(32) }), /not the key/],
  ] as const) {
    await assert.rejects(other.restore('keyless'), why);
    assert.deepEqual(await readdir(other.dataDir), []);
  }
  const withKey = await emptyInstance({ secretKey: key });
  await withKey.restore('keyless');
  const lost = await emptyInstance();
  await lost.restore('keyless', { isKeyLost: true });
  assert.deepEqual(await contents(lost.database), await contents(withKey.database));
});
