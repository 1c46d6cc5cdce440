import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { formLimits } from '#ast/basics/limits.ts';
import { normalizeText } from '#ast/basics/text.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { jsonBodyLimit } from '#kit/json-body.ts';
import { charsetOf, type SentText } from './charset.ts';

/** The field name in the `Content-Disposition` of a part, and the file name of a file. */
type PartNames = { readonly name: string | undefined; readonly filename: string | undefined };

/** One parameter: `; name="…"`, `; name=…` or, as in RFC 5987, `; filename*=UTF-8''…`. */
const parameter =
  /;\s*([\w-]+)(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:;|$))|"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))\s*/suy;

/**
 * Parses the `Content-Disposition` header of a form part.
 * @param header the bytes as Latin-1 characters.
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
 * Undoes the sender's escapes. Browsers escape only `"`, CR and LF, as %22, %0D and %0A (HTML standard,
 * multipart/form-data). Go, curl and old browsers put a backslash before `"`, and their `%22` is literal.
 */
function undoEscapes(quoted: string): string {
  const plain = utf8(quoted).replaceAll(/\\(["\\])/g, '$1');
  const escaped = quoted.includes('\\"') ? /%0[DA]/g : /%(?:22|0[DA])/g;
  return plain.replaceAll(escaped, decodeURIComponent);
}

/**
 * Decodes `UTF-8''na%C3%AFve.txt`. Returns undefined if the charset is unknown, so that the plain parameter
 * is used.
 */
function decodeExtended(value: string): string | undefined {
  const [, charset, escaped] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/is.exec(value) ?? [];
  if (charset === undefined || escaped === undefined) return undefined;
  const bytes = escaped.replaceAll(/%([\dA-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return charset.toLowerCase() === 'utf-8' ? utf8(bytes) : bytes;
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();

/**
 * One part of a multipart body. A file's bytes must be read, or skipped with `resume()`, before the next part
 * arrives.
 */
export type MultipartPart =
  | ({ readonly kind: 'field' } & SentText)
  | {
      readonly kind: 'file';
      readonly name: string;
      /** Empty if no file was chosen. */
      readonly filename: string;
      readonly declaredType: string;
      /** Ends at the size limit of a file; `truncated` is then true. */
      readonly bytes: BusboyFileStream;
    };

const megabyte = 1024 * 1024;
/** Size limit of a multipart body. The connection is closed beyond it. */
export const multipartBytes = 120 * megabyte;

/** Returns the size limit of a file in a multipart body. Larger files need the script (resumable-upload-routes.ts). */
export const postedFileBytes = ({ limits }: Pick<Config, 'limits'>): number =>
  Math.min(limits.fileBytes, 100 * megabyte);

/**
 * Limits of the parser. Text fields are cut far above the 64 KB that an answer can have, so that validation
 * can report the error.
 */
export const partLimits = {
  files: 100,
  fields: 5_000,
  parts: 5_100,
  fieldSize: 128 * 1024,
  // `group[0][matrix]` and the URL-encoded id of a row: up to three characters per byte.
  fieldNameSize: 3 * formLimits.labelBytes + 256,
  headerPairs: 20,
} as const;

export const tooManyParts = (): ApiError =>
  new ApiError('payload_too_large', 'The form has too many parts. Send fewer fields and files.');

/** All texts together may be as long as a body without files. */
const tooMuchText = (): ApiError =>
  new ApiError(
    'payload_too_large',
    `The answers have more than ${jsonBodyLimit} characters in total. Shorten them.`,
  );

/** Placeholder of a multipart body. It is read part by part, when the handler starts to read. */
const unread = Symbol('a multipart body, not read yet');

/** Adds a parser for multipart bodies to a server. */
export function addMultipartParser(server: Server): void {
  server.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, unread));
}

export function isMultipart(request: FastifyRequest): boolean {
  return request.body === unread;
}

/**
 * Yields the parts of a multipart body in order. No part is stored under its name, so an element id like
 * `toString` is safe.
 * @param fileSize the bytes at which a file is cut.
 * @throws ApiError bad_request or payload_too_large for every error of the parser.
 */
export async function* readMultipartParts(
  request: IncomingMessage,
  fileSize: number,
): AsyncGenerator<MultipartPart> {
  const parser = parserOf(request, fileSize);
  const slices = sliceForParser();
  const parts: MultipartPart[] = [];
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
    // Passes the cause to the reader of the unfinished file.
    if (error) open?.destroy(error);
    wake();
  };
  const add = (part: MultipartPart): void => {
    parts.push({ ...part, name: normalizeText(part.name) });
    wake();
  };
  const readHeader = replaceHeaders(parser);
  /** Adds the part that the last header announced. */
  const addPart = (make: (name: string, header: PartHeader) => MultipartPart): void => {
    const header = readHeader();
    if (header.name === undefined)
      end(new ApiError('bad_request', 'A part of the form has no name. Name every part.'));
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
    bytes.on('error', (error) => end(multipartError(error)));
    addPart((name, { filename = '' }) => ({ kind: 'file', name, filename, declaredType, bytes }));
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'])
    parser.on(limit, () => end(tooManyParts()));
  parser.on('finish', () => end());
  parser.on('error', (error) => end(multipartError(error)));
  request.once('error', (error) => end(multipartError(error)));
  request.once('close', () => {
    if (!request.readableEnded) end(multipartError(request.errored));
  });
  // The client may have disconnected before this listener was added, so the event will not come again.
  if (request.destroyed && !request.readableEnded) end(multipartError(request.errored));
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

/** Bytes that the parser reads per slice: 260 of the shortest fields, which take about 5 ms. */
const sliceBytes = 16 * 1024;

/** Passes a body on in slices, so that other requests run between them however fast the body arrives. */
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

function parserOf(request: IncomingMessage, fileSize: number): BusboyInstance {
  try {
    // Latin-1 keeps the original bytes of the text. `decodeTexts` decodes them and rejects invalid ones.
    const headers = request.headers as BusboyHeaders;
    return new Busboy({ headers, limits: { ...partLimits, fileSize }, defCharset: 'latin1' });
  } catch (error) {
    throw multipartError(error);
  }
}

/** A private part of Busboy: its multipart parser, which emits each header as bytes. */
type WithParts = {
  readonly _parser: {
    readonly parser: { prependListener(event: 'part', listen: (part: Readable) => void): void };
  };
};
type RawHeader = Record<string, string[] | undefined>;

/** The parsed header of a part. */
type PartHeader = Partial<PartNames> & { readonly charset?: string | undefined };

/**
 * Reads the charset and the names from the header of each part before Busboy does, and replaces them with
 * plain ones. Busboy replaces bytes that it cannot convert, keeps the escapes of browsers, and skips names
 * with a line break.
 * @returns a function that returns the header of the current part.
 */
function replaceHeaders(parser: BusboyInstance): () => PartHeader {
  let current: PartHeader = {};
  const { _parser } = parser as unknown as WithParts;
  _parser.parser.prependListener('part', (part) => {
    part.on('header', (header: RawHeader) => {
      const [type] = header['content-type'] ?? [];
      const names = parsePartNames(header['content-disposition']?.[0] ?? '');
      current = { ...names, charset: charsetOf(type) };
      if (type !== undefined) header['content-type'] = [type.replace(/;.*/s, '')];
      const file = names?.filename === undefined ? '' : '; filename="file"';
      if (names) header['content-disposition'] = [`form-data; name="part"${file}`];
    });
  });
  return () => current;
}

/** Returns the error for a body that cannot be read completely. */
export function multipartError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError('bad_request', 'The multipart body is malformed or incomplete.', { cause });
}

/**
 * Rejects a body whose declared size is too large before reading it, and disconnects when a body exceeds the
 * limit.
 */
function hangUpWhenEndless(request: IncomingMessage): void {
  const limit = `The files are larger than ${multipartBytes / megabyte} MB in total. Send fewer or smaller files.`;
  if (Number(request.headers['content-length'] ?? 0) > multipartBytes)
    throw new ApiError('payload_too_large', limit, { headers: { Connection: 'close' } });
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > multipartBytes) request.destroy(new ApiError('payload_too_large', limit));
  });
}
