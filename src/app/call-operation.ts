import type { Readable } from 'node:stream';
import type { InputOf, ReplyOf } from './operations.ts';
import type { OperationName } from './routes.ts';

/** A request to an operation, as texts: the way it goes over the wire. */
export type ApiRequest = {
  name: OperationName;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** Of a POST, which then takes effect once however often it is sent. */
  idempotencyKey?: string;
  /** The ETag of what a change was made on. */
  ifMatch?: string;
  /** Its answer is a file. */
  isStream?: boolean;
};

/** What an operation answered: JSON (undefined for none) with its ETag where it has one, or a file. */
export type Sent =
  | { value: unknown; tag?: string | undefined; stream?: undefined }
  | { stream: Readable; value?: undefined; tag?: undefined };

/**
 * Sends a request to an operation, of this process or of another service.
 * @throws ApiError with what the operation refuses.
 */
export type Api = (request: ApiRequest) => Promise<Sent>;

/** Calls an operation that answers JSON. What it takes and answers is read off its declaration. */
export async function call<Name extends OperationName>(
  api: Api,
  name: Name,
  input: InputOf<Name>,
): Promise<ReplyOf<Name>> {
  const { params, query = {}, body } = input as Pick<ApiRequest, 'params' | 'body'> & { query?: object };
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const sent = await api({
    name,
    ...(params && { params }),
    query: Object.fromEntries(given.map(([key, value]) => [key, String(value)])),
    ...(body && { body }),
  });
  return (sent as { value: ReplyOf<Name> }).value;
}
