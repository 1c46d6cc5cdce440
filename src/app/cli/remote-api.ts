import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isRecord } from '#ast/basics/json.ts';
import { ApiError, type ErrorCode, type ErrorItem, errorCodes } from '#kit/errors.ts';
import { typeOfBytes } from '#kit/mime-type.ts';
import type { Api, ApiRequest } from '../operations/call-operation.ts';
import { routeOf } from '../operations/routes.ts';

export type Remote = { url: URL; key: string };

/** Thrown if the server did not respond. The same command may work later. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Returns the root URL of a server, given this URL or the URL of its API. */
const rootOf = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');

/**
 * Opens the operations of another server. The key is sent only to the server's URL: redirects are not
 * followed.
 */
export function openRemoteApi({ url, key }: Remote): Api {
  return async (request) => {
    const { method } = routeOf(request.name);
    const body = request.body && (await contentOf(request.body));
    const response = await fetch(`${rootOf(url)}/api/v1${addressOf(request)}`, {
      method,
      redirect: 'manual',
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body && { 'Content-Type': body.type }),
        ...(request.ifMatch !== undefined && { 'If-Match': request.ifMatch }),
        ...(request.idempotencyKey !== undefined && { 'Idempotency-Key': request.idempotencyKey }),
      },
      ...(body && { body: body.content }),
    }).catch((cause: unknown) => {
      throw new Unreached(`${url.origin} does not respond: ${reasonOf(cause)}.`, { cause });
    });
    if (!response.ok) throw await problemOf(response, url);
    if (request.isStream && response.body)
      return { stream: Readable.fromWeb(response.body as ReadableStream<Uint8Array>) };
    const text = await response.text();
    const tag = response.headers.get('ETag') ?? undefined;
    return { value: text === '' ? undefined : readJson(text, url), tag };
  };
}

/** Returns the body of a request: JSON, or a file with a media type that is detected from its bytes. */
async function contentOf(body: object): Promise<{ type: string; content: string | Uint8Array<ArrayBuffer> }> {
  if (!(body instanceof Uint8Array)) return { type: 'application/json', content: JSON.stringify(body) };
  const type = (await typeOfBytes(body)) ?? 'application/octet-stream';
  return { type, content: new Uint8Array(body) };
}

function addressOf({ name, params = {}, query = {} }: ApiRequest): string {
  const place = routeOf(name).path.replaceAll(/:(\w+)/g, (_, each: string) =>
    encodeURIComponent(params[each]!),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? place : `${place}?${search}`;
}

/** Returns the error for a response that does not come from Formloom. */
const isOther = (url: URL): Error =>
  new Error(
    `The program at ${url.origin} is not Formloom. Set --url to the PUBLIC_URL of a Formloom server.`,
  );

function readJson(text: string, url: URL): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw isOther(url);
  }
}

async function problemOf(response: Response, url: URL): Promise<Error> {
  const problem = readJson(await response.text().then((text) => text || 'null'), url);
  if (!isRecord(problem) || !Object.hasOwn(errorCodes, String(problem['error']))) return isOther(url);
  const { error, message, errors } = problem as { error: ErrorCode; message: string; errors?: ErrorItem[] };
  return new ApiError(error, message, { ...(errors && { errors }) });
}

/** Returns the system's error code, such as ECONNREFUSED. The message of `fetch` only says that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause as NodeJS.ErrnoException).code ?? String(cause);
}
