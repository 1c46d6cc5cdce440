import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { prepareGracefulShutdown } from './concurrency.ts';
import { openLog } from './log.ts';
import { openServer } from './open-server.ts';

test('a request that arrives while the event loop is blocked is answered before its connection closes', async () => {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  server.get('/', async () => ({ status: 'ok' }));
  const close = prepareGracefulShutdown(server);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const client = connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8');
  const get = (): boolean => client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
  get();
  await once(client, 'data');

  const closed = close(5_000);
  await sleep(400);
  // The next turn of the event loop runs all due timers first, and then reads what arrived after them.
  await nextTurn();
  get();
  const until = performance.now() + 500;
  while (performance.now() < until);
  const [answer] = (await once(client, 'data')) as [string];
  assert.match(answer, /^HTTP\/1\.1 200 [^]*connection: close/i);
  await closed;
});

test('during a pending request, a slow client on another connection is still answered before the server closes', async () => {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  const slow = Promise.withResolvers<void>();
  const requested = Promise.withResolvers<void>();
  server.get('/', async () => ({ status: 'ok' }));
  server.get('/slow', async () => {
    requested.resolve();
    await slow.promise;
    return { status: 'ok' };
  });
  const close = prepareGracefulShutdown(server);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const open = () => connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8');
  const [client, other] = [open(), open()];
  const get = (): boolean => client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
  get();
  await once(client, 'data');
  other.write('GET /slow HTTP/1.1\r\nHost: here\r\n\r\n');
  await requested.promise;

  const closed = close(10_000);
  // Twice the grace period of idle connections when no request is pending.
  await sleep(1_000);
  get();
  const [answer] = (await once(client, 'data')) as [string];
  assert.match(answer, /^HTTP\/1\.1 200 [^]*connection: close/i);
  slow.resolve();
  const [last] = (await once(other, 'data')) as [string];
  assert.match(last, /^HTTP\/1\.1 200 /);
  await closed;
});

test('a client with several connections is answered on each of them while it keeps sending requests', async () => {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  server.get('/', async () => ({ status: 'ok' }));
  const close = prepareGracefulShutdown(server);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const clients = Array.from({ length: 8 }, () =>
    connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8'),
  );
  const ask = async (client: (typeof clients)[number]): Promise<string> => {
    client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    const [answer] = await Promise.race([once(client, 'data'), once(client, 'close')]);
    return String(answer);
  };
  for (const client of clients) await ask(client);

  const closed = close(10_000);
  for (const client of clients) {
    // All pauses together are longer than the half second of silence that ends the shutdown.
    await sleep(150);
    assert.match(await ask(client), /^HTTP\/1\.1 200 [^]*connection: close/i);
  }
  await closed;
});
