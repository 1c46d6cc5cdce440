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

/** A file that never changes while the process runs, as it is and packed for browsers that take it so. */
type PackedFile = Readonly<Record<'plain' | 'br' | 'gzip', () => Promise<Buffer>>>;

/**
 * The same result for all who ask, worked out for the first of them. What is served as it was built is packed so: most
 * processes are asked for few of its files (measured: 0.1 s of CPU for all of them).
 */
export function whenAsked<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  const begin = (): Promise<Result> =>
    work().catch((error: unknown) => {
      // Whoever asks next may have more luck.
      result = undefined;
      throw error;
    });
  return () => (result ??= begin());
}

/**
 * The same for each key: what lies in a directory is read, and packed, once for all servers of a process, of which there
 * is one for each cell.
 */
export function whenAskedFor<Key, Result>(
  work: (key: Key) => Promise<Result>,
): (key: Key) => Promise<Result> {
  const asked = new Map<Key, Promise<Result>>();
  return (key) => {
    const result = asked.get(key) ?? work(key);
    asked.set(key, result);
    return result;
  };
}

/** Packs a file once, as small as it gets. */
export const packFile = (plain: Buffer): PackedFile => ({
  plain: async () => plain,
  br: whenAsked(() => promisify(brotliCompress)(plain)),
  gzip: whenAsked(() => promisify(gzip)(plain, { level: 9 })),
});

/** Sends a file in the smallest coding that the browser accepts. */
export async function sendPacked(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PackedFile,
): Promise<FastifyReply> {
  const coding = accepts(request, 'br') ? 'br' : accepts(request, 'gzip') ? 'gzip' : undefined;
  const bytes = await file[coding ?? 'plain']();
  if (coding) reply.header('Content-Encoding', coding);
  return reply.header('Vary', 'Accept-Encoding').send(bytes);
}

/** How a browser names a coding, with its weight. No two blanks side by side: a header full of them took 0.25 s. */
const codings = {
  zstd: /(?:^|,)\s*zstd\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
  br: /(?:^|,)\s*br\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
  gzip: /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/,
} as const;

/** Whether the browser accepts a coding; a weight of 0 says that it does not (RFC 9110, 12.5.3). */
function accepts({ headers }: FastifyRequest, coding: keyof typeof codings): boolean {
  const named = codings[coding].exec(headers['accept-encoding'] ?? '');
  return named !== null && Number(named[1] ?? 1) > 0;
}

/** An answer shorter than this fits into one packet or two: packing it saves nothing. */
const packedFrom = 1_024;

const quickGzip = { level: 3 };
/** Brotli at 4 takes as long as gzip, and less room. */
const quickBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * An answer of so many bytes is packed at once: 64 KB take 0.3 ms with zstd, and 0.7 with the others. Beside the event loop each takes the
 * memory of its coder together with all others that wait: 48 lists of 19 KB took 1.1 ms of CPU each with zstd, and 0.1 one after the other.
 */
const packedAtOnce = 65_536;

/** How an answer is packed while somebody waits for it. gzip at 3 takes a third of the time of 6, and 6 % more room. */
const packers = {
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

/** Packs an answer in the first of our codings that the caller takes, and says so in its head. */
export function packAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): string | Buffer | Promise<Buffer> {
  reply.header('Vary', 'Accept-Encoding');
  if (text.length < packedFrom || request.headers['accept-encoding'] === undefined) return text;
  const coding = (Object.keys(packers) as (keyof typeof packers)[]).find((name) => accepts(request, name));
  if (!coding) return text;
  reply.header('Content-Encoding', coding);
  const bytes = Buffer.from(text);
  return packers[coding][bytes.length <= packedAtOnce ? 'atOnce' : 'aside'](bytes);
}

/** The same for an answer that is still being written. */
const streamPackers = {
  zstd: createZstdCompress,
  br: () => createBrotliCompress(quickBrotli),
  gzip: () => createGzip(quickGzip),
} as const satisfies Record<keyof typeof codings, () => Transform>;

/** Packs an answer as it is written, like packAnswer. */
export function packStream(request: FastifyRequest, reply: FastifyReply, answer: Readable): Readable {
  reply.header('Vary', 'Accept-Encoding');
  const coding = (Object.keys(packers) as (keyof typeof packers)[]).find((name) => accepts(request, name));
  if (!coding) return answer;
  reply.header('Content-Encoding', coding);
  return pipeline(answer, streamPackers[coding](), () => {
    // Whoever reads the packed answer has its error.
  });
}

/** A page of so many characters takes so long to pack, or to be made bytes of, that others are served in between. */
const longPage = 262_144;

/** What a long page goes through: it is put in when others had their turn. Packing is done beside the event loop. */
function putLater<Into extends Writable>(page: string, into: Into): Into {
  setImmediate(() => into.end(page));
  return into;
}

/**
 * A page: its text, or the parts of one that is the same for all visitors but for a short text in its middle. To join the parts takes as
 * much memory beside V8's heap as the page is long, and after some 60 MB of that V8 looks through all that it has: at every 700th page.
 */
export type Page = string | Readonly<Record<'plain' | 'packed', () => readonly Buffer[]>>;

/**
 * Sends a page, packed with gzip where it is taken: a fourth of its size. Nothing in a page is both secret and the
 * same in two of them that another site could ask for, so its length tells that site nothing.
 */
export function sendText(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.header('Vary', 'Accept-Encoding');
  const isLong = typeof page === 'string' && page.length > longPage;
  if (!accepts(request, 'gzip')) {
    if (isLong) return reply.send(putLater(page, new PassThrough()));
    return typeof page === 'string' ? reply.send(page) : sendParts(reply, page.plain());
  }
  reply.header('Content-Encoding', 'gzip');
  if (isLong) return reply.send(putLater(page, createGzip(quickGzip)));
  return typeof page === 'string' ? reply.send(gzipSync(page, quickGzip)) : sendParts(reply, page.packed());
}

/** Sends an answer past the framework, which would take it in one part or as a stream. */
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

/** The ten bytes that begin a gzip file: no name, no time, no system (RFC 1952, 2.3). */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
 * A page with a text of each visitor's own in its middle, at most 64 KB. What stands before it and behind it is packed
 * once: packing a whole page for each visitor takes longer (0.3 ms) than all the rest of serving it. A gzip file is a
 * row of blocks, of which the visitor's is one that is stored as it is (RFC 1951, 3.2.4). A long page is packed for
 * each, beside the event loop.
 */
export function openSharedPage(before: string, after: string): (own: string) => Page {
  if (before.length + after.length > longPage) return (own) => before + own + after;
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  // A full flush ends at a byte, and nothing after it looks back.
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
