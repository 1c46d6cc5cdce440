import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { leastIdAt, newId } from '#kit/clock.ts';
import { cellsOf } from '#kit/cells/cells.ts';
import { makeCells } from '#test/cells/make-cells.ts';
import { testDatabase } from '#test/database.ts';
import { makeForm, makeWebhook, type Place } from '../testing.ts';
import { beginParts, dayMs, dropParts, nextEnd, rowsUpTo } from './parts.ts';
import { pruneLedger } from './prune.ts';
import { boundPart, endPart, isUsedForLong, reportParts, selectParts } from './queries.ts';

const { database } = await testDatabase();
const today = Math.floor(Date.now() / dayMs);
/** Noon, so many days ago. */
const daysAgo = (days: number): Date => new Date((today - days + 0.5) * dayMs);
const day = (days: number): Date => new Date((today - days) * dayMs);

type Reported = Awaited<ReturnType<typeof reportParts>>[number];

const place: Place & { webhookId: string } = { workspaceId: '', formId: '', webhookId: '' };

/** The parts are those of an instance that has been large for a month. */
beforeEach(async () => {
  await database.query('truncate events, deliveries, attempts, feeds');
  Object.assign(place, await makeForm(database));
  place.webhookId = await makeWebhook(database, place, { url: 'https://receiver.test/' });
  const [{ opens } = { opens: null }] = (await selectParts(database, {})).slice(-1);
  for (let days = opens ? 0 : 40; days >= 0; days -= 1)
    await beginParts({ database }, { retentionDays: 30, large: 0, at: daysAgo(days) });
});

const idAt = (at: Date): string => leastIdAt(at).slice(0, 19) + newId().slice(19);

/** An event with a delivery and its attempt, as if it had happened then, and been told of at `toldAt`. @returns its id. */
async function happened(
  at: Date,
  { status = 'Success', position = null as number | null, of = place, into = database, toldAt = at } = {},
): Promise<string> {
  const id = idAt(at);
  const delivery = toldAt === at ? id : idAt(toldAt);
  await into.query(
    `insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot, position)
     values ($1, $2, $3, $2, 'submission.created', $4, '{}', $5)`,
    [of.workspaceId, id, of.formId, at, position],
  );
  await into.query(
    `insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, attempts, created_at)
     values ($1, $2, $3, $4, $5, 'submission.created', $6, 1, $7)`,
    [of.workspaceId, delivery, of.formId, of.webhookId, id, status, toldAt],
  );
  await into.query(
    `insert into attempts (workspace_id, delivery_id, attempt, trigger, started_at, response_ms)
     values ($1, $2, 1, 'schedule', $3, 1)`,
    [of.workspaceId, delivery, toldAt],
  );
  return id;
}

const idsOf = async (table: string, column = 'id'): Promise<string[]> =>
  (await database.query<{ id: string }>(`select ${column} as id from ${table} order by 1`)).rows.map(
    ({ id }) => id,
  );
const isThere = async (table: string): Promise<boolean> =>
  (await database.query('select to_regclass($1) is not null as found', [table])).rows[0].found;
const partOf = async (at: Date): Promise<number> =>
  (await selectParts(database, {})).findLast(({ opens }) => !opens || opens <= at)!.number;

test('a day has its part three days before it begins, and what is written a week to its end', () => {
  const at = daysAgo(0);
  assert.deepEqual(nextEnd({ number: 0, opens: null, below: null }, at, 30), day(-8));
  assert.deepEqual(nextEnd({ number: 0, opens: null, below: day(-5) }, at, 30), day(-5));
  assert.deepEqual(nextEnd({ number: 4, opens: day(-3), below: null }, at, 30), day(-4));
  assert.equal(nextEnd({ number: 4, opens: day(-4), below: null }, at, 30), null);
  assert.deepEqual(
    nextEnd({ number: 4, opens: day(-3), below: null }, at, 365),
    day(-13),
    'forty parts at most',
  );
});

test('rows go one by one up to the day that goes as a whole, and up to its end when it waits for three days', () => {
  const parts = [
    { number: 0, opens: null, below: day(40) },
    ...[40, 39, 38, 37, 36].map((days, index) => ({
      number: index + 1,
      opens: day(days),
      below: day(days - 1),
    })),
    { number: 6, opens: day(35), below: null },
  ];
  assert.deepEqual(rowsUpTo(parts, daysAgo(45), 30), daysAgo(45));
  assert.deepEqual(rowsUpTo(parts, daysAgo(40), 30), day(40));
  assert.deepEqual(rowsUpTo(parts, daysAgo(38), 30), day(40));
  assert.deepEqual(rowsUpTo(parts, daysAgo(36), 30), day(39));
  assert.deepEqual(rowsUpTo(parts, daysAgo(3), 30), daysAgo(3));
});

test('an instance that is small has one part', async () => {
  const { database: small } = await testDatabase();
  assert.equal(await beginParts({ database: small }, { retentionDays: 30 }), 0);
  assert.equal((await selectParts(small, {})).length, 1);
});

test('every id has a part, the oldest and those of years to come too, and parts follow each other without a gap', async () => {
  const parts = await selectParts(database, {});
  assert.ok(parts.length > 25);
  for (const [index, { opens }] of parts.entries())
    if (index > 0) assert.deepEqual(parts[index - 1]!.below, opens);
  await dropParts(database, daysAgo(30));
  const ids = [
    await happened(new Date('2001-01-01')),
    await happened(daysAgo(2)),
    await happened(new Date('2101-01-01')),
  ];
  assert.deepEqual(await idsOf('events'), ids);
  assert.deepEqual(await idsOf('attempts', 'delivery_id'), ids);
});

test('a part that is written is ended while rows come, and what was broken off goes on', async () => {
  const { database: other } = await testDatabase();
  const holder = await other.connect();
  await holder.query('begin; lock table deliveries_0 in row exclusive mode');
  assert.equal(
    await beginParts({ database: other }, { retentionDays: 30, large: 0 }),
    0,
    'somebody writes for long',
  );
  assert.deepEqual(await selectParts(other, {}), [{ number: 0, opens: null, below: null }]);
  const told = async () => {
    const [{ endless_bytes, ...report }] = (await reportParts(other, {})) as [Reported];
    return { ...report, isEndless: endless_bytes > 0 };
  };
  assert.deepEqual(await told(), { parts: 1, oldest_end: null, told_end: null, isEndless: true });
  await holder.query('rollback');
  for (const text of boundPart(0, null, day(-1))) await other.query(text);
  await endPart(other, { number: 0, below: day(-1) });
  const end = day(-1).getTime() / 1_000;
  assert.deepEqual(await told(), { parts: 1, oldest_end: null, told_end: end, isEndless: false });
  await holder.query('begin; lock table deliveries_0 in row exclusive mode; select pg_sleep(1)');
  await assert.rejects(beginParts({ database: other }, { retentionDays: 30 }), /takes nothing from/);
  const lastResort = { isOver: false };
  const begun = beginParts({ database: other }, { retentionDays: 30, large: 0 }).finally(
    () => (lastResort.isOver = true),
  );
  for (let waiting = 0; waiting === 0 && !lastResort.isOver; )
    waiting = (
      await other.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows.length;
  await holder.query('rollback');
  holder.release();
  assert.equal(
    await begun,
    4,
    'its end, and three days: two days before it who holds the tables is waited for',
  );
  const [first, second] = await selectParts(other, {});
  assert.deepEqual(first!.below, second!.opens);
  assert.deepEqual(await told(), { parts: 5, oldest_end: end, told_end: null, isEndless: true });
  assert.equal(await beginParts({ database: other }, { retentionDays: 30, large: 0 }), 0);
});

test('a part that has an id of years to come is told no end: it goes on taking all, and says why', async () => {
  const { database: other } = await testDatabase();
  const lonely = { ...(await makeForm(other)), webhookId: '' };
  lonely.webhookId = await makeWebhook(other, lonely, { url: 'https://receiver.test/' });
  const ahead = new Date('2101-01-01');
  await happened(ahead, { status: 'Retrying', of: lonely, into: other });
  for (const _ of [1, 2])
    await assert.rejects(beginParts({ database: other }, { retentionDays: 30, large: 0 }), /clock/);
  assert.deepEqual(await selectParts(other, {}), [{ number: 0, opens: null, below: null }]);
  await happened(new Date('2101-01-02'), { of: lonely, into: other });
  await other.query(`update deliveries set status = 'Success'`);
  await other.query('truncate events, deliveries, attempts');
  assert.equal(await beginParts({ database: other }, { retentionDays: 30, large: 0 }), 1);
});

test('every id has a part also when all days but the last were dropped before it was ended', async () => {
  const { database: other } = await testDatabase();
  const lonely = { ...(await makeForm(other)), webhookId: '' };
  lonely.webhookId = await makeWebhook(other, lonely, { url: 'https://receiver.test/' });
  for (let days = 60; days > 50; days -= 1)
    await beginParts({ database: other }, { retentionDays: 30, large: 0, at: daysAgo(days) });
  const last = (await selectParts(other, {})).at(-1)!;
  for (const text of boundPart(last.number, last.opens, day(-8))) await other.query(text);
  await endPart(other, { number: last.number, below: day(-8) });
  await dropParts(other, daysAgo(30));
  assert.equal((await selectParts(other, {})).length, 1);
  const { rows } = await other.query(
    `select pg_get_expr(relpartbound, oid) as bound from pg_class where relispartition and relname ~ '^(events|deliveries|attempts)_\\d+$'`,
  );
  for (const { bound } of rows)
    assert.match(bound, /MINVALUE.*MAXVALUE/, 'it is read through by nobody who waits');
  assert.ok((await beginParts({ database: other }, { retentionDays: 30, large: 0 })) > 0);
  await happened(new Date('2001-01-01'), { of: lonely, into: other });
  await happened(new Date('2101-01-01'), { of: lonely, into: other });
});

test('each cell has parts of its own, and drops its own', async () => {
  const several = await testDatabase();
  const cells = await makeCells(several.database, { connectionString: several.url }, 2);
  const { database: second } = cellsOf(several.database)[1]!;
  for (let days = 20; days >= 0; days -= 1)
    await beginParts({ database: second }, { retentionDays: 30, large: 0, at: daysAgo(days) });
  assert.equal((await selectParts(several.database, {})).length, 1);
  const made = (await selectParts(second, {})).length;
  assert.ok(made > 10);
  assert.ok((await pruneLedger({ database: second }, { retentionDays: 5 })).parts > 5);
  const { rows } = await several.database.query<{ name: string }>(
    `select c.relnamespace::regnamespace::text as name from pg_class c where c.relname ~ '^events_\\d+$' group by 1 order by 1`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['cell_c2', 'public'],
  );
  const there = { ...(await makeForm(second)), webhookId: '' };
  there.webhookId = await makeWebhook(second, there, { url: 'https://receiver.test/' });
  await happened(daysAgo(0), { of: there, into: second });
  await several.database.query('delete from cell_c2.deliveries');
  const { rows: left } = await second.query('select from attempts');
  assert.equal(left.length, 0, 'attempts of a cell go with their deliveries whoever removes these');
  await cells?.close();
});

test('what all keep for as long as the service goes with its day: the tables are gone', async () => {
  const number = await partOf(daysAgo(29));
  await happened(daysAgo(29));
  const ofToday = await happened(new Date(day(28).getTime() + 1));
  const young = await happened(daysAgo(1));
  assert.deepEqual(await pruneLedger({ database }, { retentionDays: 28 }), {
    parts: 2,
    events: 0,
    deliveries: 0,
  });
  for (const table of ['events', 'deliveries', 'attempts'])
    assert.equal(await isThere(`${table}_${number}`), false);
  assert.deepEqual(await idsOf('events'), [ofToday, young], 'a day goes when all of it is old');
  assert.deepEqual(await idsOf('attempts', 'delivery_id'), [ofToday, young]);
});

test('what a form keeps for less long goes row by row, before its day', async () => {
  await happened(daysAgo(8));
  const short = { ...(await makeForm(database)), webhookId: '' };
  short.webhookId = await makeWebhook(database, short, { url: 'https://receiver.test/' });
  await database.query(`update forms set retention = '{"deliveries": 7}' where id = $1`, [short.formId]);
  await happened(daysAgo(8), { of: short });
  const kept = await happened(daysAgo(6), { of: short });
  const pruned = await pruneLedger({ database }, { retentionDays: 28 });
  assert.deepEqual(pruned, { parts: 0, events: 1, deliveries: 1 });
  assert.ok((await idsOf('events')).includes(kept));
});

test('a delivery that is still sent holds its day up; when it is over, the day goes', async () => {
  const number = await partOf(daysAgo(26));
  await happened(daysAgo(26));
  const waiting = await happened(daysAgo(26), { status: 'Retrying' });
  await pruneLedger({ database }, { retentionDays: 24 });
  assert.equal((await idsOf('events')).length, 2);
  assert.ok(await isThere(`events_${number}`));
  await pruneLedger({ database }, { retentionDays: 20 });
  assert.deepEqual(await idsOf('events'), [waiting], 'after three days all others go');
  await database.query(`update deliveries set status = 'Failed'`);
  assert.ok((await pruneLedger({ database }, { retentionDays: 20 })).parts > 3);
  assert.deepEqual(await idsOf('attempts', 'delivery_id'), []);
  assert.equal(await isThere(`events_${number}`), false);
});

test('an event of before midnight stays while a delivery of after midnight, which is in the next part, is still sent', async () => {
  const midnight = day(18).getTime();
  const event = await happened(new Date(midnight - 1), { status: 'Retrying', toldAt: new Date(midnight) });
  await pruneLedger({ database }, { retentionDays: 17 });
  assert.deepEqual(await idsOf('events'), [event]);
  await database.query(`update deliveries set status = 'Failed'`);
  await pruneLedger({ database }, { retentionDays: 17 });
  assert.deepEqual(await idsOf('events'), []);
});

test('whoever reads the feed is told of what went with its day', async () => {
  const other = await makeForm(database);
  const ends = [
    [place.workspaceId, 3],
    [other.workspaceId, 5],
  ] as const;
  for (const [workspaceId, last] of ends)
    await database.query('insert into feeds (workspace_id, last, read_at) values ($1, $2, now())', [
      workspaceId,
      last,
    ]);
  await happened(daysAgo(18), { position: 1 });
  await happened(daysAgo(18), { position: 2 });
  await happened(daysAgo(3), { position: 3 });
  await happened(daysAgo(18));
  await pruneLedger({ database }, { retentionDays: 16 });
  const { rows } = await database.query(
    'select workspace_id, last::integer, removed::integer from feeds order by last',
  );
  assert.deepEqual(rows, [
    { workspace_id: place.workspaceId, last: 4, removed: 4 },
    { workspace_id: other.workspaceId, last: 5, removed: 0 },
  ]);
});

test('who drops a day and is killed, or finds it in use, leaves it whole; others wait no longer than a moment', async () => {
  await happened(daysAgo(14));
  const before = await selectParts(database, {});
  const reader = await database.connect();
  for (let isKilled = false; !isKilled; ) {
    await reader.query('rollback; begin; select from events');
    const dropping = { isOver: false };
    const ended = dropParts(database, daysAgo(12))
      .then(
        () => false,
        () => true,
      )
      .finally(() => (dropping.isOver = true));
    while (!dropping.isOver)
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like 'lock table%'`,
      );
    isKilled = await ended;
  }
  const submitted = happened(daysAgo(0));
  assert.equal((await pruneLedger({ database }, { retentionDays: 12 })).parts, 0);
  await submitted;
  await reader.query('rollback');
  reader.release();
  assert.deepEqual(await selectParts(database, {}), before);
  assert.equal((await idsOf('events')).length, 2);
  assert.ok((await pruneLedger({ database }, { retentionDays: 12 })).parts > 0);
  assert.equal((await idsOf('events')).length, 1);
});

test('while somebody reads for long, as a backup does, nobody is kept waiting by who would drop a day', async () => {
  const backup = await database.connect();
  await backup.query('begin; select from attempts; select pg_sleep(1)');
  const dropping = { isOver: false };
  const dropped = dropParts(database, daysAgo(10)).finally(() => (dropping.isOver = true));
  const waiting: string[] = [];
  while (!dropping.isOver) {
    const { rows } = await database.query<{ query: string }>(
      `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    waiting.push(...rows.map(({ query }) => query));
  }
  assert.equal(await dropped, 0);
  assert.deepEqual(waiting, []);
  await backup.query('rollback');
  backup.release();
  assert.ok((await dropParts(database, daysAgo(10))) > 0);
});

test('a transaction of which we may not know since when it goes on counts as one that does for long', async () => {
  const asker = await database.connect();
  await asker.query(`begin;
    create role nobody_special;
    grant usage on schema public to nobody_special;
    grant select on ledger_parts to nobody_special;
    set local role nobody_special`);
  assert.equal((await isUsedForLong(asker, {}))[0]!.used, false);
  const other = await database.connect();
  await other.query('begin; select from attempts');
  assert.equal((await isUsedForLong(asker, {}))[0]!.used, true);
  for (const client of [other, asker]) {
    await client.query('rollback');
    client.release();
  }
});

test('with a webhook go its deliveries of all days with their attempts, with a form its events', async () => {
  for (const days of [0, 2, 4, 6]) await happened(daysAgo(days));
  await database.query('delete from webhooks where id = $1', [place.webhookId]);
  assert.deepEqual(await idsOf('deliveries'), []);
  assert.deepEqual(await idsOf('attempts', 'delivery_id'), []);
  assert.equal((await idsOf('events')).length, 4);
  await database.query('delete from workspaces where id = $1', [place.workspaceId]);
  assert.deepEqual(await idsOf('events'), []);
});
