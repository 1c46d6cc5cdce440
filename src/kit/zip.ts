import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

/** A zip file in memory. Names are compared without regard to case, as in Office files. */
export type Zip = {
  has(name: string): boolean;
  /** Inflates a part in chunks. @throws Error for a part that is missing, damaged, or larger than its directory says. */
  read(name: string): AsyncGenerator<Buffer>;
};

type Limits = {
  readonly entries: number;
  /** All parts together, after decompression. */
  readonly bytes: number;
};

const isEncrypted = 0x1;
const hidesHeaders = 0x2000;
const stored = 0;
const deflated = 8;

/**
 * Opens a zip file within limits. The directory is checked before anything is inflated, and `read` counts again, since a
 * directory may lie.
 * @throws Error for a file that is not a zip file, exceeds a limit, or has parts that two programs could read differently.
 */
export async function openZip(bytes: Buffer, limits: Limits): Promise<Zip> {
  const zip = await fromBufferPromise(bytes, { strictFileNames: true });
  if (zip.entryCount > limits.entries) throw new Error(`It has more than ${limits.entries} parts.`);
  const entries = new Map<string, Entry>();
  let declared = 0;
  for await (const entry of zip.eachEntry()) {
    requireReadable(entry);
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw new Error(`It has ${entry.fileName} twice.`);
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
      if (!entry) throw new Error(`It has no ${name}.`);
      let checksum = 0;
      for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
        // A part may be read twice.
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
  new Error(`Its content is larger than ${bytes / 1024 / 1024} MB.`);

function requireReadable({ generalPurposeBitFlag: flags, compressionMethod, fileName }: Entry): void {
  if (flags & (isEncrypted | hidesHeaders)) throw new Error('It is encrypted.');
  if (compressionMethod !== stored && compressionMethod !== deflated)
    throw new Error(`${fileName} is compressed by a method that is not supported.`);
}

/** Refuses parts that share bytes, as in a zip bomb, and parts whose own header contradicts the directory. */
async function refuseOverlaps(zip: ZipFile, entries: readonly Entry[]): Promise<void> {
  let end = 0;
  const sorted = entries.toSorted(
    (one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader,
  );
  for (const entry of sorted) {
    const header = await zip.readLocalFileHeaderPromise(entry);
    if (entry.relativeOffsetOfLocalHeader < end) throw new Error('Its parts overlap.');
    if (!header.fileName.equals(entry.fileNameRaw) || header.compressionMethod !== entry.compressionMethod)
      throw new Error(`The directory does not agree with the header of ${entry.fileName}.`);
    end = header.fileDataStart + entry.compressedSize;
  }
}
