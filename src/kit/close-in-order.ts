import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Server } from './http.ts';

/**
 * How long the connections in use have to hear, with their next answer, that it is the last: half a second in which nobody
 * asks, in moments in each of which the loop reads what has come. On a machine too busy to let us read, they are as much longer. While
 * anybody asks or is being answered nothing is gained by closing those that wait: their clients may be slow to ask again, or have
 * several connections of which they take any. Each request leaves one less, so this ends.
 */
const lastAnswers = { moments: 25, ms: 20 };
/** More turns than connections wait at once, so that a flood of new ones does not hold up the end. */
const acceptTurns = 1_000;
/** A turn in which there is nothing to do takes a few microseconds. */
const shortTurnMs = 0.1;

/**
 * What ends a server without breaking off a request that a client has begun, in the order that leaves no gap: first no
 * new connections, then the next answer on each is its last, and those without a request are closed when there was
 * time for one. To be called before the server listens, or is handed connections by whoever listens for it.
 * @returns resolves when all is closed, and cuts off what takes longer than it is given, in milliseconds.
 */
export function closeInOrder(server: Server): (graceMs: number) => Promise<void> {
  const http = server.server;
  const sockets = new Set<Socket>();
  let isLast = false;
  const answering = { count: 0, asked: 0 };
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  http.prependListener('request', (_request, response) => {
    answering.count += 1;
    answering.asked += 1;
    response.once('close', () => (answering.count -= 1));
    if (isLast) response.setHeader('Connection', 'close');
  });
  return async (graceMs) => {
    await acceptWaiting(http);
    // Not HTTP's own close: it ends the connections that are idle now, on which a client may be sending already.
    NetServer.prototype.close.call(http);
    // Not the event of the server either: it knows only the connections that it has accepted itself.
    const closed = Promise.all(
      [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    isLast = true;
    const forced = setTimeout(() => http.closeAllConnections(), graceMs);
    const state = { isClosed: false };
    void closed.then(() => (state.isClosed = true));
    const until = performance.now() + graceMs / 2;
    for (let quiet = 0; quiet < lastAnswers.moments; quiet += 1) {
      if (state.isClosed || performance.now() >= until) break;
      const { asked } = answering;
      await sleep(lastAnswers.ms);
      if (answering.count > 0 || answering.asked > asked) quiet = 0;
    }
    http.closeIdleConnections();
    // Browsers connect ahead of need. To Node these are not idle, and it would wait for their first request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await closed;
    clearTimeout(forced);
    await server.close();
  };
}

/**
 * Closing the listening socket resets the connections that the system has accepted and we have not yet; Node takes one
 * in each turn of its loop. So we turn until none comes in a turn that is short, and the caller closes in the same
 * turn: what connects in between is reset, and that is the time of one short turn.
 */
export async function acceptWaiting(server: NetServer): Promise<void> {
  let hasCome = false;
  const note = (): void => {
    hasCome = true;
  };
  server.on('connection', note);
  await nextTurn();
  for (let turn = 0; turn < acceptTurns; turn += 1) {
    hasCome = false;
    const began = performance.now();
    await nextTurn();
    if (!hasCome && performance.now() - began < shortTurnMs) break;
  }
  server.off('connection', note);
}
