import type { Meanwhile } from './meanwhile.ts';

/** One problem of a request: by the field it is about, or by the path of a node in a form's structure. */
type ProblemItem = { message: string; field?: string; path?: number[] };

/**
 * An answer that is no success. `status` 0: there was no answer, because the service or the connection is away.
 * The message is made for people.
 */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly errors: readonly ProblemItem[];
  /** Seconds to wait, when the service asked for patience. */
  readonly retryAfter: number | undefined;
  /** Under which the service knows the request. */
  readonly requestId: string | undefined;
  /** What somebody else was faster with. */
  meanwhile: Meanwhile | undefined;

  constructor(
    status: number,
    body: { error?: string; message?: string; errors?: readonly ProblemItem[]; retry_after?: number },
    requestId?: string | null,
  ) {
    super(body.message ?? `The service answered ${status}.`);
    this.status = status;
    this.code = body.error ?? 'unknown';
    this.errors = body.errors ?? [];
    this.retryAfter = body.retry_after;
    this.requestId = requestId ?? undefined;
  }

  /** What is wrong with one field of a form, for its `error`. */
  of(field: string): string | undefined {
    const messages = this.errors
      .filter((item) => item.field === field || item.field?.startsWith(`${field}.`))
      .map((item) => item.message);
    return messages.length > 0 ? messages.join(' ') : undefined;
  }
}

/** Whether somebody else was faster. */
export const isStale = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && error.status === 412;

export type Options = { signal?: AbortSignal; headers?: Readonly<Record<string, string>> };

type Request = Options & { method: string; type?: string; body?: string | Blob };

/** An answer that broke off, or that is not the service's own, is as good as none. */
export async function request<Body>(address: string, asked: Request): Promise<Body> {
  const text = await receive(address, asked, (response) => response.text());
  const read = text === '' ? undefined : readJson(text);
  if (text !== '' && read === undefined) throw unreachable();
  return read as Body;
}

/** Asks whether a file would be answered, and takes none of it. Why it would not is said to GET alone. */
export async function requestNothing(address: string): Promise<void> {
  const ask = (method: string) => receive(address, { method }, async ({ body }) => body?.cancel());
  await ask('HEAD').catch(() => ask('GET'));
}

/** What a success holds. @throws ApiProblem. */
async function receive<Content>(
  address: string,
  { type, ...more }: Request,
  read: (response: Response) => Promise<Content>,
): Promise<Content> {
  let refusal: string;
  let status: number;
  let requestId: string | null;
  try {
    const response = await fetch(address, {
      ...more,
      headers: {
        Accept: 'application/json',
        ...(type !== undefined && { 'Content-Type': type }),
        ...more.headers,
      },
    });
    if (response.ok) return await read(response);
    refusal = await response.text();
    ({ status } = response);
    requestId = response.headers.get('X-Request-Id');
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw unreachable();
  }
  throw new ApiProblem(status, readJson(refusal) ?? {}, requestId);
}

const unreachable = (): ApiProblem =>
  new ApiProblem(0, {
    error: 'offline',
    message: 'The service cannot be reached. Check the connection and try again.',
  });

/** Undefined for what is no JSON: a proxy in between may answer with a page of its own. */
function readJson(text: string): object | undefined {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** `?a=1&b=2` of what is set; '' of nothing. */
export function query(
  parameters: Readonly<Record<string, string | number | boolean | undefined | null>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** What went wrong, when no field says it. */
export function unlocatedProblem(error: Error | null): string | undefined {
  const isLocated = error instanceof ApiProblem && error.errors.length > 0;
  return isLocated ? undefined : error?.message;
}

/** Who does not answer within so many ms is away. */
const readyMs = 2_000;

/** Whether the service and what it needs answer now; where the line is lost they do not. */
export const isReady = (): Promise<boolean> =>
  fetch('/readyz', { signal: AbortSignal.timeout(readyMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
