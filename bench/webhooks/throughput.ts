import { makeForm, makeWebhook } from '#webhooks/testing.ts';
import { cpuSeconds } from '../cpu-seconds.ts';
import type { ReceiverFigures } from './receiver.ts';
import { record, type Stage } from './stage.ts';

/** Requests per second as the receiver saw them, and microseconds that the sender's process worked for one. */
type Speed = { rate: number; cpu: number };

/** As long as the bodies that the service makes. */
const body = JSON.stringify({ text: 'word '.repeat(220) });

/**
 * Deliveries per second with the ledger written, beside what undici alone reaches: the two in turn, after one turn of
 * each that is not counted.
 */
export async function* throughput(
  stage: Stage,
  {
    hooks,
    connections,
    count,
    rounds,
  }: { hooks: number; connections: number; count: number; rounds: number },
): AsyncGenerator<string> {
  const name = `${hooks} ${hooks === 1 ? 'webhook' : 'webhooks'}`.padEnd(12);
  const shares: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const bare = await speedOf(stage, stage.bare, count, () =>
      stage.bare.post({ url: `${stage.receiver.url}/hook`, count, connections, body }),
    );
    const service = await deliver(stage, hooks, count);
    if (round === 0) continue;
    shares.push(service.rate / bare.rate);
    yield `${name} service ${describe(service)}   bare ${describe(bare)}   ${percent(shares.at(-1)!)}`;
  }
  yield `${name} median ${percent(shares.sort((a, b) => a - b)[Math.floor(rounds / 2)]!)} (goal 60 %)`;
}

async function deliver(stage: Stage, hooks: number, count: number): Promise<Speed> {
  const { database, receiver, service } = stage;
  const place = await makeForm(database);
  for (let made = 0; made < hooks; made += 1)
    await makeWebhook(database, place, { url: `${receiver.url}/hook` });
  return speedOf(stage, service, count, () => record(database, place, count / hooks));
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
