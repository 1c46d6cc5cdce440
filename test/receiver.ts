import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** A request as a webhook receiver got it. */
export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The bytes as received. */
  body: Buffer;
  /** performance.now() when the body was complete. */
  at: number;
};

/**
 * The reply to a request: a status, a whole response, or a fault. hang: never responds. drip headers, drip
 * body: a byte every 20 ms, endlessly. reset: drops the connection before the response. reset midway: drops
 * it within the response. endless: a body without an end, as fast as the client reads.
 */
export type Reply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | 'hang'
  | 'drip headers'
  | 'drip body'
  | 'reset'
  | 'reset midway'
  | 'endless';

export type Receiver = {
  url: string;
  requests: ReceivedRequest[];
  /** Sets the replies to the next requests, in order. The last one stays. Default: 200. */
  replyWith(...replies: Reply[]): void;
  /** Resolves with all requests once there are `count` in total. Rejects after `ms`. */
  waitFor(count: number, ms?: number): Promise<ReceivedRequest[]>;
  /** Returns the bytes handed to the network, for endless replies. */
  bytesSent(): number;
  close(): Promise<void>;
};

const certificates = new URL('certs/', import.meta.url);

// A service in this process trusts the receivers' certificate authority, even if one test file runs alone.
setDefaultCACertificates([
  ...getCACertificates('default'),
  readFileSync(new URL('ca.pem', certificates), 'utf8'),
]);

/** Returns a key pair of test/certs. `receiver` is valid for localhost, 127.0.0.1 to 3 and receiver.test. */
export const certificate = (
  name: 'receiver' | 'elsewhere' | 'selfsigned' | 'expired' | 'future',
): { cert: Buffer; key: Buffer } => ({
  cert: readFileSync(new URL(`${name}.pem`, certificates)),
  // The expired and future certificates use the receiver's key.
  key: readFileSync(new URL(`${/expired|future/.test(name) ? 'receiver' : name}.key`, certificates)),
});

/** Starts a webhook receiver with TLS on the loopback interface and closes it after the test file. */
export async function openReceiver(
  options: { host?: string; certificate?: Parameters<typeof certificate>[0]; path?: string } = {},
): Promise<Receiver> {
  const { host = '127.0.0.1', path = '/hook' } = options;
  const requests: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  let replies: Reply[] = [200];
  let sent = 0;

  const server = createServer(certificate(options.certificate ?? 'receiver'), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, path: url, headers, body: Buffer.concat(chunks), at: performance.now() });
      for (const look of waiting) look();
      answer(response, replies.length > 1 ? replies.shift()! : replies[0]!, (bytes) => {
        sent += bytes;
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });

  const receiver: Receiver = {
    url: `https://${host}:${(server.address() as AddressInfo).port}${path}`,
    requests,
    replyWith(...next) {
      replies = next;
    },
    waitFor: (count, ms = 60_000) =>
      new Promise((resolve, reject) => {
        const tooLate = new Error(`waited in vain for ${count} requests`);
        const look = (): void => {
          if (requests.length < count) return;
          waiting.delete(look);
          clearTimeout(limit);
          resolve(requests);
        };
        const limit = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`${tooLate.message}; ${requests.length} came`, { cause: tooLate }));
        }, ms);
        waiting.add(look);
        look();
      }),
    bytesSent: () => sent,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  after(() => receiver.close());
  return receiver;
}

function answer(response: ServerResponse, reply: Reply, count: (bytes: number) => void): void {
  if (typeof reply === 'number') response.writeHead(reply).end();
  else if (typeof reply === 'object') response.writeHead(reply.status, reply.headers).end(reply.body);
  else faults[reply](response, count);
}

type Fault = (response: ServerResponse, count: (bytes: number) => void) => void;

const faults: Record<Extract<Reply, string>, Fault> = {
  hang: () => {},
  'drip headers': (response) =>
    drip(response, 'HTTP/1.1 200 OK\r\nX-Slow: ', (byte) => response.socket?.write(byte)),
  'drip body': (response) => drip(response.writeHead(200), '.', (byte) => response.write(byte)),
  reset: (response) => response.socket?.destroy(),
  'reset midway': (response) => {
    response.writeHead(200, { 'Content-Length': '1000' });
    response.write('the first half', () => response.socket?.destroy());
  },
  endless(response, count) {
    const chunk = Buffer.alloc(16 * 1_024, '.');
    response.writeHead(200);
    const pour = (): void => {
      while (!response.destroyed) {
        count(chunk.length);
        if (!response.write(chunk)) return;
      }
    };
    response.on('drain', pour);
    pour();
  },
};

/** Writes `first`, then a byte every 20 ms until the connection closes. */
function drip(response: ServerResponse, first: string, write: (bytes: string) => void): void {
  write(first);
  const timer = setInterval(() => write('.'), 20);
  response.on('close', () => clearInterval(timer));
}
