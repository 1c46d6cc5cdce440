import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { Queue } from '#kit/queue/worker.ts';
import { isSlice } from '#test/cases.ts';
import { certificate, openReceiver, type Reply } from '#test/receiver.ts';
import { eventsPerFault, openStage } from './stage.ts';

// F14 to F19: faulty receivers. Each event is delivered at least once after the receiver recovers.

const stage = await openStage();
const queue = stage.startWorker({ timeoutSeconds: 1.5 });

/** The reply to the first requests, half as many as events. After that the receiver works. */
const passing: Record<string, Reply> = {
  'F14 and F15, a receiver that never answers': 'hang',
  'F15, headers that drip': 'drip headers',
  'F15, a body that drips': 'drip body',
  'F17, a reset before the answer': 'reset',
  'F17, a reset within the answer': 'reset midway',
  'C06, 500': 500,
  'C06, 503': 503,
  'C06, 429': 429,
  'C06, 408': 408,
};

/** Faults that wait for a deadline in each of many requests. npm test keeps another of each kind. */
const waiting = new Set([
  'F15, headers that drip',
  'F17, a flood of 1xx',
  'F16, headers of 1 MB',
  'a thousand encodings',
]);

for (const [fault, reply] of Object.entries(passing)) {
  test(`${fault}: every event is delivered at least once, with one ID and identical bytes`, {
    skip: isSlice && waiting.has(fault),
  }, async () => {
    const receiver = await openReceiver();
    const scene = await stage.setScene(receiver.url);
    const failures = eventsPerFault / 2;
    receiver.replyWith(...Array<Reply>(failures).fill(reply), 200);
    await stage.fire(scene, queue);
    const lines = await stage.settled(scene);
    assert.deepEqual([...new Set(lines.map(({ status }) => status))], ['Success']);
    const byId = Map.groupBy(receiver.requests, ({ headers }) => headers['x-service-delivery-id']);
    assert.equal(byId.size, eventsPerFault);
    // There are more requests if a busy machine answers too late.
    assert.ok(receiver.requests.length >= eventsPerFault + failures);
    for (const requests of byId.values())
      assert.equal(new Set(requests.map(({ body }) => body.toString())).size, 1);
  });
}

/** Starts a server that runs `onSocket` for each connection. */
async function serve(
  onSocket: (socket: Socket) => void,
  options?: { isPlain: boolean } | object,
): Promise<string> {
  const sockets = new Set<Socket>();
  const welcome = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  };
  const isPlain = options !== undefined && 'isPlain' in options;
  const server = isPlain
    ? createServer(welcome)
    : createTlsServer({ ...certificate('receiver'), ...options }, welcome);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Receivers that never answer in time. `broken` lists those with invalid answers. */
const slow: Record<string, [reason: RegExp, url: () => Promise<string>]> = {
  'F14, accepted and never read': [
    /within 1.5 seconds/,
    () => serve((socket) => socket.pause(), { isPlain: true }),
  ],
  'F17, a flood of 1xx': [
    /within 1.5 seconds/,
    () =>
      serve((socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
        socket.on('close', () => clearInterval(timer));
      }),
  ],
};
const broken: typeof slow = {
  'F17, HTTP/0.9': [
    /not valid HTTP/,
    () => serve((socket) => socket.once('data', () => socket.end('hello'))),
  ],
  'F16, headers of 1 MB': [
    /not valid HTTP/,
    () =>
      serve((socket) =>
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1e6)}\r\n\r\n`)),
      ),
  ],
  'F18, a self-signed certificate': [
    /certificate/,
    async () => (await openReceiver({ certificate: 'selfsigned' })).url,
  ],
  'F18, a certificate of another host': [
    /certificate/,
    async () => (await openReceiver({ certificate: 'elsewhere' })).url,
  ],
  'F18, TLS 1.0': [
    /secure connection/,
    () => serve(() => {}, { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ],
  'F18, no TLS at all': [
    /secure connection/,
    () => serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), { isPlain: true }),
  ],
};

function testLasting(faults: typeof slow, worker: () => Queue | Promise<Queue>): void {
  for (const [fault, [reason, open]] of Object.entries(faults)) {
    test(`${fault}: six scheduled requests, each with its kind of failure, then Failed`, {
      skip: isSlice && waiting.has(fault),
    }, async () => {
      const scene = await stage.setScene(await open());
      await stage.fire(scene, await worker(), Math.min(4, eventsPerFault));
      for (const line of await stage.settled(scene)) {
        assert.deepEqual([line.status, line.attempts], ['Failed', 6]);
        for (const each of line.reasons) assert.match(each!, reason);
      }
    });
  }
}
testLasting(slow, () => queue);

/**
 * Starts a separate worker with a long deadline, for tests of answers that must not time out on a busy
 * machine.
 */
async function withoutHurry(): Promise<Queue> {
  await queue.stop({ graceMs: 0 });
  return stage.startWorker({ timeoutSeconds: 20 });
}
testLasting(broken, withoutHurry);

const statuses = [301, 302, 303, 307, 308] as const;
test('F19: a redirect is a failure and is never followed', async () => {
  const canary = await openReceiver();
  const worker = await withoutHurry();
  for (const status of statuses) {
    const receiver = await openReceiver();
    receiver.replyWith({ status, headers: { Location: canary.url } });
    const scene = await stage.setScene(receiver.url);
    await stage.fire(scene, worker, 3);
    const lines = await stage.settled(scene);
    assert.ok(lines.every((line) => line.status === 'Failed' && line.attempts === 1));
    assert.equal(receiver.requests.length, 3);
  }
  assert.equal(canary.requests.length, 0);
});

const bomb = gzipSync(Buffer.alloc(20_000_000));
const huge: Record<string, Reply> = {
  'an endless answer': 'endless',
  'a gzip bomb': { status: 200, headers: { 'Content-Encoding': 'gzip' }, body: bomb },
  'a thousand encodings': {
    status: 200,
    headers: { 'Content-Encoding': Array(1_000).fill('gzip').join(',') },
    body: bomb,
  },
};
for (const [fault, reply] of Object.entries(huge)) {
  test(`F16, ${fault}: the status makes it a success, and memory does not grow`, {
    skip: isSlice && waiting.has(fault),
  }, async () => {
    const receiver = await openReceiver();
    receiver.replyWith(reply);
    const scene = await stage.setScene(receiver.url);
    const worker = await withoutHurry();
    await stage.fire(scene, worker, 8);
    await stage.settled(scene);
    const before = process.memoryUsage().rss;
    await stage.fire(scene, worker, eventsPerFault * 2);
    const lines = await stage.settled(scene);
    assert.ok(lines.every(({ status }) => status === 'Success'));
    const { rows } = await stage.database.query(
      'select max(length(response_body)) as most from attempts where workspace_id = $1',
      [scene.workspaceId],
    );
    assert.ok(rows[0].most <= 4_096);
    // The receiver's buffers are in this process too. A leak would hold 20 MB for each response.
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 120_000_000, `grew by ${Math.round(grown / 1e6)} MB`);
  });
}
