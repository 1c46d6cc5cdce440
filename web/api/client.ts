import { send } from '#transport/call.ts';
import { ConnectionError, FormloomError } from '#transport/errors.ts';
import type { Meanwhile } from './meanwhile.ts';

/**
 * An answer that is no success. `status` 0: there was no answer, because the service or the connection is away.
 * The message is made for people.
 */
export class ApiProblem extends FormloomError {
  /** What somebody else was faster with. */
  meanwhile: Meanwhile | undefined;

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

export type Options = {
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** It arrives also where the page is left meanwhile. */
  keepalive?: boolean;
};

type Request = Options & { method: string; type?: string; body?: string | Blob };

/** An answer that broke off, or that is not the service's own, is as good as none. */
export const request = <Body>(address: string, asked: Request): Promise<Body> =>
  receive(address, asked, async (response) => {
    const text = await response.text();
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  });

/** Asks whether a file would be answered, and takes none of it. Why it would not is said to GET alone. */
export async function requestNothing(address: string): Promise<void> {
  const ask = (method: string) => receive(address, { method }, async ({ body }) => body?.cancel());
  await ask('HEAD').catch(() => ask('GET'));
}

/**
 * What a success holds. It is asked once: screens say within seconds that the service is away, and the cache asks again.
 * @throws ApiProblem; what `signal` was aborted with.
 */
async function receive<Content>(
  address: string,
  { type, headers, keepalive = false, ...more }: Request,
  read: (response: Response) => Promise<Content>,
): Promise<Content> {
  const call = {
    ...more,
    url: new URL(address, location.origin).href,
    headers: {
      Accept: 'application/json',
      ...(type !== undefined && { 'Content-Type': type }),
      ...headers,
    },
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
    const message = 'The service cannot be reached. Check the connection and try again.';
    throw new ApiProblem(0, { message });
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
