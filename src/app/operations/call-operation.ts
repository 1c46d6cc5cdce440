import type { Readable } from 'node:stream';
import type { ApiRoute, InputOf, ReplyOf } from './operations.ts';
import type { OperationName } from './routes.ts';

/** A request to an operation, with its parameters as strings. */
export type ApiRequest = {
  name: OperationName;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** Makes a repeated POST take effect only once. */
  idempotencyKey?: string;
  /** The ETag of the version that was read. */
  ifMatch?: string;
  /** Whether the response is a file. */
  isStream?: boolean;
};

/** The response of an operation: JSON (undefined if empty) with its ETag if it has one, or a file. */
export type ApiResponse =
  | { value: unknown; tag?: string | undefined; stream?: undefined }
  | { stream: Readable; value?: undefined; tag?: undefined };

/**
 * Sends a request to an operation in this process or on another server.
 * @throws ApiError if the operation refuses the request.
 */
export type Api = (request: ApiRequest) => Promise<ApiResponse>;

/** Calls an operation that returns JSON, with the types from its declaration. */
export async function callOperation<Name extends OperationName>(
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

/**
 * Returns the command for an operation: the resource, then the verb. `listForms` becomes `forms list`. If the
 * path begins with the parent of the resource, the command does too: `getFormSchema` is `forms schema`,
 * `setWebhookSecret` is `webhooks set-secret`. A declaration can set another name (`command`).
 */
export function commandNameOf({
  name,
  path,
  operation,
}: Pick<ApiRoute, 'name' | 'path' | 'operation'>): string {
  if (operation.command !== undefined) return operation.command;
  const [verb, ...words] = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const things = words.join('-');
  const segments = path.split('/').filter((segment) => !segment.startsWith(':'));
  const root = segments[1]!;
  const whole = singular(root);
  if (things === root || things === whole) return `${root} ${verb}`;
  if (things.startsWith(`${whole}-`)) {
    const part = things.slice(whole.length + 1);
    return `${root} ${verb === 'get' || verb === 'list' ? part : `${verb}-${part}`}`;
  }
  return `${segments.includes(things) ? things : plural(things)} ${verb}`;
}

/** Returns the name of a path parameter. `:id` is named after the segment before it. */
export function pathParameterNameOf(path: string, parameter: string): string {
  if (parameter !== 'id') return parameter;
  const segments = path.split('/');
  return singular(segments[segments.indexOf(':id') - 1]!);
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');

const plural = (word: string): string =>
  word.endsWith('s') ? word : word.replace(/(?<=[^aeiou])y$/, 'ie').concat('s');
