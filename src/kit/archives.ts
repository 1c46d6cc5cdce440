import { pipeline, Readable } from 'node:stream';
import { type ReadableStream, TransformStream } from 'node:stream/web';
import { crc32, createGzip } from 'node:zlib';
import { Header, Parser, Pax, type ReadEntry } from 'tar';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { now } from './clock.ts';

const blockBytes = 512;

/** A tar file that is being written. Add one entry at a time. */
export type TarWriter = {
  /** @param size the exact number of bytes in `content`. */
  readonly add: (name: string, size: number, content: Readable | Buffer) => Promise<void>;
  readonly addText: (name: string, text: string) => Promise<void>;
};

/** `close` completes the file; `abort` cancels it. */
type OpenTar = TarWriter & {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly close: () => Promise<void>;
  readonly abort: (error: Error) => Promise<void>;
};

/** Opens a tar file that can be read while it is written. An error on one side also fails the other. */
export function openTar(): OpenTar {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  // Each write reports its own error. Without this, the error would also be an unhandled rejection.
  writer.closed.catch(() => {});
  const write = (bytes: Uint8Array): Promise<void> => writer.write(bytes as Uint8Array<ArrayBuffer>);
  const add: TarWriter['add'] = async (name, size, content) => {
    await write(headOf(name, size));
    let written = 0;
    for await (const chunk of Buffer.isBuffer(content) ? [content] : (content as AsyncIterable<Buffer>)) {
      written += chunk.length;
      if (written > size) break;
      if (chunk.length > 0) await write(chunk);
    }
    if (written !== size) throw new Error(`${name} has ${written} bytes instead of ${size}.`);
    await write(Buffer.alloc(-size & (blockBytes - 1)));
  };
  return {
    readable,
    add,
    addText: (name, text) => add(name, Buffer.byteLength(text), Buffer.from(text)),
    close: async (): Promise<void> => {
      await write(Buffer.alloc(2 * blockBytes));
      await writer.close();
    },
    abort: (error) => writer.abort(error),
  };
}

/** Returns the header of an entry. It adds an extended header only if the name or the size needs one. */
function headOf(path: string, size: number): Buffer {
  const header = new Header({ path, size, mode: 0o644, mtime: now(), type: 'File' });
  const needsMore = header.encode();
  return needsMore ? Buffer.concat([new Pax({ path, size }).encode(), header.block!]) : header.block!;
}

/** Returns a gzipped tar file that can be read while `write` writes it. It fails if `write` fails. */
export function tarStream(write: (tar: TarWriter) => Promise<void>): Readable {
  const tar = openTar();
  // Not `toWeb`: its streams throw outside any `try` when the reader stops.
  const file = pipeline(Readable.fromWeb(tar.readable), createGzip(), () => {});
  write(tar)
    .then(tar.close)
    .catch(async (error: Error) => {
      file.destroy(error);
      await tar.abort(error);
    });
  return file;
}

/** An entry of a tar file. Read `body` before the next entry. */
export type TarEntry = { readonly name: string; readonly size: number; readonly body: AsyncIterable<Buffer> };

/**
 * Reads the entries of a tar file in order.
 * @param options.isPlain allows only regular files: no links, devices, folders or extended headers (PAX and
 * GNU).
 * @throws Error if the file is damaged or truncated, or if `isPlain` rejects an entry.
 */
export async function* readTar(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { isPlain = false }: { isPlain?: boolean } = {},
): AsyncGenerator<TarEntry> {
  const chunks = toAsync(source);
  const waiting: ReadEntry[] = [];
  // Without an error listener, `write` and `end` throw. A limit below 0 also rejects empty headers.
  const parser = new Parser({ strict: true, zstd: false, ...(isPlain && { maxMetaEntrySize: -1 }) });
  parser.on('entry', (entry) => void waiting.push(entry));
  if (isPlain)
    parser.on('ignoredEntry', (entry: ReadEntry) => {
      throw new Error(entry.meta ? 'It contains an extended header.' : notRegular(entry));
    });
  let isOver = false;
  let isFirst = true;
  const feed = async (): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done) {
      isOver = true;
      parser.end();
      return;
    }
    // The parser would unpack gzip automatically, without our limits.
    if (isFirst && value[0] === 0x1f) throw new Error('It is not a tar file.');
    isFirst = false;
    parser.write(Buffer.from(value.buffer, value.byteOffset, value.length));
  };
  async function* bodyOf(entry: ReadEntry): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = entry.read();
      if (chunk) yield chunk;
      else if (entry.emittedEnd || isOver) return;
      else await feed();
    }
  }
  try {
    for (;;) {
      const entry = waiting.shift();
      if (entry) {
        if (isPlain && !regularTypes.has(entry.type)) throw new Error(notRegular(entry));
        if (entry.header.size === undefined) throw new Error('The size of an entry is not a number.');
        yield { name: entry.path, size: entry.size, body: bodyOf(entry) };
        entry.resume();
      } else if (isOver) return;
      else await feed();
    }
  } finally {
    await chunks.return(undefined);
  }
}

const regularTypes: ReadonlySet<string> = new Set(['File', 'OldFile']);
const notRegular = ({ path }: ReadEntry): string => `It contains ${path}, which is not a regular file.`;

async function* toAsync(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* source;
}

/** A zip file in memory. Names are not case-sensitive, as in Office files. */
export type Zip = {
  has(name: string): boolean;
  /**
   * Inflates a part in chunks. @throws Error if the part is missing, damaged, or larger than its directory
   * says.
   */
  read(name: string): AsyncGenerator<Buffer>;
};

type Limits = {
  readonly entries: number;
  /** The total size of all parts after decompression. */
  readonly bytes: number;
};

const isEncrypted = 0x1;
const hidesHeaders = 0x2000;
const stored = 0;
const deflated = 8;

/**
 * Opens a zip file within limits. It checks the directory before it inflates anything. `read` counts again,
 * because a directory can be wrong.
 * @throws Error if the file is not a zip file, exceeds a limit, or has parts that two programs could read
 * differently.
 */
export async function openZip(bytes: Buffer, limits: Limits): Promise<Zip> {
  const zip = await fromBufferPromise(bytes, { strictFileNames: true });
  if (zip.entryCount > limits.entries) throw new Error(`It has more than ${limits.entries} parts.`);
  const entries = new Map<string, Entry>();
  let declared = 0;
  for await (const entry of zip.eachEntry()) {
    requireReadable(entry);
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw new Error(`It contains ${entry.fileName} twice.`);
    entries.set(name, entry);
    declared += entry.uncompressedSize;
    if (declared > limits.bytes) throw tooLarge(limits);
  }
  await refuseOverlaps(zip, [...entries.values()]);
  let inflated = 0;
  return {
    has: (name) => entries.has(name.toLowerCase()),
    async *read(name) {
      const entry = entries.get(name.toLowerCase());
      if (!entry) throw new Error(`It does not contain ${name}.`);
      let checksum = 0;
      for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
        // Counts over all reads, because a part may be read twice.
        inflated += chunk.length;
        if (inflated > limits.bytes) throw tooLarge(limits);
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
      if (checksum !== entry.crc32) throw new Error(`${name} is damaged.`);
    },
  };
}

const tooLarge = ({ bytes }: Limits): Error =>
  new Error(`Its uncompressed content is larger than ${bytes / 1024 / 1024} MB.`);

function requireReadable({ generalPurposeBitFlag: flags, compressionMethod, fileName }: Entry): void {
  if (flags & (isEncrypted | hidesHeaders)) throw new Error('It is encrypted.');
  if (compressionMethod !== stored && compressionMethod !== deflated)
    throw new Error(`The compression method of ${fileName} is not supported.`);
}

/** Rejects parts that share bytes, as in a zip bomb, and parts whose own header contradicts the directory. */
async function refuseOverlaps(zip: ZipFile, entries: readonly Entry[]): Promise<void> {
  let end = 0;
  const sorted = entries.toSorted(
    (one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader,
  );
  for (const entry of sorted) {
    const header = await zip.readLocalFileHeaderPromise(entry);
    if (entry.relativeOffsetOfLocalHeader < end) throw new Error('Its parts overlap.');
    if (!header.fileName.equals(entry.fileNameRaw) || header.compressionMethod !== entry.compressionMethod)
      throw new Error(`The directory does not match the header of ${entry.fileName}.`);
    end = header.fileDataStart + entry.compressedSize;
  }
}
