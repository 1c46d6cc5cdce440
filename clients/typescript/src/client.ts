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

/** What a response is a copy of: the path, the id and the ETag of a resource. */
type Reading = { place: string; id: string; etag: string };
type Input = Readonly<Record<string, unknown>>;

/** Returns the operations that a key allows: `client.forms.list()`. */
export function openApi(options: ClientOptions): Api {
  const readings = new WeakMap<object, Reading>();

  /** Returns the id of a resource, or of an earlier response. */
  const idOf = (thing: unknown): string => {
    if (typeof thing !== 'object' || thing === null) return String(thing);
    const id = 'id' in thing ? thing.id : readings.get(thing)?.id;
    if (typeof id !== 'string')
      throw new TypeError('An id is required: pass an id, or an object that has one.');
    return id;
  };

  /** Returns the ETag to send if the operation changes what was read; a string is an ETag already. */
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
      throw new TypeError('ifMatch must be an ETag, or an earlier response for the same resource.');
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
    // The declaration of the operation says that it returns a list.
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
  // The table and the type are generated from the same operations (write-api.ts).
  return Object.fromEntries(api) as Api;
}

/**
 * Returns the id that an ETag belongs to: from the path, or of the created resource. The workspace has no id
 * in its path.
 */
const idIn = (place: string, id: string, value: object): string =>
  place.includes(':') ? id || ('id' in value ? String(value.id) : '') : '';

const baseOf = (url: string): string => url.replace(/\/+$/, '').replace(/\/api\/v1$/, '');

/** Splits an input into query and body. */
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
  // A browser sets the type of a blob or a form.
  if (file !== undefined) return file instanceof Blob ? { 'Content-Type': file.type } : {};
  return typeof body === 'string' ? { 'Content-Type': 'application/json' } : {};
}

/** Works without a secure context, which `randomUUID` needs in browsers. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
