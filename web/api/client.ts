import { send } from '#transport/call.ts';
import { ConnectionError, FormloomError } from '#transport/errors.ts';
import type { ConcurrentChange } from './concurrent-change.ts';

/**
 * A failed response. `status` 0 means that there was no response: the service or the connection is down. The
 * message is written for users.
 */
export class ApiProblem extends FormloomError {
  /** What another person changed first, if the change was refused. */
  meanwhile: ConcurrentChange | undefined;

  /** Returns the messages of one form field, for its `error`. */
  of(field: string): string | undefined {
    const messages = this.errors
      .filter((item) => item.field === field || item.field?.startsWith(`${field}.`))
      .map((item) => item.message);
    return messages.length > 0 ? messages.join(' ') : undefined;
  }
}

/** Whether another person changed the thing first (412). */
export const isConcurrentChangeError = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && error.status === 412;

export type RequestOptions = {
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** Sends the request even if the user leaves the page. */
  keepalive?: boolean;
};

type Request = RequestOptions & { method: string; type?: string; body?: string | Blob };

/** A response that broke off or is not from the service counts as no response. */
export const requestJson = <Body>(address: string, request: Request): Promise<Body> =>
  receive(address, request, async (response) => {
    const text = await response.text();
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  });

/** Checks that a file can be downloaded without downloading it. Only GET says why it cannot. */
export async function checkDownload(address: string): Promise<void> {
  const ask = (method: string) => receive(address, { method }, async ({ body }) => body?.cancel());
  await ask('HEAD').catch(() => ask('GET'));
}

/**
 * Returns the content of a successful response. It does not retry: screens report an outage within seconds,
 * and the query cache retries.
 * @throws ApiProblem; the abort reason of `signal`.
 */
async function receive<Content>(
  address: string,
  { type, headers, keepalive = false, ...more }: Request,
  read: (response: Response) => Promise<Content>,
): Promise<Content> {
  const call = {
    ...more,
    url: new URL(address, location.origin).href,
    headers: { Accept: 'application/json', ...(type !== undefined && { 'Content-Type': type }), ...headers },
  };
  try {
    return await send(
      call,
      { retries: 0, fetch: (url, how) => fetch(url, { ...how, keepalive }) },
      read,
      ApiProblem,
    );
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    const message = 'The service cannot be reached. Check your connection and try again.';
    throw new ApiProblem(0, { message });
  }
}

/** Formats the parameters that are set as `?a=1&b=2`, or '' if there are none. */
export function formatQuery(
  parameters: Readonly<Record<string, string | number | boolean | undefined | null>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** Returns the error message, unless the errors belong to fields. */
export function errorMessageWithoutField(error: Error | null): string | undefined {
  const isLocated = error instanceof ApiProblem && error.errors.length > 0;
  return isLocated ? undefined : error?.message;
}

/** How long the service has to answer before it counts as down, in milliseconds. */
const readyMs = 2_000;

/** Whether the service and its dependencies respond. False if the connection is lost. */
export const isServiceReady = (): Promise<boolean> =>
  fetch('/readyz', { signal: AbortSignal.timeout(readyMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
