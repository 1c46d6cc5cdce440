import type { Dispatcher } from 'undici';
import { urlProblem } from '#rules/url-problem.ts';
import { bareHost, openAddressGuard, portOf, resolveName } from './address-guard.ts';
import {
  addressesToDial,
  BlockedTarget,
  type ConnectPhases,
  noPhases,
  type ResolveName,
} from './addresses.ts';
import type { Connection, Connections } from './connections.ts';

/** What is sent over a connection. */
type Message = { path: string; headers: Readonly<Record<string, string>>; body: Buffer };

type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Its first bytes. */
  head: Buffer;
  /** Milliseconds from the beginning to the status line. */
  firstByteMs: number;
  /** Whether it came to its end; else the rest was not read, and the connection is of no more use. */
  isWhole: boolean;
};

/** The deadline of an exchange came before the end of the answer. */
class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** No more of an answer is read: the rest is cut off with the connection. */
const readBytes = 64 * 1_024;
/** How much of what was read is handed on, for the person who debugs the receiver. */
const headBytes = 4 * 1_024;

/**
 * Sends one POST and reads the head of its answer. Compressed answers stay as they are. Memory does not grow with
 * the answer: what is beyond the head is counted and dropped.
 * @param timeoutMs the one deadline, from connecting to the last byte read.
 * @throws DeadlinePassed, the signal's reason, or what the network or the parser said.
 */
function exchange(
  connection: Connection,
  { path, headers, body }: Message,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer> {
  const began = performance.now();
  return new Promise<Answer>((resolve, reject) => {
    let answer: Omit<Answer, 'head' | 'isWhole'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
      connection.destroy(error);
    };
    const succeed = (isWhole: boolean): void => {
      end();
      if (answer) resolve({ ...answer, head: Buffer.concat(chunks).subarray(0, headBytes), isWhole });
    };
    const abort = (): void => fail(signal.reason as Error);
    const timer = setTimeout(() => fail(new DeadlinePassed()), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart(_, status, rawHeaders) {
        if (status < 200) return;
        answer = { status, headers: readHeaders(rawHeaders), firstByteMs: performance.now() - began };
      },
      onResponseData(_, chunk) {
        if (size < headBytes) chunks.push(chunk);
        size += chunk.length;
        if (size < readBytes) return;
        succeed(false);
        connection.destroy(new Error('The answer is longer than what is read of one.'));
      },
      onResponseEnd: () => succeed(true),
      onResponseError: (_, error) => fail(error),
    };
    connection.awaitsAnswer = true;
    connection.client.dispatch({ path, method: 'POST', headers, body }, handler);
  });
}

/** The headers of an answer that are handed on: at most 4 KB, so that a ledger of them stays small. */
function readHeaders(given: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = Object.create(null);
  let left = headBytes;
  for (const [name, value] of Object.entries(given)) {
    const text = String(value);
    left -= name.length + text.length;
    if (left < 0) break;
    kept[name] = text;
  }
  return { ...kept };
}

/** The code of an error; undici's parser error has only its name. */
function classOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** What went wrong, for the delivery log: its class, not its details. The first line that matches. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA)$/, 'There is no host of this name.'],
  [
    /^(ESERVFAIL|ETIMEOUT|EREFUSED|ECANCELLED|EAI_AGAIN|EBADRESP)$/,
    'The name of the host could not be resolved.',
  ],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'No connection could be made in time.'],
  [/^ECONNREFUSED$/, 'The connection was refused.'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'The host cannot be reached.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The connection was closed before the answer was complete.'],
  [/^CERT_HAS_EXPIRED$/, 'The certificate of the host has expired.'],
  [
    /^CERT_NOT_YET_VALID$/,
    'The certificate of the host is not valid yet. Compare the clocks of both machines.',
  ],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'The certificate of the host is for another name.'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
    'The certificate of the host comes from an unknown issuer. If it is your own, the operator of this service can trust it with WEBHOOK_CA_FILE.',
  ],
  [/CERT|UNABLE_TO_|HOSTNAME_MISMATCH/, 'The certificate of the host is not valid.'],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'No secure connection could be made.'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'The answer is not valid HTTP.'],
];

/** Why a request got no answer, in a sentence. */
function reasonOf(error: unknown): string {
  const name = classOf(error);
  return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? 'The request failed.';
}

export type TargetOptions = {
  /** CIDRs that are let through although they are not public. */
  allowNetworks: readonly string[];
  /** Where this service itself is reached. */
  ownUrls?: readonly string[];
  /** Every address of a name; DNS when left out. */
  resolve?: ResolveName;
};

/** The one sentence about every address that is refused, whatever stands behind it. */
const blockedTarget = 'This address is not allowed: a receiver must be publicly reachable.';

/**
 * Says what is wrong with a URL that somebody wants to save, in a sentence. Every blocked target has the same
 * sentence, so that it does not tell what lies behind. A name that cannot be resolved is accepted: its DNS may be
 * set up later, and every connection is checked again.
 */
export async function checkTarget(url: string, options: TargetOptions): Promise<string | undefined> {
  const problem = textProblem(url);
  if (problem !== undefined) return problem;
  const { allowNetworks, ownUrls, resolve = resolveName } = options;
  const target = new URL(url);
  try {
    const guard = openAddressGuard(allowNetworks, ownUrls);
    await addressesToDial(guard, resolve, bareHost(target.hostname), portOf(target));
    return undefined;
  } catch (error) {
    return error instanceof BlockedTarget ? blockedTarget : undefined;
  }
}

/** What is wrong with a URL by its text alone. Port 0 cannot be dialled. */
const textProblem = (text: string): string | undefined =>
  urlProblem(text) ?? (URL.parse(text)?.port === '0' ? blockedTarget : undefined);

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
    const { openConnections } = await import('./connections.ts');
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
