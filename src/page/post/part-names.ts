/** What the `Content-Disposition` of a part says: the field, and for a file its name. */
export type PartNames = { readonly name: string | undefined; readonly filename: string | undefined };

/** One parameter: `; name="…"`, `; name=…` or, by RFC 5987, `; filename*=UTF-8''…`. */
const parameter =
  /;\s*([\w-]+)(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:;|$))|"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))\s*/suy;

/**
 * Parses the `Content-Disposition` header of a part of a form.
 * @param header each byte as a character of Latin-1.
 * @returns undefined if the part does not belong to a form.
 */
export function parsePartNames(header: string): PartNames | undefined {
  const type = /^\s*form-data\s*(?=;|$)/i.exec(header)?.[0];
  if (type === undefined) return undefined;
  const values = new Map<string, string>();
  parameter.lastIndex = type.length;
  for (let found = parameter.exec(header); found; found = parameter.exec(header)) {
    const [, key = '', star, quoted, unclosed, token = ''] = found;
    const name = key.toLowerCase() + star;
    const text = quoted ?? unclosed;
    const value = star ? decodeExtended(text ?? token) : text === undefined ? utf8(token) : undoEscapes(text);
    if (value !== undefined && !values.has(name)) values.set(name, value);
  }
  const read = (key: string): string | undefined => values.get(`${key}*`) ?? values.get(key);
  return { name: read('name'), filename: read('filename') };
}

/**
 * Undoes the escapes of the sender. Browsers write `"`, CR and LF as %22, %0D and %0A and nothing else (HTML standard,
 * multipart/form-data); Go, curl and old browsers put a backslash before `"`, and mean any other `%22` as it is.
 */
function undoEscapes(quoted: string): string {
  const plain = utf8(quoted).replaceAll(/\\(["\\])/g, '$1');
  const escaped = quoted.includes('\\"') ? /%0[DA]/g : /%(?:22|0[DA])/g;
  return plain.replaceAll(escaped, decodeURIComponent);
}

/** Decodes `UTF-8''na%C3%AFve.txt`; undefined if the charset is unknown, so that the plain parameter counts. */
function decodeExtended(value: string): string | undefined {
  const [, charset, escaped] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/is.exec(value) ?? [];
  if (charset === undefined || escaped === undefined) return undefined;
  const bytes = escaped.replaceAll(/%([\dA-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return charset.toLowerCase() === 'utf-8' ? utf8(bytes) : bytes;
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();
