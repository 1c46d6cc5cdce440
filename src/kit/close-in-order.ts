import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** More turns than connections wait at once, so that a flood of new ones does not hold up the end. */
const acceptTurns = 1_000;
/** How long a connection may still send its first request. */
const firstRequestMs = 1_000;

/** Makes `server.close()` break off nothing that a client has begun, and wait for nothing that none has. */
export function closeInOrder(server: FastifyInstance): void {
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.addHook('preClose', async () => {
    await acceptWaiting(server);
    // Browsers connect ahead of need, and Node would wait for a request there as long as it waits for any.
    setTimeout(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, firstRequestMs).unref();
  });
}

/**
 * Closing the listening socket resets the connections that the system has accepted and we have not yet. Node takes one
 * in each turn of its loop: we turn until none comes, and close in the same turn.
 */
async function acceptWaiting({ server }: FastifyInstance): Promise<void> {
  let isWaiting = true;
  const note = (): void => {
    isWaiting = true;
  };
  server.on('connection', note);
  for (let turn = 0; isWaiting && turn < acceptTurns; turn += 1) {
    isWaiting = false;
    // The first turn may have asked the system before we began to count.
    await nextTurn();
    await nextTurn();
  }
  server.off('connection', note);
}
