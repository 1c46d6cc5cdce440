/** A row of the table, read. */
export type Row = {
  method: string;
  /** Below /api/v1, with parameters as `:name`. */
  path: string;
  /** Which fields of the input go into the query; undefined: all of them. */
  inQuery: readonly string[] | undefined;
  /** It takes nothing but what its path names. */
  isBare: boolean;
  /** It stands beside the API, at an address that anybody may call. */
  isRoot: boolean;
  /** The body is a file, of this content type; '': of its own. */
  file: string | undefined;
  /** It answers with a file. */
  isStream: boolean;
  /** How a list goes on: by a cursor, by pages, after the last, or '': not at all. */
  list: string | undefined;
  /** The path at which the ETag is read that it takes. */
  condition: string | undefined;
  /** The path at which what it answers is changed. */
  place: string | undefined;
};

/** Reads `PUT /forms/:id?dry_run if:/forms/:id tag:/forms/:id`. */
export function readRow(row: string): Row {
  const [method = '', address = '', ...marks] = row.split(' ');
  const [path = '', query] = address.split('?');
  const mark = (name: string): string | undefined =>
    marks.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1);
  const sendsAll = method === 'GET' || method === 'DELETE' || mark('file') !== undefined;
  return {
    method,
    path,
    inQuery: sendsAll ? undefined : (query?.split(',') ?? []),
    isBare: marks.includes('bare'),
    isRoot: marks.includes('root'),
    file: mark('file'),
    isStream: marks.includes('stream'),
    list: mark('list'),
    condition: mark('if'),
    place: mark('tag'),
  };
}
