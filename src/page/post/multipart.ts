import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { limits } from '#ast/basics/limits.ts';
import { normalizeText } from '#ast/basics/text.ts';
import { fileLimits } from '#files/stored-files.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { jsonBodyLimit } from '#kit/json-body.ts';
import { charsetOf, type SentText } from './charset.ts';

/** What the `Content-Disposition` of a part says: the field, and for a file its name. */
type PartNames = { readonly name: string | undefined; readonly filename: string | undefined };

/** One parameter: `; name="…"`, `; name=…` or, by RFC 5987, `; filename*=UTF-8''…`. */
const parameter =
  /;\s*([\w-]+)(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:;|$))|"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))\s*/suy;

/**
 * Parses the `Content-Disposition` header of a part of a form.
 * @param header each byte as a character of Latin-1.
 * @returns undefined if the part does not belong to a form.
 */
function parsePartNames(header: string): PartNames | undefined {
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

/** One part of a multipart body. The bytes of a file must be read, or let go by `resume()`, before the next comes. */
export type Part =
  | ({ readonly kind: 'field' } & SentText)
  | {
      readonly kind: 'file';
      readonly name: string;
      /** Empty for a file input that was left alone. */
      readonly filename: string;
      readonly declaredType: string;
      /** Ends at the limit of one file; `truncated` then says so. */
      readonly bytes: BusboyFileStream;
    };

/** The whole of a multipart body: more than ten full files, and past it the connection is closed. */
const multipartBytes = 12 * fileLimits.fileBytes;

/** Text fields are cut here, over the 64 KB that an answer may have, so that the check can say what is wrong. */
export const partLimits = {
  fileSize: fileLimits.fileBytes,
  files: 100,
  fields: 5_000,
  parts: 5_100,
  fieldSize: 128 * 1024,
  // `group[0][matrix]` and the id of a row as addresses write it, each byte of which may be three characters.
  fieldNameSize: 3 * limits.labelBytes + 256,
  headerPairs: 20,
} as const;

export const tooManyParts = (): ApiError => new ApiError('payload_too_large', 'The form has too many parts.');

/** Texts may be as long together as in a body without files. */
const tooMuchText = (): ApiError =>
  new ApiError('payload_too_large', `The answers are longer than ${jsonBodyLimit} characters together.`);

/** Stands for a multipart body, which is read part by part and not before the handler asks. */
const unread = Symbol('a multipart body, not read yet');

/** Lets a server take multipart bodies. */
export function takeMultipart(server: Server): void {
  server.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, unread));
}

export function isMultipart(request: FastifyRequest): boolean {
  return request.body === unread;
}

/**
 * The parts of a multipart body in order. Straight from the parser: a name such as `toString` is an element id like
 * any other here, as nothing is kept under it.
 * @throws ApiError bad_request or payload_too_large, whatever the parser calls it.
 */
export async function* readParts(request: IncomingMessage): AsyncGenerator<Part> {
  const parser = parserOf(request);
  const slices = sliceForParser();
  const parts: Part[] = [];
  let ended = false;
  let failure: ApiError | undefined;
  let open: BusboyFileStream | undefined;
  let wake = (): void => {};
  const end = (error?: ApiError): void => {
    if (ended) return;
    ended = true;
    failure = error;
    request.unpipe(slices);
    slices.unpipe(parser);
    slices.destroy();
    // Whoever reads the file that was cut off hears why.
    if (error) open?.destroy(error);
    wake();
  };
  const add = (part: Part): void => {
    parts.push({ ...part, name: normalizeText(part.name) });
    wake();
  };
  const readHeader = replaceHeaders(parser);
  /** Adds the part whose header was read last. */
  const addPart = (make: (name: string, header: PartHeader) => Part): void => {
    const header = readHeader();
    if (header.name === undefined) end(new ApiError('bad_request', 'A part of the form has no name.'));
    else add(make(header.name, header));
  };
  let textLength = 0;
  parser.on('field', (_name, value, _nameIsCut, isCut) => {
    textLength += value.length;
    const bytes = Buffer.from(value, 'latin1');
    if (textLength > jsonBodyLimit) end(tooMuchText());
    else addPart((name, { charset }) => ({ kind: 'field', name, bytes, charset, isCut }));
  });
  parser.on('file', (_name, bytes, _filename, _encoding, declaredType) => {
    open = bytes;
    bytes.on('error', (error) => end(broken(error)));
    addPart((name, { filename = '' }) => ({ kind: 'file', name, filename, declaredType, bytes }));
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'])
    parser.on(limit, () => end(tooManyParts()));
  parser.on('finish', () => end());
  parser.on('error', (error) => end(broken(error)));
  request.once('error', (error) => end(broken(error)));
  request.once('close', () => {
    if (!request.readableEnded) end(broken(request.errored));
  });
  // It went away while the form was looked for, and says so no more.
  if (request.destroyed && !request.readableEnded) end(broken(request.errored));
  hangUpWhenEndless(request);
  request.pipe(slices).pipe(parser);
  try {
    for (;;) {
      if (failure) throw failure;
      const part = parts.shift();
      if (part) yield part;
      else if (ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    end();
  }
}

/** The parser reads at most this many bytes at once: 260 of the shortest fields, which take about 5 ms. */
const sliceBytes = 16 * 1024;

/** Passes a body on in slices. Other requests run between two slices, however fast the body arrives. */
const sliceForParser = (): Transform =>
  new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      for (let start = 0; start < chunk.length && !this.destroyed; start += sliceBytes) {
        this.push(chunk.subarray(start, start + sliceBytes));
        await setImmediate();
      }
      done();
    },
  });

function parserOf(request: IncomingMessage): BusboyInstance {
  try {
    // As Latin-1 the bytes of a text stay what they are: `decodeTexts` reads them, and refuses what it cannot.
    const headers = request.headers as BusboyHeaders;
    return new Busboy({ headers, limits: partLimits, defCharset: 'latin1' });
  } catch (error) {
    throw broken(error);
  }
}

/** What Busboy keeps to itself: the parser of the parts, each with its headers as bytes. */
type WithParts = {
  readonly _parser: {
    readonly parser: { prependListener(event: 'part', listen: (part: Readable) => void): void };
  };
};
type RawHeader = Record<string, string[] | undefined>;

/** What the header of a part says. */
type PartHeader = Partial<PartNames> & { readonly charset?: string | undefined };

/**
 * Reads charset and names from the header of each part before Busboy does, and leaves it plain ones: Busboy replaces
 * bytes that it cannot convert, keeps the escapes of browsers, and skips names with a line break.
 * @returns the header of the part that is read now.
 */
function replaceHeaders(parser: BusboyInstance): () => PartHeader {
  let read: PartHeader = {};
  const { _parser } = parser as unknown as WithParts;
  _parser.parser.prependListener('part', (part) => {
    part.on('header', (header: RawHeader) => {
      const [type] = header['content-type'] ?? [];
      const names = parsePartNames(header['content-disposition']?.[0] ?? '');
      read = { ...names, charset: charsetOf(type) };
      if (type !== undefined) header['content-type'] = [type.replace(/;.*/s, '')];
      const file = names?.filename === undefined ? '' : '; filename="file"';
      if (names) header['content-disposition'] = [`form-data; name="part"${file}`];
    });
  });
  return () => read;
}

/** What a body that cannot be read to its end is answered with, whatever part of it failed. */
export function broken(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError('bad_request', 'The multipart body is broken, or ends too early.', { cause });
}

/** Says no before reading what is announced as too large, and hangs up on what turns out to be. */
function hangUpWhenEndless(request: IncomingMessage): void {
  const limit = `The files are larger than ${multipartBytes / 1024 / 1024} MB together.`;
  if (Number(request.headers['content-length'] ?? 0) > multipartBytes) {
    throw new ApiError('payload_too_large', limit, { headers: { Connection: 'close' } });
  }
  let read = 0;
  request.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > multipartBytes) request.destroy(new ApiError('payload_too_large', limit));
  });
}
