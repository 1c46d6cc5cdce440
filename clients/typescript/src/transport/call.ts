import { ConnectionError, type FormloomError, readError } from './errors.ts';

export type ClientOptions = {
  /** Where the service is, as its PUBLIC_URL says it: `https://forms.example.org`. */
  url: string;
  /** An API key. What anybody may do, such as `forms.submit`, takes none. */
  key?: string;
  /** Sends the requests, in place of the global `fetch`. */
  fetch?: typeof fetch;
  /** How often what may pass is tried again: 429, 503 and a lost connection. 3 by default. */
  retries?: number;
  /** The longest wait before one of these, in seconds; who is asked to wait longer is told so. 60 by default. */
  longestWait?: number;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>;
};

export type CallOptions = {
  signal?: AbortSignal;
  /** For a change: nothing is changed that is not as it was when this was read. An ETag, or what was read. */
  ifMatch?: string | object;
  /** For a POST: sent under the same text within a day, it takes effect once. The client makes one for each call. */
  idempotencyKey?: string;
};

/** An id, or the thing that has it. What was read with an ETag is then changed only as it was read. */
export type Id = string | { readonly id: string };

/** A file as it is. A stream cannot be sent twice: what fails is not tried again. */
export type FileBody = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array>;

/**
 * A list: awaited, it is its first page, or the one that was asked for; iterated, everything in it. Nothing is sent before.
 */
export interface List<Page extends { data: unknown[] }>
  extends PromiseLike<Page>,
    AsyncIterable<Page['data'][number]> {
  /** The pages, one after the other. */
  pages(): AsyncGenerator<Page, void, undefined>;
}

export type Call = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | FormData | FileBody | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Sends a request until it is answered, and tries again what may pass: what the service had no room or no time for (429,
 * 503) did nothing; where the answer was lost, only what cannot take effect twice.
 * @param read takes what a success holds: what breaks off there was no answer.
 * @param Kind of what is refused, where it is not to be that of its status.
 * @throws FormloomError; ConnectionError; what `signal` was aborted with.
 */
export async function send<Content>(
  call: Call,
  { fetch: ask = fetch, retries = 3, longestWait = 60 }: Omit<ClientOptions, 'url'>,
  read: (response: Response) => Promise<Content>,
  Kind?: typeof FormloomError,
): Promise<Content> {
  let isLost = false;
  for (let failures = 0; ; failures += 1) {
    let problem: FormloomError | ConnectionError;
    try {
      const response = await ask(call.url, requestOf(call));
      if (response.ok) return await read(response);
      problem = await readError(response, Kind);
    } catch (cause) {
      problem = lost(call, cause);
      isLost = true;
    }
    const wait = waitFor(problem, failures);
    if (!canRepeat(call, problem, isLost) || failures >= retries || wait > longestWait) throw problem;
    await pause(wait, call.signal);
  }
}

function canRepeat(call: Call, problem: FormloomError | ConnectionError, isLost: boolean): boolean {
  if (call.body instanceof ReadableStream) return false;
  if (problem instanceof ConnectionError) return call.method === 'GET' || 'Idempotency-Key' in call.headers;
  // Under its key the first request, whose answer was lost, may still run.
  return problem.status === 429 || problem.status === 503 || (isLost && problem.status === 409);
}

const requestOf = ({ method, headers, body, signal }: Call): RequestInit => ({
  method,
  headers,
  ...(body !== undefined && { body }),
  ...(signal && { signal }),
  // Node and Deno ask for it where a body is a stream; TypeScript does not know it.
  ...(body instanceof ReadableStream && ({ duplex: 'half' } as object)),
});

/** Whoever aborts a request hears of that alone. */
function lost({ url, signal }: Call, cause: unknown): ConnectionError {
  signal?.throwIfAborted();
  return new ConnectionError(`${new URL(url).origin} does not answer.`, { cause });
}

/** Seconds: as long as the service asks for, else twice as long each time, and not all at once. */
function waitFor(problem: Error & { retryAfter?: number | undefined }, failures: number): number {
  const backOff = 0.5 * 2 ** failures * (0.5 + Math.random() / 2);
  return problem.retryAfter === undefined ? backOff : problem.retryAfter + Math.random() / 10;
}

function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
