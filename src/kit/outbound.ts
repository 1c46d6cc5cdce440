import { openAddressGuard } from './address-guard.ts';
import { BlockedTarget, type ConnectPhases, noPhases } from './outbound/addresses.ts';
import type { Connection, Connections } from './outbound/connections.ts';
import { type Answer, DeadlinePassed, exchange } from './outbound/exchange.ts';
import { reasonOf } from './outbound/reason.ts';
import { blockedTarget, type TargetOptions, textProblem } from './outbound/target.ts';
import { resolveName } from './resolve-name.ts';

type OutboundRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The bytes to send, as they are. */
  body: Buffer;
  /** Gives up without a result: sendRequest then throws its reason. */
  signal: AbortSignal;
};

/** Milliseconds of each step; null for one that was not reached, or was done before (the connection was kept). */
type Phases = ConnectPhases & {
  /** From the beginning to the status line. */
  firstByte: number | null;
};

/**
 * What became of a request, and how many milliseconds it took, from connecting to the last byte that was read.
 * A failure may go away by itself; a refusal is this service's own: it will not connect there.
 */
export type OutboundResult = { ms: number; phases: Phases } & (
  | {
      kind: 'answer';
      status: number;
      /** At most 4 KB; names in lower case. */
      headers: Readonly<Record<string, string>>;
      /** The first 4 KB as text. */
      bodyHead: string;
    }
  | { kind: 'failure'; reason: string; wasConnected: boolean }
  | { kind: 'refusal'; reason: string }
);

export type OutboundOptions = TargetOptions & {
  /** From connecting to the last byte read, in milliseconds. */
  timeoutMs: number;
};

/** The only way out of the service over HTTP: to addresses that people enter, and that are not trusted. */
type Outbound = {
  /**
   * Sends one POST. Redirects are answers like any other: following one would carry the body and its signature to
   * somebody else. Never throws but for `signal`.
   */
  sendRequest(request: OutboundRequest): Promise<OutboundResult>;
  close(): void;
};

/** The result of a request that was never begun. */
export const refusal = (reason: string): OutboundResult => ({
  kind: 'refusal',
  reason,
  ms: 0,
  phases: { ...noPhases(), firstByte: null },
});

export function openOutbound(options: OutboundOptions): Outbound {
  const { allowNetworks, timeoutMs, ownUrls, resolve = resolveName } = options;
  const guard = openAddressGuard(allowNetworks, ownUrls);
  let connections: Connections | undefined;
  /** undici is loaded with the first request: it takes 8 MB, and not every process sends. */
  const connect = async (): Promise<Connections> => {
    const { openConnections } = await import('./outbound/connections.ts');
    return (connections ??= openConnections({ guard, resolve, timeoutMs }));
  };

  return {
    async sendRequest({ url, headers, body, signal }) {
      signal.throwIfAborted();
      const problem = textProblem(url);
      if (problem !== undefined) return refusal(problem);
      const { origin, pathname, search } = new URL(url);
      const open = connections ?? (await connect());
      signal.throwIfAborted();
      const connection = open.take(origin);
      const began = performance.now();
      const ms = (): number => Math.round(performance.now() - began);
      try {
        const message = { path: pathname + search, headers, body };
        const answer = await exchange(connection, message, { timeoutMs, signal });
        if (answer.isWhole) open.give(connection);
        else open.forget(connection);
        return { ...present(answer), ms: ms(), phases: phasesOf(connection, answer.firstByteMs) };
      } catch (error) {
        open.forget(connection);
        if (signal.aborted) throw signal.reason;
        const result = { ms: ms(), phases: phasesOf(connection, null) };
        if (error instanceof BlockedTarget) return { ...result, kind: 'refusal', reason: blockedTarget };
        const reason =
          error instanceof DeadlinePassed
            ? `No complete answer within ${timeoutMs / 1_000} seconds.`
            : reasonOf(error);
        return { ...result, kind: 'failure', reason, wasConnected: connection.wasConnected };
      }
    },

    close: () => connections?.close(),
  };
}

const phasesOf = ({ phases }: Connection, firstByte: number | null): Phases => ({ ...phases, firstByte });

const present = ({ status, headers, head }: Answer) =>
  ({
    kind: 'answer',
    status,
    headers,
    // PostgreSQL's text cannot hold NUL.
    bodyHead: head.toString('utf8').replaceAll('\0', '\uFFFD'),
  }) as const;
