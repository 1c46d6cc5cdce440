import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { certificate } from '#test/receiver.ts';

/*
 * A TLS receiver in a separate process. `/hook` answers 200, `/dead` never answers. Message `reset` restarts
 * the counts, `tell` returns the figures.
 */
export type ReceiverFigures = {
  count: number;
  /** Milliseconds from the first request to the last. */
  ms: number;
  /** The milliseconds from each event's timestamp to its arrival. */
  delays: number[];
  /** The highest number of concurrent connections to `/dead`. */
  mostDead: number;
};

let figures: ReceiverFigures = { count: 0, ms: 0, delays: [], mostDead: 0 };
let first = 0;
const dead = new Set<Socket>();

const server = createServer(certificate('receiver'), (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url === '/dead') {
      dead.add(request.socket);
      request.socket.once('close', () => dead.delete(request.socket));
      figures.mostDead = Math.max(figures.mostDead, dead.size);
      return;
    }
    const at = performance.now();
    if (figures.count === 0) first = at;
    figures.count += 1;
    figures.ms = at - first;
    // Only few requests are checked for their delay, because parsing JSON would dominate this process.
    if (request.url === '/timed') {
      const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
      figures.delays.push(Date.now() - Date.parse(timestamp));
    }
    response.writeHead(200).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', (message) => {
  if (message === 'reset') figures = { count: 0, ms: 0, delays: [], mostDead: 0 };
  process.send?.(figures);
});
process.once('disconnect', () => process.exit(0));
