import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { acceptWaitingConnections } from '../concurrency.ts';

export type ConnectionReceiver = {
  /** @param refused is called if the socket could not be passed on and still belongs to the caller. */
  receive(socket: Socket, refused: () => void): void;
};

/** Accepts connections and passes them to the admitted receivers in turn. It never reads from them. */
export type ConnectionListener = {
  /**
   * Listens on one address, or for `localhost` on all its addresses, like a single process.
   * @returns the first address, `http://host:port`. @throws the system's error if it cannot listen.
   */
  open(place: { host: string; port: number }): Promise<string>;
  admit(receiver: ConnectionReceiver): void;
  dismiss(receiver: ConnectionReceiver): void;
  /** Accepts connections that are already waiting, then stops listening. */
  close(): Promise<void>;
};

/** The maximum number of connections that wait while there is no receiver. The system keeps 511 more. */
const mostWaiting = 1_000;

/** @param find returns the addresses of a host, the main one first. */
export function openConnectionListener(
  find: (host: string) => Promise<readonly string[]> = addressesOf,
): ConnectionListener {
  const servers: Server[] = [];
  const receivers: ConnectionReceiver[] = [];
  const waiting: Socket[] = [];

  const hand = (socket: Socket): void => {
    const receiver = receivers.shift();
    if (receiver) {
      receivers.push(receiver);
      receiver.receive(socket, () => hand(socket));
    } else if (waiting.length < mostWaiting) waiting.push(socket);
    else socket.destroy();
  };
  const listenOn = async (host: string, port: number): Promise<Server> => {
    // noDelay is a property of the socket and moves with it. Only the receiving process reads.
    const server = createServer({ pauseOnConnect: true, noDelay: true });
    // A failed accept (for example, because of too many open files) affects only that connection.
    server.on('error', () => {});
    server.on('connection', (socket) => {
      // Errors do not matter before the socket is passed on.
      socket.on('error', () => {});
      hand(socket);
    });
    server.listen({ host, port });
    await once(server, 'listening');
    servers.push(server);
    return server;
  };
  return {
    async open({ host, port }) {
      const [first = host, ...others] = await find(host);
      const server = await listenOn(first, port);
      const { port: chosen } = server.address() as AddressInfo;
      // A machine may list ::1 without supporting it.
      await Promise.allSettled(others.map((other) => listenOn(other, chosen)));
      return urlOf(server);
    },
    admit(receiver) {
      receivers.push(receiver);
      for (const socket of waiting.splice(0)) hand(socket);
    },
    dismiss(receiver) {
      const place = receivers.indexOf(receiver);
      if (place !== -1) receivers.splice(place, 1);
    },
    async close() {
      await Promise.all(
        servers.map(async (server) => {
          await acceptWaitingConnections(server);
          server.close();
        }),
      );
      for (const socket of waiting.splice(0)) socket.destroy();
    },
  };
}

/** Returns the addresses to listen on. Only `localhost` has several, 127.0.0.1 and ::1. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
