import type { Database } from '#kit/database.ts';
import { makeForm, makeWebhook, type Place } from '#test/webhooks/make-webhook.ts';
import { cpuSeconds } from '../cpu-seconds.ts';
import { middle } from '../report.ts';
import type { ReceiverFigures } from './receiver.ts';
import { record, type Stage } from './stage.ts';

/** Requests per second that the receiver saw, and microseconds of the sender's CPU per request. */
type Speed = { rate: number; cpu: number };

/** As long as the bodies of the service. */
const body = JSON.stringify({ text: 'word '.repeat(220) });

type Order = { hooks: number; connections: number; count: number };

/**
 * Measures deliveries per second with the delivery log, against two limits: undici alone, and undici with the
 * log written by the service's own statements. The three take turns, after one uncounted round each.
 */
export async function* throughput(
  stage: Stage,
  { rounds, ...order }: Order & { rounds: number },
): AsyncGenerator<string> {
  const name = `${order.hooks} ${order.hooks === 1 ? 'webhook' : 'webhooks'}`.padEnd(12);
  const shares: { bare: number[]; logged: number[] } = { bare: [], logged: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const bare = await post(stage, order);
    const logged = await postLogged(stage, order);
    const service = await deliver(stage, order);
    if (round === 0) continue;
    shares.bare.push(service.rate / bare.rate);
    shares.logged.push(service.rate / logged.rate);
    yield `${name} service ${describe(service)}   bare ${describe(bare)}   ${percent(shares.bare.at(-1)!)}   bare with the log ${describe(logged)}   ${percent(shares.logged.at(-1)!)}`;
  }
  yield `${name} median ${percent(middle(shares.bare))} of bare, ${percent(middle(shares.logged))} of bare with the log (goal 60 %)`;
}

const post = (stage: Stage, { connections, count }: Order): Promise<Speed> =>
  speedOf(stage, stage.bare, count, () =>
    stage.bare.post({ url: `${stage.receiver.url}/hook`, count, connections, body }),
  );

async function postLogged(stage: Stage, { hooks, connections, count }: Order): Promise<Speed> {
  const { database, url: databaseUrl } = stage.ledger;
  const place = await makePlace(database, `${stage.receiver.url}/hook`, hooks);
  await record(database, place, count / hooks);
  return speedOf(stage, stage.bare, count, () =>
    stage.bare.post({ url: `${stage.receiver.url}/hook`, count, connections, body, databaseUrl }),
  );
}

async function deliver(stage: Stage, { hooks, count }: Order): Promise<Speed> {
  const { database, receiver, service } = stage;
  const place = await makePlace(database, `${receiver.url}/hook`, hooks);
  return speedOf(stage, service, count, () => record(database, place, count / hooks));
}

async function makePlace(database: Database, url: string, hooks: number): Promise<Place> {
  const place = await makeForm(database);
  for (let made = 0; made < hooks; made += 1) await makeWebhook(database, place, { url });
  return place;
}

async function speedOf(
  { receiver }: Stage,
  sender: { pid: number },
  count: number,
  send: () => Promise<void>,
): Promise<Speed> {
  await receiver.ask('reset');
  const before = await cpuSeconds(sender);
  await send();
  const rate = rateOf(await receiver.untilCount(count));
  return { rate, cpu: (((await cpuSeconds(sender)) - before) / count) * 1e6 };
}

const rateOf = ({ count, ms }: ReceiverFigures): number => (count / ms) * 1_000;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const describe = ({ rate, cpu }: Speed): string =>
  `${rate.toFixed(0).padStart(5)}/s cpu ${cpu.toFixed(0).padStart(3)} µs`;
