import { Duplex, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
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
    Readable.toWeb(content).pipeTo(controller.add({ name, size }));
  const addText: TarWriter['addText'] = (name, text) => {
    const bytes = Buffer.from(text);
    return add(name, bytes.length, Readable.from([bytes]));
  };
  const file = Readable.fromWeb(
    (readable as ReadableStream<Uint8Array>).pipeThrough(Duplex.toWeb(createGzip())),
  );
  write({ add, addText }).then(
    () => controller.finalize(),
    (error: Error) => file.destroy(error),
  );
  return file;
}
