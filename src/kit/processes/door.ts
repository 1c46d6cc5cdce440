import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { acceptWaiting } from '../close-in-order.ts';

/** Whom connections are handed to. */
export type Receiver = {
  /** @param refused is called when the socket could not be handed over and is still the caller's. */
  receive(socket: Socket, refused: () => void): void;
};

/** Where connections come in. They are handed to those admitted, in turn, and never read here. */
export type Door = {
  /** @returns the address, `http://host:port`. @throws the system's error when it cannot listen there. */
  open(place: { host: string; port: number }): Promise<string>;
  admit(receiver: Receiver): void;
  dismiss(receiver: Receiver): void;
  /** Takes in what has connected already, then no more. */
  close(): Promise<void>;
};

/** Connections that wait while nobody is admitted. The system keeps 511 more before it refuses. */
const mostWaiting = 1_000;

export function openDoor(): Door {
  // noDelay belongs to the socket and so goes with it; reading is for the process that gets it.
  const server = createServer({ pauseOnConnect: true, noDelay: true });
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
  // One that cannot be accepted (too many open files, say) is that connection's end and not the service's.
  server.on('error', () => {});
  server.on('connection', (socket) => {
    // Until it is handed over, its end is nobody's concern.
    socket.on('error', () => {});
    hand(socket);
  });
  return {
    async open({ host, port }) {
      server.listen({ host, port });
      await once(server, 'listening');
      return addressOf(server);
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
      if (!server.listening) return;
      await acceptWaiting(server);
      server.close();
      for (const socket of waiting.splice(0)) socket.destroy();
    },
  };
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
