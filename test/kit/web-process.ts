import { setTimeout as sleep } from 'node:timers/promises';
import { prepareGracefulShutdown } from '#kit/concurrency.ts';
import { openLog } from '#kit/log.ts';
import { openServer } from '#kit/open-server.ts';
import { joinPrimary } from '#kit/processes/primary-link.ts';

/* A web process for tests. It asks the primary for its mood and answers requests with its process id. */

/** `leaves`: disconnects and exits a moment later. `hangs`: blocks at its second request. */
export type Mood = 'well' | 'fails' | 'stays' | 'leaves' | 'hangs';

const told = Promise.withResolvers<void>();
const primary = joinPrimary(process.argv, { onStopping: () => {}, onEnd: told.resolve })!;
const mood = await primary.ask<Mood>('How are you?');
if (mood === 'fails') {
  await primary.fail('It does not feel like it.');
  process.exit(1);
}
const server = openServer({ log: openLog('silent'), trustProxy: false });
let requests = 0;
server.get('/', async () => {
  requests += 1;
  if (mood === 'hangs' && requests === 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return String(process.pid);
});
await server.ready();
const close = prepareGracefulShutdown(server);
primary.serve(server.server);
if (mood === 'leaves') process.disconnect();
await told.promise;
await close(5_000);
if (mood === 'stays') await sleep(60_000);
if (mood === 'leaves') await sleep(300);
process.exit(0);
