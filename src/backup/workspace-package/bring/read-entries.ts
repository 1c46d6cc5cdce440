import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ReadableStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { ApiError } from '#kit/errors.ts';

/** A part of a file that is read: `body` to its end, before the next one. */
export type Entry = { readonly name: string; readonly size: number; readonly body: Readable };

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** What is wrong with a file as a whole. */
export const broken = (why: string, cause?: unknown): ApiError =>
  new ApiError(
    'validation_error',
    `The file is no package of a workspace, or it is cut off or damaged: ${why}.`,
    { cause },
  );

/**
 * The entries of a tar file packed with gzip, in their order.
 * @throws what `source` throws; ApiError validation_error, and so do bodies, for what is no such file, is cut off or damaged.
 */
export async function* readEntries(source: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  let failure: unknown;
  async function* noting(): AsyncGenerator<Buffer> {
    try {
      yield* source;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  async function* explained<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    try {
      yield* parts;
    } catch (cause) {
      throw failure ?? broken('it cannot be unpacked', cause);
    }
  }
  // What ends the one ends the other, and is thrown to whoever reads.
  const unpacked = pipeline(Readable.from(noting(), { objectMode: false }), createGunzip(), () => {});
  // Not `Readable.toWeb`: who stops reads no more, and what had been unpacked by then was thrown outside of every `try`.
  const tar = ReadableStream.from(unpacked) as Bytes;
  // By the types of browsers, which are not quite those of Node.
  const decoder: unknown = createTarDecoder({ strict: true });
  const entries: ReadableStream<ParsedTarEntry> = tar.pipeThrough(decoder as never);
  for await (const { header, body } of explained(entries)) {
    const content = Readable.from(explained(body as Bytes), { objectMode: false });
    yield { name: header.name, size: header.size, body: content };
  }
}

/** The bytes of an entry. @throws ApiError payload_too_large before they are read. */
export async function bytesOf({ name, size, body }: Entry, limit: number): Promise<Buffer> {
  if (size > limit) throw new ApiError('payload_too_large', `${name} is larger than ${limit} bytes.`);
  return buffer(body);
}

/** Lets an entry pass that is needed no more. */
export async function skip({ body }: Entry): Promise<void> {
  for await (const _ of body);
}
