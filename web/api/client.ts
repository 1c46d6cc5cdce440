import { type OperationName, routes } from '#app/operations/routes.ts';
import { send } from '#transport/call.ts';
import { ConnectionError, FormloomError } from '#transport/errors.ts';

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
      .map((item) => (item.field === field ? withoutFieldName(item.message) : item.message));
    return messages.length > 0 ? messages.join(' ') : undefined;
  }
}

/** Returns a message for a control, whose label names the field in other words than the API. */
export const withoutFieldName = (message: string): string => message.replace(/^"[\w.]+" must/, 'Must');

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

/** What another person changed after the thing was loaded, if known. */
export type ConcurrentChange = {
  /** For example, `webhook` or `form`. */
  readonly thing: string;
  readonly by: string | undefined;
  readonly at: string | undefined;
  readonly differences: readonly { readonly name: string; readonly before: string; readonly now: string }[];
};

/** Finds the operation that reads the thing a path changes: `/forms/:id` for `/forms/:id/archive`. */
export function findReadOperation(path: string): { name: OperationName; thing: string } | undefined {
  const [place = path, resource = ''] = /^\/(\w+)(\/:id)?/.exec(path) ?? [];
  const reading = `GET ${place}`;
  const name = (Object.keys(routes) as OperationName[]).find((each) => routes[each] === reading);
  return name && { name, thing: resource.replace(/s$/, '') };
}

/** Describes the differences in words. Times and counts are left out, because they change by themselves. */
export function describeDifferences(seen: object, now: object): ConcurrentChange['differences'] {
  const later = new Map(Object.entries(now));
  return Object.entries(seen).flatMap(([name, value]) => {
    if (/_(at|since|count)$|^(id|etag)$/.test(name) || !later.has(name)) return [];
    const [before, after] = [formatValue(value), formatValue(later.get(name))];
    const isSame = before === undefined || after === undefined || before === after;
    return isSame ? [] : [{ name: formatName(name), before, now: after }];
  });
}

const formatName = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** Formats a value in a few words. Returns undefined if that is not possible. */
function formatValue(value: unknown): string | undefined {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.toSorted().join(', ') || 'none'
    : undefined;
}
