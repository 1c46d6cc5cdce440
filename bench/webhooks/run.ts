import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { openInstance } from '#test/process.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvents, type SubmissionEvent } from '#webhooks/record-event.ts';
import { makeForm, makeWebhook, type Place } from '#webhooks/testing.ts';
import { newId, now } from '#kit/clock.ts';
import { describeMachine } from '../report.ts';
import type { BareOrder } from './bare.ts';
import type { ReceiverFigures } from './receiver.ts';

/** Sends of one webhook that are under way at once, when its receiver is quick (app/background.ts). */
const perWebhook = 32;
const events = 600;
const webhooks = 20;
const rounds = 3;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

const start = (name: string, argument?: object): ChildProcess =>
  fork(fileURLToPath(new URL(name, import.meta.url)), argument ? [JSON.stringify(argument)] : [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });

type Receiver = {
  url: string;
  ask(message: 'reset' | 'tell'): Promise<ReceiverFigures>;
  child: ChildProcess;
};

async function startReceiver(): Promise<Receiver> {
  const child = start('receiver.ts');
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    child,
    url: `https://127.0.0.1:${port}`,
    async ask(message) {
      child.send(message);
      return ((await once(child, 'message')) as [ReceiverFigures])[0];
    },
  };
}

/** So many events of 1 KB, as submit.ts records them, in one transaction: they are there all at once. */
const record = (database: Database, place: Place, count: number): Promise<void> =>
  transaction(database, async (client) => {
    for (let left = count; left > 0; left -= 100)
      await recordEvents(client, place.workspaceId, place.formId, makeEvents(place, Math.min(left, 100)));
  });

function makeEvents(place: Place, count: number): SubmissionEvent[] {
  const form = { id: place.formId, name: 'Contact', workspaceId: place.workspaceId };
  const answers = { name: 'Ada Lovelace', message: 'word '.repeat(150) };
  return Array.from({ length: count }, () => {
    const submissionId = newId();
    const submission = { id: submissionId, submittedAt: now(), status: 'completed', reference: {}, answers };
    const snapshot = snapshotOf({ form, submission, fields: {} });
    return { submissionId, kind: 'submission.created', occurredAt: now(), snapshot };
  });
}

async function untilCount(receiver: Receiver, count: number): Promise<ReceiverFigures> {
  for (;;) {
    const figures = await receiver.ask('tell');
    if (figures.count >= count) return figures;
    await sleep(50);
  }
}

type Stage = { database: Database; receiver: Receiver };

const body = JSON.stringify({ text: 'word '.repeat(220) });

/** Deliveries per second with the ledger written, beside what undici alone reaches: the two in turn. */
async function throughput({ database, receiver }: Stage, hooks: number, connections: number): Promise<void> {
  const name = `${hooks} ${hooks === 1 ? 'webhook' : 'webhooks'}`.padEnd(12);
  const count = events * Math.max(hooks, 8);
  const url = `${receiver.url}/hook`;
  const shares: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await receiver.ask('reset');
    await once(start('bare.ts', { url, count, connections, body } satisfies BareOrder), 'exit');
    const bare = rateOf(await untilCount(receiver, count));
    const place = await makeForm(database);
    for (let made = 0; made < hooks; made += 1) await makeWebhook(database, place, { url });
    await receiver.ask('reset');
    await record(database, place, count / hooks);
    const ours = rateOf(await untilCount(receiver, count));
    shares.push(ours / bare);
    say(
      `${name} service ${ours.toFixed(0)}/s   bare ${bare.toFixed(0)}/s   ${((ours / bare) * 100).toFixed(0)} %`,
    );
  }
  say(`${name} median ${(quantile(shares, 0.5) * 100).toFixed(0)} % (goal 60 %)`);
}

const rateOf = ({ count, ms }: ReceiverFigures): number => (count / ms) * 1_000;

/** Milliseconds from an event to its arrival, at so many events a second, one by one. */
async function latencies(
  { database, receiver }: Stage,
  place: Place,
  rate: number,
  seconds: number,
): Promise<number[]> {
  await receiver.ask('reset');
  const began = performance.now();
  for (let made = 0; made < rate * seconds; made += 1) {
    await sleep(Math.max(0, began + (made * 1_000) / rate - performance.now()));
    await record(database, place, 1);
    // As a server does after the commit; this process has no queue.
    await database.query("select pg_notify('formloom_jobs', '')");
  }
  return (await untilCount(receiver, rate * seconds)).delays;
}

const describe = (delays: readonly number[]): string =>
  `p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms`;

async function latencyAndIsolation(stage: Stage): Promise<void> {
  const { database, receiver } = stage;
  const place = await makeForm(database);
  await makeWebhook(database, place, { url: `${receiver.url}/timed` });
  say(`at 50 a second: ${describe(await latencies(stage, place, 50, 10))} (goal p50 100 ms, p99 500 ms)`);
  const alone = await latencies(stage, place, 10, 10);
  const dead = await makeForm(database);
  await makeWebhook(database, dead, { url: `${receiver.url}/dead` });
  await record(database, dead, 10_000);
  const beside = await latencies(stage, place, 10, 20);
  const { mostDead } = await receiver.ask('tell');
  say(`at 10 a second: ${describe(alone)}; beside 10,000 for a dead receiver: ${describe(beside)},`);
  say(`which held at most ${mostDead} connections (goal p99 1 s and twice the other)`);
}

/** `npm run bench -- webhooks` */
export async function benchWebhooks(): Promise<void> {
  say(await describeMachine());
  const receiver = await startReceiver();
  const instance = await openInstance();
  try {
    const server = await instance.start();
    const database = openDatabase(
      { connectionString: instance.databaseUrl },
      { pool: 4, log: openLog('silent') },
    );
    await throughput({ database, receiver }, webhooks, 128);
    await throughput({ database, receiver }, 1, perWebhook);
    await latencyAndIsolation({ database, receiver });
    await database.end();
    await server.terminate();
  } finally {
    receiver.child.disconnect();
    await instance.close();
  }
}
