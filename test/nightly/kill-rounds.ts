import { test } from 'node:test';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { checkDeliveries, crash } from './crash-round.ts';
import { killImports, makeFiles } from './import-round.ts';

/*
 * npm run test:long -- kill <rounds>
 *
 * Sends kill -9 to everything, under load and during imports. Default: 5 rounds.
 */
const rounds = Number(process.argv[2] ?? 5);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`"${process.argv[2]}" is no number of rounds.`);

test(`${rounds} times kill -9 of server and database at a random moment under load`, async () => {
  const receiver = await openReceiver();
  const instance = await makeInstance({ WEBHOOK_TIMEOUT: '1' });
  let server = await instance.start();
  const site = { instance, receiver, form: await publishForm(instance, receiver.url) };
  const acknowledged = new Map<string, string>();
  for (let round = 1; round <= rounds; round += 1) {
    const afterMs = Math.round(Math.random() * 1_500);
    const before = acknowledged.size;
    server = await crash(site, server, { name: `round ${round}`, afterMs, acknowledged });
    process.stdout.write(
      `round ${round}: killed after ${afterMs} ms with ${acknowledged.size - before} acknowledged, all there\n`,
    );
  }
  await checkDeliveries(site, acknowledged);
  const repeats = receiver.requests.length - acknowledged.size;
  process.stdout.write(
    `${acknowledged.size} acknowledged, each delivered; ${repeats} deliveries more (repeats, and submissions whose answer was cut off)\n`,
  );
});

test(`${rounds} times kill -9 of server and database at a random moment during imports`, async () => {
  const instance = await makeInstance();
  let server = await instance.start();
  const site = await makeFiles(instance);
  for (let round = 1; round <= rounds; round += 1) {
    const afterMs = Math.round(Math.random() * 3_000);
    const { server: next, killedAt } = await killImports(
      site,
      server,
      () => new Promise((resolve) => setTimeout(resolve, afterMs)),
    );
    server = next;
    process.stdout.write(
      `round ${round}: killed after ${afterMs} ms at ${JSON.stringify(killedAt)}, all there once\n`,
    );
  }
});
