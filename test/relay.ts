import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { Client } from 'pg';

/** Which clients silently get no more data from the database: those connected now, and new ones. */
type Silence = { connected: boolean; next: boolean };

/** A connection to a database that can go silent. */
export type Relay = {
  /** The URL of the database through the relay. */
  url: string;
  /** The first packet of each connection. */
  greetings: Buffer[];
  silence(whom: Silence): void;
  /** Closes the open connections. */
  hangUp(): void;
};

/** Opens a raw connection to the server at this URL, by its socket or port. */
export function dial(url: string): Socket {
  const { host, port } = new Client({ connectionString: url });
  return host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host);
}

/** Serves each connection to a new port until the test file ends. Returns `url` with that port. */
export async function standBefore(url: string, serve: (client: Socket) => void): Promise<string> {
  const server = createServer((client) => {
    client.on('error', () => {});
    serve(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const { port } = server.address() as { port: number };
  const { user, database } = new Client({ connectionString: url });
  return `postgres://${user}@127.0.0.1:${port}/${database}`;
}

/** Starts a relay to the database at `url`, which needs no password. */
export async function startRelay(url: string): Promise<Relay> {
  const greetings: Buffer[] = [];
  const upstreams = new Set<Socket>();
  let isDeaf = false;
  const relayed = await standBefore(url, (client) => {
    if (isDeaf) return;
    const upstream = dial(url);
    upstreams.add(upstream);
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.once('data', (first: Buffer) => {
      greetings.push(first);
      upstream.write(first);
      client.pipe(upstream).pipe(client);
    });
  });
  return {
    url: relayed,
    greetings,
    silence({ connected, next }) {
      isDeaf = next;
      if (connected) for (const upstream of upstreams) upstream.unpipe();
    },
    hangUp() {
      for (const upstream of upstreams) upstream.destroy(new Error('hung up'));
    },
  };
}
