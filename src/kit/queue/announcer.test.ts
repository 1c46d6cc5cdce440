import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { delegateBackgroundWork } from '#app/server/processes.ts';
import { cellsOf } from '#cells/cells.ts';
import { makeCells } from '#test/cells/make-cells.ts';
import { testDatabase } from '#test/database.ts';
import { startRelay } from '#test/relay.ts';
import { until } from '#test/service.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import { newId } from '../clock.ts';
import { type Database, openDatabase, transaction } from '../database.ts';
import { openLog } from '../log.ts';
import { announceJobs, announceJobsWithCommit } from '../queue.ts';
import { type JobListener, listenForJobs, openAnnouncer } from './announcer.ts';

const log = openLog('silent');
const { database, url } = await testDatabase();
const cells = await makeCells(database, { connectionString: url }, 3);
after(() => cells?.close());
const pools = cellsOf(database).map((cell) => cell.database) as [Database, Database, Database];

const open: JobListener[] = [];
test.afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.stop()));
});

/** Listens for the jobs of a cell and returns the senders of its notifications. */
async function recordSenders(pool: Database): Promise<string[]> {
  const senders: string[] = [];
  const listener = listenForJobs(pool, { log, notify: (sender) => senders.push(sender) });
  open.push(listener);
  await until('it to listen', async () => listener.isListening());
  return senders;
}

const listening = async (): Promise<number> =>
  (
    await database.query(
      `select from pg_stat_activity where query = 'listen formloom_jobs' and datname = current_database()`,
    )
  ).rowCount!;

test('the queues of a cell are notified of its jobs only', async () => {
  const all: string[][] = [];
  for (const pool of pools) all.push(await recordSenders(pool));
  for (const senders of all) senders.length = 0;
  for (const pool of pools) await announceJobs(pool, 'one');
  await announceJobs(pools[1], 'again');
  await announceJobsWithCommit(pools[0]);
  await until('all to receive the last', async () => all.every((senders) => senders.at(-1) === ''));
  assert.deepEqual(all, [
    ['one', ''],
    ['one', 'again', ''],
    ['one', ''],
  ]);
});

test('simultaneous announcements of all cells of a server use one statement', async () => {
  const all = await Promise.all(pools.map((pool) => recordSenders(pool)));
  const announcers = pools.map((pool) => openAnnouncer({ database: pool, log }, 'busy'));
  const lent = pools.map(() => 0);
  for (const [index, pool] of pools.entries()) pool.on('acquire', () => (lent[index]! += 1));
  for (const announcer of [...announcers, ...announcers]) announcer.announce();
  await until('all to receive their own', async () => all.every((senders) => senders.includes('busy')));
  assert.deepEqual(lent, [1, 0, 0]);
  assert.deepEqual(
    all.map((senders) => senders.filter((sender) => sender === 'busy').length),
    [1, 1, 1],
  );
  await Promise.all(announcers.map((each) => each.stop()));
});

test('a stopping announcer sends its pending announcement, although others of its server continue', async () => {
  const senders = await recordSenders(pools[1]);
  const [ending, other] = [
    openAnnouncer({ database: pools[1], log }, 'last'),
    openAnnouncer({ database, log }, 'other'),
  ];
  ending.announce();
  await ending.stop();
  await until('its announcement', async () => senders.includes('last'));
  await other.stop();
});

test('a stopping announcer notifies others even without new jobs, because jobs it returned are due', async () => {
  const senders = await recordSenders(pools[1]);
  const others = openAnnouncer({ database, log }, 'other');
  await openAnnouncer({ database: pools[1], log }, 'ending').stop();
  await announceJobs(pools[1], 'after');
  await until('the announcement after it', async () => senders.includes('after'));
  assert.deepEqual(
    senders.filter((sender) => sender !== ''),
    ['ending', 'after'],
  );
  await others.stop();
});

test('a failed announcement keeps no process open, even if an announcer stops twice or another one does not stop', async () => {
  const gone = openDatabase({ connectionString: url }, { pool: 1, log });
  await gone.end();
  const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  const [twice, other] = [
    openAnnouncer({ database: gone, log }, 'twice'),
    openAnnouncer({ database: gone, log }, 'other'),
  ];
  await twice.stop();
  assert.equal(timers(), before);
  await other.stop();
  await twice.stop();
  assert.equal(timers(), before);
});

test('one connection listens for all cells of a server, until the last listener stops', async () => {
  await recordSenders(pools[0]);
  const second = await recordSenders(pools[1]);
  assert.equal(await listening(), 1);
  await open.shift()!.stop();
  await announceJobs(pools[1], 'still');
  await until('the other to be notified', async () => second.includes('still'));
  await open.shift()!.stop();
  await until('no listener', async () => (await listening()) === 0);
});

test('a process that leaves the work of a cell to another process wakes the queue there', async () => {
  const [here, far] = [await recordSenders(pools[1]), await recordSenders(pools[2])];
  const first = delegateBackgroundWork({ database, log });
  const others = [pools[1], pools[2]].map((pool) => delegateBackgroundWork({ database: pool, log }, first));
  for (const { wakeQueue } of others) wakeQueue();
  await until('both to be woken', async () =>
    [here, far].every((senders) => senders.some((sender) => sender !== '')),
  );
  await Promise.all([first, ...others].map((each) => each.stop()));
});

test('an email is announced when its transaction commits, and not when it rolls back', async () => {
  const workspaceId = newId();
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('${workspaceId}', 'Test', 'pro', now())`,
  );
  const senders = await recordSenders(database);
  const enqueueEvent = (failure: unknown) =>
    transaction(database, async (client) => {
      await enqueueEmailEvent(client, workspaceId, { kind: 'workspace_kept' });
      senders.length = 0;
      if (failure) throw failure;
    });
  await assert.rejects(enqueueEvent(new Error('it does not happen')));
  await announceJobs(database, 'meanwhile');
  await until('the announcement meanwhile', async () => senders.length > 0);
  assert.deepEqual(senders, ['meanwhile']);
  await enqueueEvent(undefined);
  await until('its announcement', async () => senders.includes(''));
});

test('a listener is notified when its connection is lost, and reports that it is not listening until it reconnects', async () => {
  const relay = await startRelay(url);
  const own = openDatabase({ connectionString: relay.url }, { pool: 1, log });
  after(() => own.end());
  const senders = await recordSenders(own);
  const [listener] = open as [JobListener];
  senders.length = 0;
  relay.silence({ connected: false, next: true });
  relay.hangUp();
  await until('a notification', async () => senders.length > 0);
  assert.equal(listener.isListening(), false);
});
