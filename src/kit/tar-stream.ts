import { pipeline, Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';

/** A tar file that is being written. */
export type TarWriter = {
  /** @param size the bytes of `content`, exactly. */
  add: (name: string, size: number, content: Readable) => Promise<void>;
  addText: (name: string, text: string) => Promise<void>;
};

/** A tar file packed with gzip, written by `write` while it is read. What stops in the middle breaks it off, so that nobody takes half of it for all. */
export function tarStream(write: (tar: TarWriter) => Promise<void>): Readable {
  const { readable, controller } = createTarPacker();
  const add: TarWriter['add'] = (name, size, content) =>
    ReadableStream.from(content).pipeTo(controller.add({ name, size }));
  const addText: TarWriter['addText'] = (name, text) => {
    const bytes = Buffer.from(text);
    return add(name, bytes.length, Readable.from([bytes]));
  };
  // What ends the one ends the other, and is thrown to whoever reads. No `toWeb`: its streams throw outside of every `try` where
  // somebody stops.
  const file = pipeline(Readable.fromWeb(readable as ReadableStream<Uint8Array>), createGzip(), () => {});
  write({ add, addText }).then(
    () => controller.finalize(),
    (error: Error) => file.destroy(error),
  );
  return file;
}
