import type { OutgoingHttpHeaders } from 'node:http';
import { PassThrough, pipeline, type Readable, type Transform, type Writable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  crc32,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that does not change while the process runs, plain and compressed. */
type CompressedFile = Readonly<Record<'plain' | 'br' | 'gzip', () => Promise<Buffer>>>;

/**
 * Returns a function that computes a result on its first call and caches it. Built files are compressed this
 * way, because most processes serve few of them (measured: 0.1 s of CPU for all of them).
 */
export function computeOnce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  const begin = (): Promise<Result> =>
    work().catch((error: unknown) => {
      // Does not cache a failure.
      result = undefined;
      throw error;
    });
  return () => (result ??= begin());
}

/** Caches a result per key, so that the servers of a process (one per cell) compress each file only once. */
export function computeOncePerKey<Key, Result>(
  work: (key: Key) => Promise<Result>,
): (key: Key) => Promise<Result> {
  const results = new Map<Key, Promise<Result>>();
  return (key) => {
    const result = results.get(key) ?? work(key);
    results.set(key, result);
    return result;
  };
}

/** Compresses a file once, as small as possible. */
export const compressFile = (plain: Buffer): CompressedFile => ({
  plain: async () => plain,
  br: computeOnce(() => promisify(brotliCompress)(plain)),
  gzip: computeOnce(() => promisify(gzip)(plain, { level: 9 })),
});

/** Sends a file in the smallest encoding that the browser accepts. */
export async function sendCompressedFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: CompressedFile,
): Promise<FastifyReply> {
  const coding = accepts(request, 'br') ? 'br' : accepts(request, 'gzip') ? 'gzip' : undefined;
  const bytes = await file[coding ?? 'plain']();
  if (coding) reply.header('Content-Encoding', coding);
  return reply.header('Vary', 'Accept-Encoding').send(bytes);
}

/** Matches an encoding with its weight. No two adjacent `\s*`: a header full of spaces took 0.25 s. */
const codings = {
  zstd: /(?:^|,)\s*zstd\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
  br: /(?:^|,)\s*br\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
  gzip: /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
} as const;

/** Returns whether the browser accepts an encoding. A weight of 0 rejects it (RFC 9110, 12.5.3). */
function accepts({ headers }: FastifyRequest, coding: keyof typeof codings): boolean {
  const named = codings[coding].exec(headers['accept-encoding'] ?? '');
  return named !== null && Number(named[1] ?? 1) > 0;
}

/** A shorter response fits into one or two packets, so compression saves nothing. */
const packedFrom = 1_024;

const quickGzip = { level: 3 };
/** Brotli at 4 is as fast as gzip, and its output is smaller. */
const quickBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * Responses up to this size are compressed synchronously: 64 KB take 0.3 ms with zstd, and 0.7 ms with the
 * others. In threads, every waiting response needs the memory of its encoder. With zstd, 48 lists of 19 KB
 * took 1.1 ms of CPU each in threads, but 0.1 ms one after the other.
 */
const packedAtOnce = 65_536;

/** Compressors for live responses. gzip at 3 takes a third of the time of 6, for 6 % more output. */
const compressors = {
  zstd: {
    atOnce: (text: Buffer) => zstdCompressSync(text, { pledgedSrcSize: text.length }),
    aside: (text: Buffer) => promisify(zstdCompress)(text, { pledgedSrcSize: text.length }),
  },
  br: {
    atOnce: (text: Buffer) => brotliCompressSync(text, quickBrotli),
    aside: (text: Buffer) => promisify(brotliCompress)(text, quickBrotli),
  },
  gzip: {
    atOnce: (text: Buffer) => gzipSync(text, quickGzip),
    aside: (text: Buffer) => promisify(gzip)(text, quickGzip),
  },
} as const satisfies Record<keyof typeof codings, unknown>;

/** Compresses a response in the first of our encodings that the caller accepts, and sets Content-Encoding. */
export function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): string | Buffer | Promise<Buffer> {
  reply.header('Vary', 'Accept-Encoding');
  if (text.length < packedFrom || request.headers['accept-encoding'] === undefined) return text;
  const coding = (Object.keys(compressors) as (keyof typeof compressors)[]).find((name) =>
    accepts(request, name),
  );
  if (!coding) return text;
  reply.header('Content-Encoding', coding);
  const bytes = Buffer.from(text);
  return compressors[coding][bytes.length <= packedAtOnce ? 'atOnce' : 'aside'](bytes);
}

const streamCompressors = {
  zstd: createZstdCompress,
  br: () => createBrotliCompress(quickBrotli),
  gzip: () => createGzip(quickGzip),
} as const satisfies Record<keyof typeof codings, () => Transform>;

/** Compresses a stream like compressResponse. */
export function compressStream(request: FastifyRequest, reply: FastifyReply, answer: Readable): Readable {
  reply.header('Vary', 'Accept-Encoding');
  const coding = (Object.keys(compressors) as (keyof typeof compressors)[]).find((name) =>
    accepts(request, name),
  );
  if (!coding) return answer;
  reply.header('Content-Encoding', coding);
  return pipeline(answer, streamCompressors[coding](), () => {
    // The reader of the compressed stream gets the error.
  });
}

/** A page of this length takes too long to compress or encode without serving other requests in between. */
const longPage = 262_144;

/** Writes a long page after yielding to the event loop. Compression runs in another thread. */
function endAfterYield<Into extends Writable>(page: string, into: Into): Into {
  setImmediate(() => into.end(page));
  return into;
}

/**
 * A page as text, or as parts if all visitors share it except for a short text in the middle. Joining the
 * parts would use as much memory outside V8's heap as the page. After about 60 MB of that, at every 700th
 * page, V8 runs a full garbage collection.
 */
export type PageContent = string | Readonly<Record<'plain' | 'packed', () => readonly Buffer[]>>;

/**
 * Sends a page, with gzip if the browser accepts it: a quarter of its size. No page contains a secret that
 * repeats in responses to another site's requests, so its compressed length reveals nothing.
 */
export function sendCompressedPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: PageContent,
): FastifyReply {
  reply.header('Vary', 'Accept-Encoding');
  const isLong = typeof page === 'string' && page.length > longPage;
  if (!accepts(request, 'gzip')) {
    if (isLong) return reply.send(endAfterYield(page, new PassThrough()));
    return typeof page === 'string' ? reply.send(page) : sendParts(reply, page.plain());
  }
  reply.header('Content-Encoding', 'gzip');
  if (isLong) return reply.send(endAfterYield(page, createGzip(quickGzip)));
  return typeof page === 'string' ? reply.send(gzipSync(page, quickGzip)) : sendParts(reply, page.packed());
}

/** Sends parts without the framework, which supports only one part or a stream. */
function sendParts(reply: FastifyReply, parts: readonly Buffer[]): FastifyReply {
  const { raw } = reply.hijack();
  raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-length': parts.reduce((length, part) => length + part.length, 0),
  });
  for (const part of parts) raw.write(part);
  raw.end();
  return reply;
}

/** The ten-byte header of a gzip file without name, time and system (RFC 1952, 2.3). */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
 * Creates a page with a visitor-specific text, at most 64 KB, in the middle. The parts around it are
 * compressed once: compressing the page for each visitor takes longer (0.3 ms) than all other work. A gzip
 * file is a sequence of blocks, and the visitor's text is a stored block (RFC 1951, 3.2.4). A long page is
 * compressed for each visitor in another thread.
 */
export function createPageTemplate(before: string, after: string): (own: string) => PageContent {
  if (before.length + after.length > longPage) return (own) => before + own + after;
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  // A full flush ends at a byte boundary, and nothing after it refers back.
  const packedHead = Buffer.concat([
    gzipHead,
    deflateRawSync(head, { level: 9, finishFlush: constants.Z_FULL_FLUSH }),
  ]);
  const packedTail = deflateRawSync(tail, { level: 9 });
  const headSum = crc32(head);
  const packed = (own: string): readonly Buffer[] => {
    const middle = Buffer.from(own);
    const block = Buffer.allocUnsafe(5);
    block.writeUInt8(0);
    block.writeUInt16LE(middle.length, 1);
    block.writeUInt16LE(0xffff - middle.length, 3);
    const end = Buffer.allocUnsafe(8);
    end.writeUInt32LE(crc32(tail, crc32(middle, headSum)), 0);
    end.writeUInt32LE(head.length + middle.length + tail.length, 4);
    return [packedHead, block, middle, packedTail, end];
  };
  return (own) => ({ plain: () => [head, Buffer.from(own), tail], packed: () => packed(own) });
}
