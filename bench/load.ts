import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

/*
 * The load generator, a separate process. It keeps `concurrency` connections busy with one request each for a
 * while, and sends back what it counted. It reads only status and length of a response, to leave most of the
 * two cores to the service. It counts in microseconds, because a single request takes about 300.
 */

/** A request of a case. Requests are sent in turn; each connection starts at a different one. */
export type Request = {
  method: 'GET' | 'POST';
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
};

export type LoadOrder = { port: number; requests: readonly Request[]; concurrency: number; seconds: number };

export type LoadFigures = {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
};

/** The message that comes back over the channel: figures or a problem. */
export type LoadOutcome = LoadFigures | { problem: string };

function serialise({ method, path, headers = {}, body = '' }: Request): Buffer {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(method === 'POST' && {
      'Content-Length': Buffer.byteLength(body),
    }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Returns the length of the response that begins in `bytes`, once its head is complete. @throws if it is not
 * a success.
 */
function answerLength(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (!/^HTTP\/1\.1 2\d\d/.test(head) || length === undefined)
    throw new Error(`an answer was not a success with a length: ${bytes.toString('utf8', 0, 600)}`);
  return headEnd + 4 + Number(length);
}

async function load({ port, requests, concurrency, seconds }: LoadOrder): Promise<LoadFigures> {
  const prepared = requests.map(serialise);
  const histogram = createHistogram();
  const end = performance.now() + seconds * 1_000;
  const began = performance.now();
  let answered = 0;

  /**
   * Uses one connection until the time is up: sends a request, waits for the whole response, sends the next.
   */
  const occupy = (socket: Socket, first: number): Promise<void> =>
    new Promise((resolve, reject) => {
      let next = first;
      let asked = 0;
      let parts: Buffer[] = [];
      let received = 0;
      let expected: number | undefined;
      const ask = (): void => {
        asked = performance.now();
        socket.write(prepared[next++ % prepared.length]!);
      };
      socket.on('error', reject);
      socket.on('end', () => reject(new Error('the server closed a connection')));
      socket.on('connect', ask);
      socket.on('data', (chunk) => {
        parts.push(chunk);
        received += chunk.length;
        try {
          expected ??= answerLength(parts.length === 1 ? chunk : Buffer.concat(parts));
        } catch (error) {
          return reject(error);
        }
        if (expected === undefined || received < expected) return;
        const at = performance.now();
        histogram.record(Math.max(1, Math.round((at - asked) * 1_000)));
        answered += 1;
        parts = [];
        received = 0;
        expected = undefined;
        if (at < end) ask();
        else resolve();
      });
    });

  const sockets = Array.from({ length: concurrency }, () =>
    connect({ port, host: '127.0.0.1', noDelay: true }),
  );
  const stride = Math.ceil(prepared.length / concurrency);
  try {
    await Promise.all(sockets.map((socket, index) => occupy(socket, index * stride)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const perSecond = answered / ((performance.now() - began) / 1_000);
  return { perSecond, p50: histogram.percentile(50) / 1_000, p99: histogram.percentile(99) / 1_000 };
}

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (figures) => process.send!(figures),
    (error: Error) => process.send!({ problem: error.message } satisfies LoadOutcome),
  );
});
