import { Client } from 'undici';
import { type AddressGuard, type ConnectPhases, noPhases, type ResolveName } from './address-guard.ts';
import { guardedConnector } from './guarded-connector.ts';

/** A connection to a receiver, with one request at a time. It connects when it is first used. */
export type OutboundConnection = {
  readonly origin: string;
  readonly client: Client;
  /** The connection timings of the current request. All null if the connection was reused. */
  phases: ConnectPhases;
  /** Whether the current request is still waiting for its response. */
  awaitsAnswer: boolean;
  /** Whether a secure connection was ever established. */
  wasConnected: boolean;
  /** Whether it is in use, between `take` and `give`. */
  isTaken: boolean;
  /** Closes the connection, even while it is connecting. */
  destroy(reason: Error): void;
};

/** The connections of this process to receivers. Idle ones are closed after a second. */
export type OutboundConnections = {
  take(origin: string): OutboundConnection;
  /** Returns a connection after a successful request. */
  give(connection: OutboundConnection): void;
  /** Drops a connection that was destroyed after a failed request. */
  forget(connection: OutboundConnection): void;
  close(): void;
};

/** The maximum size of response headers. */
const headerBytes = 16 * 1_024;
/** Shorter than the 2 s after which some receivers (gunicorn) close idle connections. */
const keepAliveMs = 1_000;

type ConnectionsOptions = { guard: AddressGuard; resolve: ResolveName; timeoutMs: number };

export function openOutboundConnections(options: ConnectionsOptions): OutboundConnections {
  const idle = new Map<string, OutboundConnection[]>();
  const all = new Set<OutboundConnection>();

  const forget = (connection: OutboundConnection): void => {
    all.delete(connection);
    const left = (idle.get(connection.origin) ?? []).filter((each) => each !== connection);
    if (left.length > 0) idle.set(connection.origin, left);
    else idle.delete(connection.origin);
  };

  const make = (origin: string): OutboundConnection => {
    const connection = makeConnection(origin, options);
    all.add(connection);
    connection.client.on('connect', () => {
      connection.wasConnected = true;
    });
    connection.client.on('disconnect', () => {
      // A connection that was closed while idle may already be in use again. A request that was not sent yet
      // uses a new one. A request in flight has already failed.
      if (connection.isTaken) return;
      forget(connection);
      connection.destroy(new Error('The connection was closed.'));
    });
    return connection;
  };

  return {
    take(origin) {
      const connection = idle.get(origin)?.pop() ?? make(origin);
      connection.phases = noPhases();
      connection.isTaken = true;
      return connection;
    },
    give(connection) {
      connection.isTaken = false;
      if (connection.client.destroyed) return forget(connection);
      const others = idle.get(connection.origin);
      if (others) others.push(connection);
      else idle.set(connection.origin, [connection]);
    },
    forget,
    close() {
      for (const connection of all) connection.destroy(new Error('The process is stopping.'));
      all.clear();
      idle.clear();
    },
  };
}

function makeConnection(
  origin: string,
  { guard, resolve, timeoutMs }: ConnectionsOptions,
): OutboundConnection {
  const ending = new AbortController();
  const connection: OutboundConnection = {
    origin,
    phases: noPhases(),
    awaitsAnswer: false,
    wasConnected: false,
    isTaken: false,
    client: new Client(origin, {
      connect: guardedConnector({
        guard,
        resolve,
        timeoutMs,
        phases: () => connection.phases,
        awaiting: () => connection,
        signal: ending.signal,
      }),
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: headerBytes,
      // The deadline of the exchange replaces these timeouts, which only detect silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
    destroy(reason) {
      ending.abort(reason);
      connection.client.destroy(reason, () => {});
    },
  };
  return connection;
}
