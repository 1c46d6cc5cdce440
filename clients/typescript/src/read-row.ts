/** A parsed row of the table of operations. */
export type Row = {
  method: string;
  /** The path below /api/v1, with parameters as `:name`. */
  path: string;
  /** The input fields that go into the query; undefined means all of them. */
  inQuery: readonly string[] | undefined;
  /** The operation has no input beyond its path parameters. */
  isBare: boolean;
  /** The operation is outside /api/v1 and needs no key. */
  isRoot: boolean;
  /** The content type of a file body; '' uses the file's own. */
  file: string | undefined;
  /** The response is a file. */
  isStream: boolean;
  /** How a list is paged: `cursor`, `page`, `after`, or '' for a single page. */
  list: string | undefined;
  /** The path of the resource whose ETag the operation sends as If-Match. */
  condition: string | undefined;
  /** The path at which the returned resource can be changed later. */
  place: string | undefined;
};

/** Parses `PUT /forms/:id?dry_run if:/forms/:id tag:/forms/:id`. */
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
