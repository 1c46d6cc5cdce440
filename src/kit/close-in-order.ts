import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Server } from './http.ts';

/** More turns than connections wait at once, so that a flood of new ones does not hold up the end. */
const acceptTurns = 1_000;
/** A turn in which there is nothing to do takes a few microseconds. */
const shortTurnMs = 0.1;
/** How long a connection may still send its first request. */
const firstRequestMs = 1_000;

/**
 * What ends a server without breaking off a request that a client has begun, and without waiting for connections that
 * have none. To be called before the server listens; the function that it returns resolves when all is closed, and
 * cuts off what takes longer than it is given, in milliseconds.
 */
export function closeInOrder(server: Server): (graceMs: number) => Promise<void> {
  const http = server.server;
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async (graceMs) => {
    await acceptWaiting(http);
    // Node's own server first: the framework's end takes turns of the loop before it comes to that.
    const closed = new Promise((resolve) => {
      http.close(resolve);
    });
    // Browsers connect ahead of need, and Node would wait for a request there as long as it waits for any.
    const unused = setTimeout(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, firstRequestMs);
    const forced = setTimeout(() => http.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(unused);
    clearTimeout(forced);
    await server.close();
  };
}

/**
 * Closing the listening socket resets the connections that the system has accepted and we have not yet; Node takes one
 * in each turn of its loop. So we turn until none comes in a turn that is short, and the caller closes in the same
 * turn: what connects in between is reset, and that is the time of one short turn.
 */
async function acceptWaiting(http: Server['server']): Promise<void> {
  let hasCome = false;
  const note = (): void => {
    hasCome = true;
  };
  http.on('connection', note);
  await nextTurn();
  for (let turn = 0; turn < acceptTurns; turn += 1) {
    hasCome = false;
    const began = performance.now();
    await nextTurn();
    if (!hasCome && performance.now() - began < shortTurnMs) break;
  }
  http.off('connection', note);
}
