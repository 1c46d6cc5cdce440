import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { acceptWaiting } from '../concurrency.ts';

/** Whom connections are handed to. */
export type Receiver = {
  /** @param refused is called when the socket could not be handed over and is still the caller's. */
  receive(socket: Socket, refused: () => void): void;
};

/** Where connections come in. They are handed to those admitted, in turn, and never read here. */
export type Door = {
  /**
   * Listens on one address, and for `localhost` on all that the name has, as one process does.
   * @returns the first address, `http://host:port`. @throws the system's error when it cannot listen there.
   */
  open(place: { host: string; port: number }): Promise<string>;
  admit(receiver: Receiver): void;
  dismiss(receiver: Receiver): void;
  /** Takes in what has connected already, then no more. */
  close(): Promise<void>;
};

/** Connections that wait while nobody is admitted. The system keeps 511 more before it refuses. */
const mostWaiting = 1_000;

/** @param find the addresses of a host, the first of them first. */
export function openDoor(find: (host: string) => Promise<readonly string[]> = addressesOf): Door {
  const servers: Server[] = [];
  const receivers: Receiver[] = [];
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
    // noDelay belongs to the socket and so goes with it; reading is for the process that gets it.
    const server = createServer({ pauseOnConnect: true, noDelay: true });
    // One that cannot be accepted (too many open files, say) is that connection's end and not the service's.
    server.on('error', () => {});
    server.on('connection', (socket) => {
      // Until it is handed over, its end is nobody's concern.
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
      // A machine may know ::1 by name alone.
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
          await acceptWaiting(server);
          server.close();
        }),
      );
      for (const socket of waiting.splice(0)) socket.destroy();
    },
  };
}

/** The addresses to listen on for a host. Only `localhost` has several that are meant, 127.0.0.1 and ::1. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
