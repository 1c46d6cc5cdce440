import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openLog } from '#kit/log.ts';
import { until } from '#test/service.ts';
import { openRequestCounter } from './request-counter.ts';

const log = openLog('silent');

test('if the clock was a day ahead and is set back, a window reports its real end and ends then', async (t) => {
  const counter = await openRequestCounter({ valkeyUrl: undefined, log });
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start + 86_400_000 });
  await counter.count('key', 1);
  t.mock.timers.setTime(start);
  const { requests, msLeft } = await counter.count('key', 1);
  assert.equal(requests, 2);
  assert.ok(msLeft > 0 && msLeft <= 1_000, `${msLeft} ms`);
  await until('the window to end', async () => (await counter.count('key', 1)).requests === 1);
});

test('a clock that is set ahead starts a new window, and setting it back does not restore the old one', async (t) => {
  const counter = await openRequestCounter({ valkeyUrl: undefined, log });
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start });
  await counter.count('key');
  t.mock.timers.setTime(start + 86_400_000);
  assert.equal((await counter.count('key')).requests, 1);
  t.mock.timers.setTime(start);
  const { requests, msLeft } = await counter.count('key');
  assert.equal(requests, 2);
  assert.ok(msLeft <= 60_000, `${msLeft} ms`);
});

/** Answers the greeting of a Valkey client and nothing after it. Counts the requests to count. */
async function openSilentValkey(): Promise<{ url: string; countRequests: () => number }> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const command = bytes.toString('latin1').toLowerCase();
      if (/\beval(?:sha)?\b/.test(command)) requests += 1;
      else socket.write('+OK\r\n'.repeat(command.match(/^\*\d/gm)?.length ?? 0));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    countRequests: () => requests,
  };
}

test('if Valkey does not answer, one request per second waits for it, and all others are counted locally', async () => {
  const valkey = await openSilentValkey();
  const counter = await openRequestCounter({ valkeyUrl: valkey.url, log });
  after(() => counter.close());
  for (let request = 1; request <= 50; request += 1)
    assert.equal((await counter.count('key')).requests, request);
  // If all 50 requests waited, they would take 12 s, with one query to Valkey every quarter of a second.
  assert.equal(valkey.countRequests(), 1);
  await until('a second request', async () => {
    await counter.count('key');
    return valkey.countRequests() === 2;
  });
});
