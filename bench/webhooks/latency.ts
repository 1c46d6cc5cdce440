import { setTimeout as sleep } from 'node:timers/promises';
import { makeForm, makeWebhook, type Place } from '#test/webhooks/make-webhook.ts';
import { record, type Stage } from './stage.ts';

const waitingForDead = 10_000;

/** Measures the time from commit to receiver, at 50 events per second. */
export async function latency(stage: Stage): Promise<string> {
  const place = await placeFor(stage, '/timed');
  await delaysAt(stage, place, { rate: 50, seconds: 3 });
  const delays = await delaysAt(stage, place, { rate: 50, seconds: 20 });
  return `at 50 a second: ${describe(delays)} (goal p50 100 ms, p99 500 ms)`;
}

/** Measures a healthy receiver alone, and in turn beside one that never responds. */
export async function* isolation(stage: Stage, rounds: number): AsyncGenerator<string> {
  const { database, receiver } = stage;
  const place = await placeFor(stage, '/timed');
  const load = { rate: 20, seconds: 15 };
  const [alone, beside]: [number[], number[]] = [[], []];
  let mostDead = 0;
  for (let round = 0; round < rounds; round += 1) {
    alone.push(...(await delaysAt(stage, place, load)));
    const dead = await placeFor(stage, '/dead');
    await record(database, dead, waitingForDead);
    beside.push(...(await delaysAt(stage, place, load)));
    mostDead = Math.max(mostDead, (await receiver.ask('tell')).mostDead);
    await database.query('delete from webhooks where workspace_id = $1', [dead.workspaceId]);
    await database.query('delete from jobs where workspace_id = $1', [dead.workspaceId]);
    yield `  round ${round + 1}: alone ${describe(alone)}; beside ${describe(beside)}`;
  }
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99);
  yield `at 20 a second alone: ${describe(alone)}; beside ${waitingForDead} for a dead receiver: ${describe(beside)},`;
  yield `p99 ${ratio.toFixed(1)} times (goal 2, and 1 s); the dead one held at most ${mostDead} connections`;
}

async function placeFor({ database, receiver }: Stage, path: string): Promise<Place> {
  const place = await makeForm(database);
  await makeWebhook(database, place, { url: `${receiver.url}${path}` });
  return place;
}

/** Returns the milliseconds from each event to its arrival. */
async function delaysAt(
  { database, receiver }: Stage,
  place: Place,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<number[]> {
  await receiver.ask('reset');
  const began = performance.now();
  for (let made = 0; made < rate * seconds; made += 1) {
    await sleep(Math.max(0, began + (made * 1_000) / rate - performance.now()));
    await record(database, place, 1);
    // Notifies as a server does after the commit, because this process has no queue.
    await database.query("select pg_notify('formloom_jobs', '')");
  }
  return (await receiver.untilCount(rate * seconds)).delays;
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

const describe = (delays: readonly number[]): string =>
  `p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms`;
