import { Agent, request } from 'undici';
import { bareHost, openAddressGuard, portOf } from './address-guard.ts';
import { addressesToDial, BlockedTarget, guardedConnector, type ResolveName } from './guarded-connector.ts';
import { resolveName } from './resolve-name.ts';

export type OutboundRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The bytes to send, as they are. */
  body: Buffer;
  /** Gives up without a result: sendRequest then throws its reason. */
  signal: AbortSignal;
};

/**
 * What became of a request, and how many milliseconds it took, from connecting to the last byte that was read.
 * A failure may go away by itself; a refusal is this service's own: it will not connect there.
 */
export type OutboundResult =
  | { kind: 'answer'; status: number; bodyHead: string; ms: number }
  | { kind: 'failure' | 'refusal'; reason: string; ms: number };

export type TargetOptions = {
  /** CIDRs that are let through although they are not public. */
  allowNetworks: readonly string[];
  /** Where this service itself is reached. */
  ownUrls?: readonly string[];
  /** Every address of a name; DNS when left out. */
  resolve?: ResolveName;
};

export type OutboundOptions = TargetOptions & {
  /** From connecting to the last byte read, in milliseconds. */
  timeoutMs: number;
};

/** The only way out of the service over HTTP: to addresses that people enter, and that are not trusted. */
export type Outbound = {
  /**
   * Sends one POST. Redirects are answers like any other: following one would carry the body and its signature to
   * somebody else. Never throws but for `signal`.
   */
  sendRequest(request: OutboundRequest): Promise<OutboundResult>;
  close(): Promise<void>;
};

/** No more of an answer is read: the rest is cut off with the connection. */
const readBytes = 64 * 1_024;
/** How much of what was read is handed on, for the person who debugs the receiver. */
const headBytes = 4 * 1_024;
/** The headers of an answer. */
const headerBytes = 16 * 1_024;
/** Longer, and receivers that close idle connections after 2 s (gunicorn) would do so under a request. */
const keepAliveMs = 1_000;

const blockedTarget = 'This address is not allowed: a receiver must be publicly reachable.';

export function openOutbound(options: OutboundOptions): Outbound {
  const { allowNetworks, timeoutMs, ownUrls, resolve = resolveName } = options;
  const agent = new Agent({
    connect: guardedConnector(openAddressGuard(allowNetworks, ownUrls), resolve, timeoutMs),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: headerBytes,
    // The one deadline of sendRequest stands for these; they would only watch for silence.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async sendRequest({ url, headers, body, signal }) {
      signal.throwIfAborted();
      const began = performance.now();
      const elapsed = (): number => Math.round(performance.now() - began);
      const deadline = AbortSignal.timeout(timeoutMs);
      const problem = urlProblem(url);
      if (problem !== undefined) return { kind: 'refusal', reason: problem, ms: 0 };
      try {
        const end = AbortSignal.any([signal, deadline]);
        const asking = request(url, { dispatcher: agent, method: 'POST', headers, body, signal: end });
        const answer = await unlessAborted(asking, end);
        const bodyHead = await readHead(answer.body);
        return { kind: 'answer', status: answer.statusCode, bodyHead, ms: elapsed() };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof BlockedTarget) return { kind: 'refusal', reason: blockedTarget, ms: elapsed() };
        const reason = deadline.aborted
          ? `No complete answer within ${timeoutMs / 1_000} seconds.`
          : reasonOf(error);
        return { kind: 'failure', reason, ms: elapsed() };
      }
    },

    close: () => agent.destroy(),
  };
}

/**
 * Says what is wrong with a URL that somebody wants to save, in a sentence. Every blocked target has the same
 * sentence, so that it does not tell what lies behind. A name that cannot be resolved is accepted: its DNS may be
 * set up later, and every connection is checked again.
 */
export async function checkTarget(url: string, options: TargetOptions): Promise<string | undefined> {
  const problem = urlProblem(url);
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

/** What is wrong with a URL by its text alone. */
function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  // URL drops tabs and line ends and trims blanks; what is stored must be what was checked.
  if (!url || /[\s\p{Cc}]/u.test(text)) return 'This is not a valid URL.';
  if (url.protocol !== 'https:') return 'The URL must begin with https://.';
  if (url.username || url.password) return 'The URL must not contain a user name or password.';
  if (url.port === '0') return blockedTarget;
  return undefined;
}

/** undici listens to its signal only once it is connected; looking up the name and connecting take time too. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** Reads at most `readBytes` and returns the first `headBytes` as text. Compressed answers stay as they are. */
async function readHead(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= readBytes) break;
  }
  // PostgreSQL's text cannot hold NUL.
  return Buffer.concat(chunks).subarray(0, headBytes).toString('utf8').replaceAll('\0', '\uFFFD');
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
  [/CERT|UNABLE_TO_|HOSTNAME_MISMATCH/, 'The certificate of the host is not valid.'],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'No secure connection could be made.'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'The answer is not valid HTTP.'],
];

function reasonOf(error: unknown): string {
  const name = classOf(error);
  return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? 'The request failed.';
}
