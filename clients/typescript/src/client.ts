import { type Api, table } from './api.ts';
import { listOf, type PageOf } from './pages.ts';
import { type Row, readRow } from './read-row.ts';
import {
  type Call,
  type CallOptions,
  type ClientOptions,
  type FileBody,
  type List,
  send,
} from './transport/call.ts';

/** Where and as what something was read, by what was answered. */
type Reading = { place: string; id: string; etag: string };
type Input = Readonly<Record<string, unknown>>;

/** The operations of a service, for whom the key is: `client.forms.list()`. */
export function openApi(options: ClientOptions): Api {
  const readings = new WeakMap<object, Reading>();

  /** The id of a thing, or of what was read. */
  const idOf = (thing: unknown): string => {
    if (typeof thing !== 'object' || thing === null) return String(thing);
    const id = 'id' in thing ? thing.id : readings.get(thing)?.id;
    if (typeof id !== 'string') throw new TypeError('This names nothing: it takes an id, or what has one.');
    return id;
  };

  /** The ETag of what was read where the operation changes it; a text is one. */
  const etagOf = (thing: unknown, { condition }: Row, id: string): string | undefined => {
    if (typeof thing === 'string') return thing;
    const reading = typeof thing === 'object' && thing !== null ? readings.get(thing) : undefined;
    return reading?.place === condition && reading?.id === id ? reading.etag : undefined;
  };

  function prepare(row: Row, args: readonly unknown[]): { call: Call; id: string } {
    const rest = [...args];
    const [first] = rest;
    const ids: string[] = [];
    const path = row.path.replaceAll(/:\w+/g, () => {
      const id = idOf(rest.shift());
      ids.push(id);
      return encodeURIComponent(id);
    });
    const [id = ''] = ids;
    const file = row.file === undefined ? undefined : (rest.shift() as FileBody);
    const input = ((row.isBare ? undefined : rest.shift()) ?? {}) as Input;
    const { signal, ifMatch, idempotencyKey } = (rest[0] ?? {}) as CallOptions;
    const seen = ifMatch ?? (ids.length > 0 && typeof first === 'object' ? first : undefined);
    const etag = row.condition === undefined ? undefined : etagOf(seen, row, id);
    if (ifMatch !== undefined && etag === undefined)
      throw new TypeError('ifMatch takes an ETag, or what was read of the same thing.');
    const { query, body } = sort(row, input);
    return {
      id,
      call: {
        method: row.method,
        url: baseOf(options.url) + (row.isRoot ? '' : '/api/v1') + path + query,
        signal,
        body: file ?? body,
        headers: {
          ...options.headers,
          Accept: row.isStream ? '*/*' : 'application/json',
          ...(options.key !== undefined && !row.isRoot && { Authorization: `Bearer ${options.key}` }),
          ...typeOf(row, file, body),
          ...(row.method === 'POST' && { 'Idempotency-Key': idempotencyKey ?? newKey() }),
          ...(etag !== undefined && { 'If-Match': etag }),
        },
      },
    };
  }

  async function run(row: Row, args: readonly unknown[]): Promise<unknown> {
    const { call, id } = prepare(row, args);
    return send(call, options, async (response) => {
      if (row.isStream) return response;
      const text = await response.text();
      const value = text === '' ? undefined : (JSON.parse(text) as object);
      const etag = response.headers.get('ETag');
      if (etag !== null && row.place !== undefined && value)
        readings.set(value, { place: row.place, id: idIn(row.place, id, value), etag });
      return value;
    });
  }

  function list(row: Row, args: readonly unknown[]): List<PageOf> {
    const at = row.path.split(':').length - 1;
    const [input, rest] = [
      (row.isBare ? {} : (args[at] ?? {})) as Input,
      args.slice(row.isBare ? at : at + 1),
    ];
    const read = (more: Input) =>
      run(row, [...args.slice(0, at), ...(row.isBare ? [] : [{ ...input, ...more }]), ...rest]);
    // What is a list is so by its declaration.
    return listOf(row.list!, input, read as (more: Input) => Promise<PageOf>);
  }

  const methodOf = (text: string) => {
    const row = readRow(text);
    return (...args: unknown[]) => (row.list === undefined ? run(row, args) : list(row, args));
  };
  const api = Object.entries(table).map(([group, rows]) => [
    group,
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, methodOf(row)])),
  ]);
  // The table and the type are written from the same operations (write-api.ts).
  return Object.fromEntries(api) as Api;
}

/** Whose ETag it is: of what the path names, or of what was made; the workspace has no id in its path. */
const idIn = (place: string, id: string, value: object): string =>
  place.includes(':') ? id || ('id' in value ? String(value.id) : '') : '';

const baseOf = (url: string): string => url.replace(/\/+$/, '').replace(/\/api\/v1$/, '');

/** What of an input goes into the address, and what into the body. */
function sort(
  { inQuery }: Row,
  input: Input | FormData,
): { query: string; body: string | FormData | undefined } {
  if (input instanceof FormData) return { query: '', body: input };
  const search = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (inQuery && !inQuery.includes(name)) body[name] = value;
    else if (value !== undefined) search.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const query = search.toString();
  return { query: query && `?${query}`, body: inQuery && JSON.stringify(body) };
}

function typeOf({ file: type }: Row, file: FileBody | undefined, body: unknown): Record<string, string> {
  if (type) return { 'Content-Type': type };
  // Of its own: a browser says what a blob or a form is.
  if (file !== undefined) return file instanceof Blob ? { 'Content-Type': file.type } : {};
  return typeof body === 'string' ? { 'Content-Type': 'application/json' } : {};
}

/** Without a secure context, which `randomUUID` takes in browsers. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
