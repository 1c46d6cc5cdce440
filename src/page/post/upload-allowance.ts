import type { Readable } from 'node:stream';
import type { FilesContext } from '#files/receive.ts';
import { readRoom } from '#files/room.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Config } from '#kit/config.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';

const daySeconds = 86_400;
const megabyte = 1024 * 1024;

/** Why no more of a file is taken: its sender has used up the day, or there is no room for files of this form. */
export type UploadLimit = 'sender' | 'form';

/** A file went past a limit while it came. */
export class UploadRefused extends Error {
  readonly limit: UploadLimit;
  constructor(limit: UploadLimit) {
    super(`No more of the file is taken: ${limit}`);
    this.limit = limit;
  }
}

type Metering = Pick<FilesContext, 'database'> & {
  readonly requestCounter: RequestCounter;
  readonly config: Pick<Config, 'limits'>;
};

/**
 * The bytes of a file while the limits allow it: each MB is counted as it begins to come, so that nobody has to send
 * the whole of what is not taken, or can send more of it than that.
 * @param address of the sender, as addressKey makes it.
 * @throws UploadRefused from the first byte on; the rest of `source` is left to the caller.
 */
export async function* metered(
  { database, requestCounter, config: { limits } }: Metering,
  { workspaceId, id }: Pick<LiveForm, 'workspaceId' | 'id'>,
  address: string,
  source: Readable,
): AsyncGenerator<Buffer> {
  const room = await readRoom(database, limits, { workspaceId, formId: id });
  let [bytes, counted] = [0, 0];
  const count = async (points: number): Promise<void> => {
    counted += points;
    const { requests } = await requestCounter.count(`uploads from ${address}`, daySeconds, points);
    if (limits.uploadMbPerAddress > 0 && requests > limits.uploadMbPerAddress)
      throw new UploadRefused('sender');
  };
  // A file counts as one MB at least: it is a row and a name besides.
  await count(1);
  // Not destroyed at its end: the rest is still to be read past, for the parts behind it.
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > room) throw new UploadRefused('form');
    if (bytes > counted * megabyte) await count(Math.ceil(bytes / megabyte) - counted);
    yield chunk;
  }
}
