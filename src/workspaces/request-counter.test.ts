import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openLog } from '#kit/log.ts';
import { until } from '#test/service.ts';
import { openRequestCounter } from './request-counter.ts';

const log = openLog('silent');

test('after a clock that was a day ahead and went back, a window says so and ends when its time is over', async (t) => {
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

test('a clock that is set ahead begins a new window, and no window of the old one comes back', async (t) => {
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

/** Greets as a Valkey does, takes every command after that and answers none. Counts those that ask it to count. */
async function openSilentValkey(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const command = bytes.toString('latin1').toLowerCase();
      if (/\beval(?:sha)?\b/.test(command)) asked += 1;
      else socket.write('+OK\r\n'.repeat(command.match(/^\*\d/gm)?.length ?? 0));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

test('while a Valkey answers nobody, one request in a second waits for it and all others count here at once', async () => {
  const valkey = await openSilentValkey();
  const counter = await openRequestCounter({ valkeyUrl: valkey.url, log });
  after(() => counter.close());
  for (let request = 1; request <= 50; request += 1)
    assert.equal((await counter.count('key')).requests, request);
  // 50 that wait would be asked for 12 s: there would be a question for each quarter of a second.
  assert.equal(valkey.asked(), 1);
  await until('it to be asked again', async () => {
    await counter.count('key');
    return valkey.asked() === 2;
  });
});
