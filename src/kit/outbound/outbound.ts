import type { Dispatcher } from 'undici';
import { urlProblem } from '#rules/url-problem.ts';
import {
  addressesToDial,
  BlockedTarget,
  bareHost,
  type ConnectPhases,
  noPhases,
  openAddressGuard,
  portOf,
  type ResolveName,
  resolveName,
} from './address-guard.ts';
import type { OutboundConnection, OutboundConnections } from './connections.ts';

type Message = { path: string; headers: Readonly<Record<string, string>>; body: Buffer };

type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The first bytes of the response body. */
  head: Buffer;
  /** Milliseconds from the start to the status line. */
  firstByteMs: number;
  /** Whether the response was read to its end. If not, the connection cannot be reused. */
  isWhole: boolean;
};

/** Thrown if an exchange reaches its deadline before the response is complete. */
class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** The maximum number of bytes to read from a response. After these, the connection is closed. */
const readBytes = 64 * 1_024;
/** The number of bytes of a response to keep, for debugging the receiver. */
const headBytes = 4 * 1_024;

/**
 * Sends a POST and reads the start of its response, without decompressing it. Later bytes are counted and
 * dropped, so memory does not grow.
 * @param timeoutMs the deadline, from connecting to the last byte read.
 * @throws DeadlinePassed, the signal's reason, or the error of the network or parser.
 */
function exchange(
  connection: OutboundConnection,
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
        connection.destroy(new Error('The response is longer than the limit.'));
      },
      onResponseEnd: () => succeed(true),
      onResponseError: (_, error) => fail(error),
    };
    connection.awaitsAnswer = true;
    connection.client.dispatch({ path, method: 'POST', headers, body }, handler);
  });
}

/** Returns the response headers to keep: at most 4 KB, so that the delivery log stays small. */
function readHeaders(given: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  let left = headBytes;
  for (const [name, value] of Object.entries(given)) {
    const text = String(value);
    left -= name.length + text.length;
    if (left < 0) break;
    headers[name] = text;
  }
  return { ...headers };
}

/** Returns the code of an error. undici's parser error has only a name. */
function classOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The reason for the delivery log: a kind of failure without details. The first match applies. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA)$/, 'The host name does not exist.'],
  [/^(ESERVFAIL|ETIMEOUT|EREFUSED|ECANCELLED|EAI_AGAIN|EBADRESP)$/, 'The host name could not be resolved.'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'Connecting timed out.'],
  [/^ECONNREFUSED$/, 'The connection was refused.'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'The host cannot be reached.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The connection was closed before the response was complete.'],
  [/^CERT_HAS_EXPIRED$/, "The host's certificate has expired."],
  [/^CERT_NOT_YET_VALID$/, "The host's certificate is not valid yet. Compare the clocks of both machines."],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    "The host's certificate was issued for a different host name.",
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
    "The host's certificate was issued by an unknown authority. If the authority is your own, the operator of this service can trust it with WEBHOOK_CA_FILE.",
  ],
  [/CERT|UNABLE_TO_|HOSTNAME_MISMATCH/, "The host's certificate is not valid."],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'A secure connection could not be established.'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'The response is not valid HTTP.'],
];

/** Returns a sentence that says why a request got no response. */
function reasonOf(error: unknown): string {
  const name = classOf(error);
  return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? 'The request failed.';
}

export type TargetOptions = {
  /** CIDRs that are allowed although they are not public. */
  allowNetworks: readonly string[];
  ownUrls?: readonly string[];
  /** Returns every address of a name. Default: DNS. */
  resolve?: ResolveName;
};

/** One message for every blocked address, so that it reveals nothing about the network. */
const blockedTarget = 'This URL is not allowed: a receiver must be publicly reachable.';

/**
 * Returns why a URL cannot be saved, or undefined if it can. All blocked targets get the same message, which
 * reveals nothing about the network. A name that cannot be resolved is accepted: its DNS may be set up later,
 * and every connection is checked again.
 */
export async function findTargetUrlProblem(url: string, options: TargetOptions): Promise<string | undefined> {
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

/** Returns what is wrong with the text of a URL. Port 0 cannot be used. */
const textProblem = (text: string): string | undefined =>
  urlProblem(text) ?? (URL.parse(text)?.port === '0' ? blockedTarget : undefined);

type OutboundRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The exact bytes to send. */
  body: Buffer;
  /** Cancels the request; sendRequest then throws its reason. */
  signal: AbortSignal;
};

/** The milliseconds of each phase; null if it was not reached or not needed (the connection was reused). */
type Phases = ConnectPhases & {
  /** The time from the start to the status line. */
  firstByte: number | null;
};

/**
 * The result of a request and its duration in milliseconds, from connecting to the last byte read. A failure
 * may succeed on retry. A refusal means that this service does not connect to the address.
 */
export type OutboundResult = { ms: number; phases: Phases } & (
  | {
      kind: 'answer';
      status: number;
      /** At most 4 KB; names in lowercase. */
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

/** The only way to send HTTP requests to URLs that people enter, which are not trusted. */
type Outbound = {
  /**
   * Sends a POST. Redirects are not followed, because that would send the body and its signature to another
   * server. Throws only the reason of `signal`.
   */
  sendRequest(request: OutboundRequest): Promise<OutboundResult>;
  close(): void;
};

/** Returns the result of a request that was never started. */
export const refusedResult = (reason: string): OutboundResult => ({
  kind: 'refusal',
  reason,
  ms: 0,
  phases: { ...noPhases(), firstByte: null },
});

export function openOutboundSender(options: OutboundOptions): Outbound {
  const { allowNetworks, timeoutMs, ownUrls, resolve = resolveName } = options;
  const guard = openAddressGuard(allowNetworks, ownUrls);
  let connections: OutboundConnections | undefined;
  /** undici is loaded for the first request: it takes 8 MB, and not every process sends. */
  const connect = async (): Promise<OutboundConnections> => {
    const { openOutboundConnections } = await import('./connections.ts');
    return (connections ??= openOutboundConnections({ guard, resolve, timeoutMs }));
  };

  return {
    async sendRequest({ url, headers, body, signal }) {
      signal.throwIfAborted();
      const problem = textProblem(url);
      if (problem !== undefined) return refusedResult(problem);
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
            ? `No complete response within ${timeoutMs / 1_000} seconds.`
            : reasonOf(error);
        return { ...result, kind: 'failure', reason, wasConnected: connection.wasConnected };
      }
    },

    close: () => connections?.close(),
  };
}

const phasesOf = ({ phases }: OutboundConnection, firstByte: number | null): Phases => ({
  ...phases,
  firstByte,
});

const present = ({ status, headers, head }: Answer) =>
  ({
    kind: 'answer',
    status,
    headers,
    // PostgreSQL text cannot contain NUL.
    bodyHead: head.toString('utf8').replaceAll('\0', '\uFFFD'),
  }) as const;
