import { describeMachine } from '../report.ts';
import { isolation, latency } from './latency.ts';
import { openStage } from './stage.ts';
import { throughput } from './throughput.ts';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * Runs `npm run bench -- webhooks` with as many connections as the service uses
 * (webhooks/sending/deliver.ts): 32 per webhook with a fast receiver, 256 per process.
 */
export async function benchWebhooks({
  rounds,
  profile,
}: {
  rounds: number;
  profile: string | undefined;
}): Promise<void> {
  say(await describeMachine());
  const stage = await openStage(profile);
  try {
    const cases = [
      { hooks: 1, connections: 32, count: 16_000, rounds },
      { hooks: 20, connections: 256, count: 16_000, rounds },
    ];
    for (const each of cases) for await (const line of throughput(stage, each)) say(line);
    say(await latency(stage));
    for await (const line of isolation(stage, rounds)) say(line);
  } finally {
    await stage.close();
  }
}
