import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { type AddressGuard, bareHost, openAddressGuard, portOf } from './address-guard.ts';
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

export type OutboundOptions = {
  /** CIDRs that are let through although they are not public. */
  allowNetworks: readonly string[];
  /** From connecting to the last byte read, in milliseconds. */
  timeoutMs: number;
  /** Where this service itself is reached. */
  ownUrls?: readonly string[];
  /** Every address of a name. */
  resolve?: (name: string) => Promise<string[]>;
};

/** The only way out of the service over HTTP: to addresses that people enter, and that are not trusted. */
export type Outbound = {
  /**
   * Sends one POST. Redirects are answers like any other: following one would carry the body and its signature to
   * somebody else. Never throws but for `signal`.
   */
  sendRequest(request: OutboundRequest): Promise<OutboundResult>;
  /**
   * Says what is wrong with a URL that somebody wants to save, in a sentence. Every blocked target has the same
   * sentence, so that it does not tell what lies behind. A name that DNS says does not exist is refused; one that
   * DNS cannot tell about now is accepted, and checked again at every connection.
   */
  checkTarget(url: string): Promise<string | undefined>;
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

/** The connection was not made, because the guard refused it. */
class BlockedTarget extends Error {
  override readonly name = 'BlockedTarget';
}

export function openOutbound(options: OutboundOptions): Outbound {
  const { allowNetworks, timeoutMs, ownUrls = [], resolve = resolveName } = options;
  const guard = openAddressGuard(allowNetworks, ownUrls);
  const agent = new Agent({
    connect: guardedConnector(guard, resolve, timeoutMs),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: headerBytes,
    // The one deadline of sendRequest stands for these; they would only watch for silence.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async sendRequest({ url, headers, body, signal }) {
      const began = performance.now();
      const elapsed = (): number => Math.round(performance.now() - began);
      const deadline = AbortSignal.timeout(timeoutMs);
      const problem = urlProblem(url);
      if (problem !== undefined) return { kind: 'refusal', reason: problem, ms: 0 };
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal: AbortSignal.any([signal, deadline]),
        });
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

    async checkTarget(url) {
      const problem = urlProblem(url);
      if (problem !== undefined) return problem;
      const { hostname, port } = { hostname: bareHost(new URL(url).hostname), port: portOf(new URL(url)) };
      try {
        await addressesToDial(guard, resolve, hostname, port);
        return undefined;
      } catch (error) {
        if (error instanceof BlockedTarget) return blockedTarget;
        return isAbsent(error) ? `There is no host named ${hostname}.` : undefined;
      }
    },

    close: () => agent.destroy(),
  };
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

/**
 * Makes connections to checked addresses only: those that were checked are those that are dialled, so a name that
 * resolves to something else a moment later changes nothing. TLS and the Host header still have the name.
 */
function guardedConnector(
  guard: AddressGuard,
  resolve: (name: string) => Promise<string[]>,
  timeoutMs: number,
): buildConnector.connector {
  const connect = async (...[options, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    try {
      const port = Number(options.port) || 443;
      const addresses = await addressesToDial(guard, resolve, bareHost(options.hostname), port);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const lookup: LookupFunction = (_, { all }, answer) =>
        all ? answer(null, found) : answer(null, found[0]!.address, found[0]!.family);
      buildConnector({ lookup, timeout: timeoutMs, allowH2: false, maxCachedSessions: 0 })(options, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

/**
 * The addresses of a host, all of them checked: one that may not be connected to refuses them all.
 * @throws BlockedTarget, or what the resolver throws.
 */
async function addressesToDial(
  guard: AddressGuard,
  resolve: (name: string) => Promise<string[]>,
  hostname: string,
  port: number,
): Promise<string[]> {
  if (guard.isOwnHost(hostname, port)) throw new BlockedTarget();
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname);
  if (!addresses.every((address) => guard.mayConnect(address, port))) throw new BlockedTarget();
  return addresses;
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

const isAbsent = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(classOf(error));

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
