import type { Readable } from 'node:stream';
import type { ApiRoute, InputOf, ReplyOf } from './operations.ts';
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

/**
 * What an operation is called on the command line, by one rule for all: the first word of its name is what is done, and
 * the others are what it is done with. `listForms` is `forms list`. A part of what the path begins with is named after
 * it: `getFormSchema` is `forms schema`, `setWebhookSecret` is `webhooks set-secret`. Where that reads badly the
 * declaration says another (`command`).
 */
export function commandName({
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

/** The name of a path's parameter: `:id` is one of what stands before it. */
export function parameterName(path: string, parameter: string): string {
  if (parameter !== 'id') return parameter;
  const segments = path.split('/');
  return singular(segments[segments.indexOf(':id') - 1]!);
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');

const plural = (word: string): string =>
  word.endsWith('s') ? word : word.replace(/(?<=[^aeiou])y$/, 'ie').concat('s');
