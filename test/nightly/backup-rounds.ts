import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBucket } from '#kit/storage/open-storage.ts';
import { testDatabase } from '#test/database.ts';
import { keepFilesInMemory } from '#test/memory.ts';
import { type Command, type Environment, type Instance, makeInstance } from '#test/process.ts';
import { openS3Server } from '#test/s3-server.ts';
import { openTestServer } from '#test/server.ts';
import { until } from '#test/service.ts';
import {
  type Ask,
  askOf,
  checkWhole,
  countRows,
  fill,
  findMoved,
  perSecond,
  requireGone,
  type Site,
  sendSteadily,
  workIn,
} from './backup-round.ts';

/*
 * npm run test:long -- backup <rounds>
 *
 * Makes backups under load, and sends kill -9 to everything that makes or restores a backup or moves an
 * instance. Default: 3 rounds each.
 */
const rounds = Number(process.argv[2] ?? 3);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`"${process.argv[2]}" is no number of rounds.`);

/** The seconds to wait for a process on a busy machine. */
const patience = 120;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const removeFiles = keepFilesInMemory();
const external = await openTestServer(say);
Object.assign(process.env, external.environment);
const home = await mkdtemp(join(tmpdir(), 'formloom-backups-'));
after(async () => {
  await external.close();
  await rm(home, { recursive: true });
  removeFiles();
});
const path = (name: string): string => join(home, name);
await writeFile(path('passphrase'), 'correct horse battery\n');

/** Several times the slowest submit on two busy cores (1.3 s). */
const longestMs = 8_000;

async function run(instance: Instance, args: readonly string[], environment?: Environment): Promise<number> {
  const since = performance.now();
  const { code, complaint } = await instance.begin(args, environment).ended;
  assert.equal(code, 0, `${args.join(' ')}: ${complaint}`);
  return performance.now() - since;
}

/**
 * Kills a command at a random moment after its work has begun. Each round covers the next part of the
 * remaining time.
 */
async function killIn(
  round: number,
  usualMs: number,
  command: Command,
  look: () => Promise<string | undefined>,
): Promise<{ amid: string | undefined; isKilled: boolean }> {
  let isOver = false;
  void command.ended.then(() => (isOver = true));
  const since = performance.now();
  await until('the work to begin', async () => isOver || (await look()) !== undefined, patience);
  const begunMs = performance.now() - since;
  await sleep((Math.max(0, usualMs - begunMs) * (round - 1 + Math.random())) / rounds);
  const amid = await look();
  const { code, complaint } = await command.kill();
  assert.ok(code === 0 || code === 137, complaint);
  say(
    `round ${round}: killed after ${Math.round(performance.now() - since)} ms, its work begun after ${Math.round(begunMs)} of ${Math.round(usualMs)}: ${amid ?? 'done'}`,
  );
  return { amid, isKilled: code === 137 };
}

const requireAmid = (kills: readonly unknown[]): void =>
  assert.ok(kills.some(Boolean), 'no kill fell amid the work');

const seal = ['--passphrase-file', path('passphrase')];
const ways: readonly { name: string; backup: string[]; restore: string[]; isKeyApart?: true }[] = [
  { name: 'plain', backup: [], restore: [] },
  { name: 'sealed', backup: seal, restore: seal },
  { name: 'without key', backup: ['--without-key'], restore: [], isKeyApart: true },
];

test(`${rounds} backups run beside ${perSecond} submits a second: none is refused or stalls, and each backup contains everything acknowledged before it`, async () => {
  const instance = await makeInstance();
  const server = await instance.start();
  const site = await fill(instance);
  for (let round = 1; round <= rounds; round += 1) {
    const way = ways[(round - 1) % ways.length]!;
    const load = sendSteadily(site.form, `round${round}`);
    await until('a second of submits', async () => load.acknowledged.size >= perSecond);
    const before = new Map(load.acknowledged);
    const ms = await run(instance, ['backup', path(`${round}`), ...way.backup]);
    const during = load.acknowledged.size - before.size;
    await load.end();
    assert.deepEqual(load.failures, []);
    assert.ok(load.longestMs() < longestMs, `one waited ${load.longestMs()} ms`);
    for (const [entry, sent] of before) site.acknowledged.set(entry, sent);
    const other = await makeInstance(way.isKeyApart ? { SECRET_KEY: site.secret } : {}, { isNew: true });
    await run(other, ['restore', path(`${round}`), ...way.restore]);
    await checkWhole(other, site);
    await other.close();
    say(
      `round ${round}: ${way.name}, ${before.size} acknowledged before and ${during} in the ${Math.round(ms)} ms of it, the slowest in ${Math.round(load.longestMs())} ms; all of ${site.acknowledged.size} restored`,
    );
    for (const [entry, sent] of load.acknowledged) site.acknowledged.set(entry, sent);
  }
  assert.equal((await server.terminate()).code, 0);
});

test(`${rounds} times kill -9 of a backup: no file under its name, nothing left in the database, and the next backup succeeds`, async () => {
  const instance = await makeInstance();
  const server = await instance.start();
  const { form } = await fill(instance);
  const folder = await mkdtemp(join(home, 'killed-'));
  const file = join(folder, 'one.backup');
  const usualMs = await run(instance, ['backup', file]);
  const whole = (await stat(file)).size;
  await rm(file);
  const load = sendSteadily(form, 'beside');
  const sizeOf = async (name: string) =>
    (await readdir(folder)).includes(name) && (await stat(join(folder, name))).size;
  const kills = [];
  for (let round = 1; round <= rounds; round += 1) {
    const { amid, isKilled } = await killIn(round, usualMs, instance.begin(['backup', file]), async () => {
      const size = await sizeOf('one.backup.part');
      return size === false ? undefined : `with ${Math.round((100 * size) / whole)} % written`;
    });
    kills.push(amid);
    const [{ at } = { at: '' }] = await instance.query<{ at: string }>(
      'select clock_timestamp()::text as at',
    );
    const left = await sizeOf('one.backup.part');
    // A partial file that already has all bytes is a valid backup apart from its name.
    if (left !== false && left < whole / 2)
      assert.equal((await instance.begin(['restore', '--check', `${file}.part`]).ended).code, 1);
    if (isKilled) assert.equal(await sizeOf('one.backup'), false);
    else await rm(file);
    await until('every transaction from before to end', async () => {
      const [open] = await instance.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and xact_start < '${at}'`,
      );
      return open!.count === 0;
    });
    await run(instance, ['backup', file]);
    await run(instance, ['restore', '--check', file]);
    await rm(file);
    assert.deepEqual(await readdir(folder), []);
  }
  await load.end();
  assert.deepEqual(load.failures, []);
  say(`${load.acknowledged.size} acknowledged meanwhile, the slowest in ${Math.round(load.longestMs())} ms`);
  requireAmid(kills);
  // The last user of the embedded database stops it. Killed commands do not count as users.
  assert.equal((await server.terminate()).code, 0);
  assert.equal(await instance.databasePid(), undefined);
});

/** Returns a stopped instance and its number of rows. */
async function makeStopped(): Promise<{ instance: Instance; site: Site; rows: number }> {
  const instance = await makeInstance();
  const server = await instance.start();
  const site = await fill(instance);
  const rows = await countRows(askOf(instance));
  assert.equal((await server.terminate()).code, 0);
  return { instance, site, rows };
}

/** Creates a separate database on another server. Its connection here does not count as a service. */
async function makeExternal(): Promise<{ url: string; ask: Ask }> {
  const { url, database } = await testDatabase({ isEmpty: true, name: 'a test', pool: 1 });
  return { url, ask: async (sql) => (await database.query(sql)).rows };
}

for (const kind of ['embedded', 'external'] as const)
  test(`${rounds} times kill -9 of a restore into an ${kind} database: it is empty or whole, and whole when restored again`, async () => {
    const { instance, site, rows } = await makeStopped();
    const file = path(`to-${kind}`);
    await run(instance, ['backup', file]);
    const makeTarget = async () =>
      makeInstance(kind === 'external' ? { DATABASE_URL: (await makeExternal()).url } : {}, { isNew: true });
    const usualMs = await run(await makeTarget(), ['restore', file]);
    const kills = [];
    for (let round = 1; round <= rounds; round += 1) {
      const target = await makeTarget();
      const ask = askOf(target);
      const { amid } = await killIn(round, usualMs, target.begin(['restore', file]), () => workIn(ask));
      kills.push(amid);
      await requireGone(ask);
      const found = await countRows(ask);
      assert.ok(found === 0 || found === rows, `${found} of ${rows} rows`);
      const again = await target.begin(['restore', file]).ended;
      if (found === 0) assert.equal(again.code, 0, again.complaint);
      else assert.match(again.complaint, /in use/);
      assert.equal(await checkWhole(target, site), site.acknowledged.size);
      await target.close();
    }
    requireAmid(kills);
  });

test(`${rounds} times kill -9 of a move to another database and back: the source keeps working with all data, and a second move succeeds`, async () => {
  const { instance, site } = await makeStopped();
  const { url, ask } = await makeExternal();
  let from = { name: 'embedded', environment: { DATABASE_URL: '' }, ask: askOf(instance) };
  let to = { name: url, environment: { DATABASE_URL: url }, ask };
  const check = async (place: typeof from): Promise<void> =>
    assert.equal(await checkWhole(instance, site, place), site.acknowledged.size);
  const move = (): string[] => ['move', '--to', to.name];
  const turn = (): void => void ([from, to] = [to, from]);
  const usualMs = [];
  for (let way = 0; way < 2; way += 1) {
    usualMs.push(await run(instance, move(), from.environment));
    turn();
  }
  const kills = [];
  for (let round = 1; round <= rounds; round += 1) {
    const command = instance.begin(move(), from.environment);
    const { amid, isKilled } = await killIn(
      round,
      usualMs[(round - 1) % 2]!,
      command,
      async () => (await workIn(to.ask)) ?? workIn(from.ask),
    );
    kills.push(amid);
    for (const place of [from, to]) await requireGone(place.ask);
    // Without work in progress the move had completed. It then stops the embedded database, which cannot be
    // asked where it moved.
    if (isKilled && amid !== undefined && (await findMoved(from.ask)) === undefined) {
      assert.ok(
        (await countRows(to.ask)) === 0 || (await findMoved(to.ask)) !== undefined,
        'the other is free',
      );
      await check(from);
      await run(instance, move(), from.environment);
    }
    // Killed after the move was recorded in one database but not yet in the other, which waits for that.
    else if (isKilled && (await findMoved(to.ask)) !== undefined)
      await run(instance, move(), from.environment);
    await check(to);
    assert.match((await instance.failToStart(from.environment)).output, /was already moved to/);
    turn();
  }
  requireAmid(kills);
});

const keep = 2;

test(`${rounds} times kill -9 of service and database during a backup, scheduled or by command: the next one is complete, without leftovers`, async () => {
  const instance = await makeInstance({ BACKUP_SCHEDULE: '* * * * * *', BACKUP_KEEP: String(keep) });
  const folder = join(instance.dataDir, 'backups');
  let server = await instance.start({ BACKUP_SCHEDULE: '' });
  const site = await fill(instance);
  const usualMs = await run(instance, ['backup', path('beforehand')]);
  const { size: whole } = await stat(path('beforehand'));
  assert.equal((await server.terminate()).code, 0);
  const begun = async (place: string): Promise<string | undefined> =>
    (await readdir(place).catch(() => [])).find((name) => name.endsWith('.part'));
  const kills = [];
  for (let round = 1; round <= rounds; round += 1) {
    const isByCommand = round % 2 === 0;
    server = await instance.start(isByCommand ? { BACKUP_SCHEDULE: '' } : {});
    const load = sendSteadily(site.form, `round${round}`);
    const own = await mkdtemp(join(home, 'own-'));
    const command = isByCommand ? instance.begin(['backup', join(own, 'one')]).ended : undefined;
    const place = isByCommand ? own : folder;
    const name = await until('a backup to begin', () => begun(place), patience);
    const afterMs = Math.round(Math.random() * 0.5 * usualMs);
    await sleep(afterMs);
    const isAmid = (await begun(place)) === name;
    kills.push(isAmid);
    const { size } = isAmid ? await stat(join(place, name)) : { size: whole };
    await Promise.all([server.kill(), instance.killDatabase()]);
    await load.end();
    if (command) {
      const { code } = await command;
      if (code !== 0) assert.deepEqual(await readdir(own), []);
    }
    server = await instance.start();
    const [{ at } = { at: '' }] = await instance.query<{ at: string }>('select now()::text as at');
    const made = await until(
      'the next backup',
      async () => {
        const [next] = await instance.query<{ name: string }>(
          `select name from backups where begun_at > '${at}' and finished_at is not null and problem is null`,
        );
        return next?.name;
      },
      patience,
    );
    for (const [entry, sent] of load.acknowledged) site.acknowledged.set(entry, sent);
    const other = await makeInstance({}, { isNew: true });
    await run(other, ['restore', join(folder, made)]);
    await checkWhole(other, site);
    await other.close();
    await until(
      'what is left over to be gone',
      async () => {
        const [known] = await instance.query<{ count: number }>('select count(*)::int as count from backups');
        const names = await readdir(folder);
        return (
          known!.count === keep && names.length === keep && !names.some((each) => each.endsWith('.part'))
        );
      },
      patience,
    );
    await server.kill();
    say(
      `round ${round}: ${isByCommand ? 'by command' : 'by schedule'}, killed ${afterMs} ms after it began, with ${Math.round((100 * size) / whole)} % written; ${load.acknowledged.size} acknowledged`,
    );
  }
  requireAmid(kills);
});

test(`${rounds} times kill -9 of the service during a backup to a bucket: the next backup is complete, and neither place has leftovers`, async () => {
  const { settings, environment } = await openS3Server();
  const toBucket = {
    BACKUP_TO: 's3',
    ...environment,
  };
  const bucket = openBucket(settings);
  const instance = await makeInstance({
    ...toBucket,
    BACKUP_SCHEDULE: '* * * * * *',
    BACKUP_KEEP: String(keep),
  });
  const spool = join(instance.dataDir, 'spool');
  const spooled = async (): Promise<string[]> =>
    (await readdir(spool).catch(() => [])).filter((name) => name.includes('backup'));
  let server = await instance.start({ BACKUP_SCHEDULE: '' });
  const site = await fill(instance);
  const usualMs = await run(instance, ['backup', path('before-the-bucket')]);
  assert.equal((await server.terminate()).code, 0);
  const kills = [];
  for (let round = 1; round <= rounds; round += 1) {
    server = await instance.start();
    const load = sendSteadily(site.form, `round${round}`);
    const [name] = await until(
      'a backup to begin',
      async () => {
        const names = await spooled();
        return names.length > 0 && names;
      },
      patience,
    );
    // Sending takes the second half of the time.
    const afterMs = Math.round(usualMs * (round / rounds - Math.random() / rounds));
    await sleep(afterMs);
    const isAmid = (await spooled()).includes(name!);
    kills.push(isAmid);
    await server.kill();
    await load.end();
    server = await instance.start();
    const [{ at } = { at: '' }] = await instance.query<{ at: string }>('select now()::text as at');
    await until(
      'the next backup',
      async () =>
        (
          await instance.query(
            `select from backups where begun_at > '${at}' and finished_at is not null and problem is null`,
          )
        ).length > 0,
      patience,
    );
    assert.equal((await server.terminate()).code, 0);
    assert.deepEqual(await spooled(), []);
    for (const [entry, sent] of load.acknowledged) site.acknowledged.set(entry, sent);
    const names = (await bucket.list('backups/')).map((each) => each.replace('backups/', ''));
    assert.ok(names.length > 0 && names.length <= keep + 1, names.join(', '));
    const other = await makeInstance(toBucket, { isNew: true });
    await run(other, ['restore', `s3:${names.toSorted().at(-1)}`]);
    await checkWhole(other, site);
    await other.close();
    say(
      `round ${round}: to a bucket, killed ${afterMs} ms after it began${isAmid ? ', amid it' : ''}; ${load.acknowledged.size} acknowledged`,
    );
  }
  requireAmid(kills);
});
