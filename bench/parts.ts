import { readFile } from 'node:fs/promises';
import { leastIdAt, newId, now } from '#kit/clock.ts';
import { type Database, openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { claimJobs } from '#kit/queue/queries.ts';
import { openInstance } from '#test/process.ts';
import { deliverJob } from '#webhooks/delivery-job.ts';
import type { Snapshot } from '#webhooks/event.ts';
import { recordEvents } from '#webhooks/record-event.ts';
import { eventRange, idRange } from '#webhooks/sending/id-range.ts';
import { findDeliveries, settleDeliveries } from '#webhooks/sending/queries.ts';
import { makeForm, makeWebhook, type Place } from '#webhooks/testing.ts';
import { beginParts, dayMs, dropParts } from '#webhooks/upkeep/parts.ts';
import { pruneLedger } from '#webhooks/upkeep/prune.ts';
import { selectParts } from '#webhooks/upkeep/queries.ts';
import { describeMachine } from './report.ts';

/*
 * What parts of the ledger cost those who write to it, and what they save when it is old: the CPU of PostgreSQL's own process for
 * each statement, by turns, which hardly changes with what else runs. One connection for each database.
 */

const daysWithParts = 40;
const rounds = 20;
const eventsOfADay = 50_000;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Side = { name: string; database: Database; place: Place; pid: number; spent: Record<string, number[]> };

async function openSide(server: Database, url: string, name: string, days: number): Promise<Side> {
  const own = new URL(url);
  own.pathname = `/bench_parts_${days}`;
  await server.query(`create database bench_parts_${days}`);
  const database = openDatabase(
    { connectionString: own.href },
    { pool: 1, log: openLog('silent'), limits: false },
  );
  await migrate(database, await readMigrations());
  const ahead = days === 0 ? 0 : days + 7;
  for (let day = ahead; day > 0; day -= 1)
    await beginParts(
      { database },
      { retentionDays: 30, large: 0, at: new Date(now().getTime() - (day - 1) * dayMs) },
    );
  const place = await makeForm(database);
  await makeWebhook(database, place, { url: 'https://receiver.test/' });
  return { name, database, place, pid: await pidOf(database), spent: {} };
}

const pidOf = async (database: Database): Promise<number> =>
  (await database.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;

/** Microseconds that a process has worked (Linux). */
const cpuOf = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1_000;

async function spend<T>({ pid, spent }: Side, what: string, work: () => Promise<T>): Promise<T> {
  const before = await cpuOf(pid);
  const done = await work();
  (spent[what] ??= []).push((await cpuOf(pid)) - before);
  return done;
}

const snapshot = { submission: { answers: { text: 'x'.repeat(1_000) } } } as unknown as Snapshot;

const record = (side: Side): Promise<number> =>
  spend(side, 'an event and its delivery', () =>
    transaction(side.database, (client) =>
      recordEvents(client, side.place.workspaceId, side.place.formId, [
        { submissionId: newId(), kind: 'submission.created', occurredAt: now(), snapshot, fields: {} },
      ]),
    ),
  );

async function deliver(side: Side, count: number): Promise<void> {
  const { database } = side;
  const jobs = await claimJobs(database, {
    look_back: 1e9,
    lease_seconds: 60,
    kinds: [deliverJob],
    caps: [count],
    closed_lanes: [],
    open_lanes: [],
    rooms: [],
    limit: count,
    lost_below: null,
    lost_alone: 2,
  });
  const ids = jobs.map(({ id }) => id);
  const range = idRange(ids);
  await spend(side, `${count} found`, () =>
    findDeliveries(database, {
      workspace_ids: jobs.map(({ workspace_id }) => workspace_id),
      ids,
      most_bytes: 2 ** 31 - 1,
      ...range,
      ...eventRange(range),
    }),
  );
  const outcomes = jobs.map(({ workspace_id, id, lease_token }) => ({
    workspace_id,
    id,
    lease_token,
    status: 'Success',
    trigger: 'schedule',
    started_at: now(),
    response_status: 200,
    response_ms: 1,
  }));
  await spend(side, `${count} settled`, () =>
    settleDeliveries(database, { outcomes: JSON.stringify(outcomes), pause_after: null, ...range }),
  );
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!;

async function compareWriting(sides: readonly Side[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const turn = (index: number) => ((index + round) % 2 ? sides : sides.toReversed());
    for (let index = 0; index < 80; index += 1) for (const side of turn(index)) await record(side);
    for (let index = 0; index < 40; index += 1) for (const side of turn(index)) await deliver(side, 1);
    for (const side of turn(0)) await deliver(side, 40);
    // Until plans and caches are there.
    if (round === 1) for (const side of sides) side.spent = {};
  }
  for (const what of Object.keys(sides[0]!.spent))
    say(
      `${what}: ${sides.map(({ name, spent }) => `${name} ${quantile(spent[what]!, 0.25).toFixed(0)} µs`).join(', ')}`,
    );
}

/** A day of events that were delivered, with their attempts: rows as the service writes them, but for their ids. */
async function fillDay({ database, place }: Side, day: Date): Promise<void> {
  const { rows } = await database.query<{ id: string }>('select id from webhooks');
  const id = `(left('${leastIdAt(day)}', 13) || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8' || lpad(to_hex(n), 3, '0') || '-' || substr(md5(n::text), 1, 12))::uuid`;
  const numbers = `generate_series(1, ${eventsOfADay / 10}) n`;
  const where = `'${place.workspaceId}'::uuid`;
  for (let part = 0; part < 10; part += 1) {
    const own = id.replaceAll('n::text', `(n + ${part * eventsOfADay})::text`);
    await database.query(
      `insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot)
       select ${where}, ${own}, '${place.formId}', gen_random_uuid(), 'submission.created', $1, $2 from ${numbers}`,
      [day, JSON.stringify(snapshot)],
    );
  }
  await database.query(
    `insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, attempts, created_at)
     select workspace_id, id, form_id, $1, id, kind, 'Success', 1, $2 from events where id < $3`,
    [rows[0]!.id, day, leastIdAt(new Date(day.getTime() + dayMs))],
  );
  await database.query(
    `insert into attempts (workspace_id, delivery_id, attempt, trigger, url, request_headers, started_at, response_status, response_ms, response_headers)
     select workspace_id, id, 1, 'schedule', 'https://receiver.test/', '{"a":"b"}', $1, 200, 1, '{"a":"b"}' from deliveries where id < $2`,
    [day, leastIdAt(new Date(day.getTime() + dayMs))],
  );
  await database.query('vacuum analyze events, deliveries, attempts');
  await database.query('checkpoint');
}

async function measureEnd(side: Side, what: string, work: () => Promise<unknown>): Promise<number[]> {
  const wal = async (): Promise<number> =>
    Number((await side.database.query(`select pg_current_wal_insert_lsn() - '0/0' as bytes`)).rows[0].bytes);
  // The connection of before may have been idle for too long.
  const pid = await pidOf(side.database);
  const before = { cpu: await cpuOf(pid), wal: await wal() };
  await work();
  const vacuumed = async (): Promise<void> => {
    // What was removed row by row takes room until this.
    await side.database.query('vacuum events, deliveries, attempts');
  };
  if (what === 'row by row') await vacuumed();
  const spent = [(await cpuOf(pid)) - before.cpu, (await wal()) - before.wal];
  say(
    `${what}: ${(spent[0]! / 1_000).toFixed(0)} ms of CPU, ${(spent[1]! / 1e6).toFixed(2)} MB of WAL for ${eventsOfADay} events (${(spent[0]! / eventsOfADay).toFixed(1)} µs, ${(spent[1]! / eventsOfADay).toFixed(0)} bytes each)`,
  );
  return spent;
}

/** `npm run bench -- parts` */
export async function benchParts(): Promise<void> {
  say(await describeMachine());
  const instance = await openInstance();
  await instance.start();
  const server = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 1, log: openLog('silent') },
  );
  const sides: Side[] = [];
  try {
    sides.push(await openSide(server, instance.databaseUrl, 'one part', 0));
    sides.push(await openSide(server, instance.databaseUrl, `${daysWithParts} days`, daysWithParts));
    await compareWriting(sides);
    const [rows, days] = sides as [Side, Side];
    const parts = await selectParts(days.database, {});
    const day = new Date(parts[1]!.opens!.getTime() + dayMs / 2);
    for (const side of sides) await fillDay(side, day);
    const past = (now().getTime() - parts[1]!.below!.getTime()) / dayMs;
    const slow = await measureEnd(rows, 'row by row', () =>
      pruneLedger({ database: rows.database }, { retentionDays: past - 0.01 }),
    );
    const quick = await measureEnd(days, 'as a day', () => dropParts(days.database, parts[1]!.below!));
    say(
      `${(slow[0]! / quick[0]!).toFixed(0)} times the CPU, ${(slow[1]! / quick[1]!).toFixed(0)} times the WAL`,
    );
  } finally {
    await Promise.all([server, ...sides.map(({ database }) => database)].map((each) => each.end()));
    await instance.close();
  }
}
