import { Client } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { type ConnectPhases, noPhases, type ResolveName } from './addresses.ts';
import { guardedConnector } from './guarded-connector.ts';

/** One connection to a receiver, which carries one request at a time. It connects by itself when it is used. */
export type Connection = {
  readonly origin: string;
  readonly client: Client;
  /** Of the request that it carries now: how it came to be connected. All null when it was connected before. */
  phases: ConnectPhases;
  /** Whether the answer of the request that it carries is still to come. */
  awaitsAnswer: boolean;
  /** Whether it ever was a secure connection. */
  wasConnected: boolean;
  /** Between `take` and `give`. */
  isTaken: boolean;
  /** Breaks it off, also while it is being made. */
  destroy(reason: Error): void;
};

/** The connections of this process to receivers; those that are idle for a second are closed. */
export type Connections = {
  take(origin: string): Connection;
  /** Gives one back whose request has ended well. */
  give(connection: Connection): void;
  /** Its request ended badly, and it was destroyed. */
  forget(connection: Connection): void;
  close(): void;
};

/** The headers of an answer. */
const headerBytes = 16 * 1_024;
/** Longer, and receivers that close idle connections after 2 s (gunicorn) would do so under a request. */
const keepAliveMs = 1_000;

type ConnectionsOptions = { guard: AddressGuard; resolve: ResolveName; timeoutMs: number };

export function openConnections(options: ConnectionsOptions): Connections {
  const idle = new Map<string, Connection[]>();
  const all = new Set<Connection>();

  const forget = (connection: Connection): void => {
    all.delete(connection);
    const left = (idle.get(connection.origin) ?? []).filter((each) => each !== connection);
    if (left.length > 0) idle.set(connection.origin, left);
    else idle.delete(connection.origin);
  };

  const make = (origin: string): Connection => {
    const connection = makeConnection(origin, options);
    all.add(connection);
    connection.client.on('connect', () => {
      connection.wasConnected = true;
    });
    connection.client.on('disconnect', () => {
      // It was closed while it was idle, and taken before that was known: what has not been sent goes over a new one.
      // What was under way has failed by now.
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
      for (const connection of all) connection.destroy(new Error('The process stops.'));
      all.clear();
      idle.clear();
    },
  };
}

function makeConnection(origin: string, { guard, resolve, timeoutMs }: ConnectionsOptions): Connection {
  const ending = new AbortController();
  const connection: Connection = {
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
      // The one deadline of an exchange stands for these; they would only watch for silence.
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
