import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { newId, now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { jsonb, onlyRow, statement } from '#kit/statement.ts';
import { fileSignatureBytes, pieceBytes, storageUnavailable } from '#kit/storage.ts';
import {
  cleanFilename,
  detectType,
  type FileServices,
  insertUnclaimedFile,
  type PendingUpload,
  pendingUpload,
  setFileContent,
  storageKey,
} from './stored-files.ts';

const pending = jsonb<PendingUpload>();

/** Finds a file that no submission has claimed. `upload` is null if it is complete, and `size` is what is stored. */
export const findUpload = statement('workspace_id form_id id', [
  'element filename content_type size',
  { upload: pendingUpload },
])`
  select element, filename, content_type, size, upload from files
  where workspace_id = $workspace_id and form_id = $form_id and id = $id and submission_id is null and claimed_at is null`;

/** Locks an upload with `offset` stored bytes, so that one request at a time sends bytes. */
const lockUpload = statement('workspace_id id offset', [
  'content_type locked_until:timestamp',
  { upload: pending },
])`
  update files set locked_until = date_trunc('milliseconds', now()) + interval '20 seconds'
  where workspace_id = $workspace_id and id = $id and size = $offset and upload is not null
    and submission_id is null and claimed_at is null and (locked_until is null or locked_until < now())
  returning content_type, locked_until, upload`;

/**
 * Saves what is stored, and extends the lock. The end of a lock identifies its holder, because the next lock ends
 * later.
 */
const saveUpload = statement(
  ['workspace_id id size locked_until:timestamp', { upload: pending }],
  'locked_until:timestamp',
)`
  update files set size = $size, upload = $upload, locked_until = date_trunc('milliseconds', now()) + interval '20 seconds'
  where workspace_id = $workspace_id and id = $id and locked_until = $locked_until and claimed_at is null
  returning locked_until`;

const unlockUpload = statement('workspace_id id locked_until:timestamp', '')`
  update files set locked_until = null
  where workspace_id = $workspace_id and id = $id and locked_until = $locked_until`;

type UploadId = { workspaceId: string; formId: string; id: string };

/**
 * Begins an upload whose bytes arrive in pieces. Like every file, it belongs to nothing until a submission claims
 * it, and the sweep deletes it after a day.
 * @returns the id of the file.
 * @throws ApiError service_unavailable if the disk has too little room for it.
 */
export async function createUpload(
  { database, storage }: FileServices,
  file: {
    workspaceId: string;
    formId: string;
    element: string;
    filename: string;
    declaredType: string;
    length: number;
  },
): Promise<string> {
  const { workspaceId, formId, element, length } = file;
  if (!(await storage.hasRoom(length)))
    throw storageUnavailable(`The disk has no room for ${length} bytes.`, undefined);
  const id = newId();
  await insertUnclaimedFile(database, {
    workspace_id: workspaceId,
    id,
    form_id: formId,
    element,
    filename: cleanFilename(file.filename),
    // PostgreSQL refuses text with a NUL.
    content_type: file.declaredType.replace(/[^\x20-\x7E]/g, '').slice(0, 200),
    created_at: now(),
    upload: { length },
  });
  return id;
}

/**
 * Adds the bytes of a request to an upload, and completes it after the last one. Each piece of 8 MB is saved when it
 * is stored, so that a crash loses less than a piece. If the connection breaks, the bytes that arrived are kept.
 * @param meter passes on the bytes of a piece, which begins at a position of the file, while the limits allow it.
 * @returns how many bytes are stored.
 * @throws ApiError conflict if another request sends bytes, or the upload does not have `offset` bytes.
 */
export async function appendToUpload(
  context: FileServices,
  of: UploadId,
  { offset, body }: { offset: number; body: Readable },
  meter: (piece: AsyncIterable<Buffer>, from: number) => AsyncIterable<Buffer>,
): Promise<number> {
  const key = storageKey(of.workspaceId, of.id);
  const lock = await openLock(context, of, offset);
  const { length } = lock.upload;
  const chunks = splitAtPieces(readUntilPause(body), offset, length);
  try {
    let failure: unknown;
    const next = (): Promise<IteratorResult<Buffer, void>> =>
      chunks.next().catch((error: unknown) => {
        failure = error;
        return { done: true, value: undefined };
      });
    let size = offset;
    let chunk = await next();
    const readPiece = async function* (): AsyncGenerator<Buffer> {
      while (!chunk.done) {
        size += chunk.value.length;
        yield chunk.value;
        await lock.extend();
        chunk = await next();
        if (size % pieceBytes === 0) return;
      }
    };
    while (!chunk.done) {
      const { size: stored, ...parts } = await context.storage.append(
        key,
        { ...lock.upload, size },
        meter(readPiece(), size),
      );
      await lock.save(stored, { length, ...parts });
    }
    if (failure !== undefined) throw failure;
    if (size === length) await complete(context, of, lock);
    return size;
  } finally {
    await chunks.return();
    await lock.close();
  }
}

/** Yields a body in chunks that do not cross the border of a piece. @throws ApiError payload_too_large. */
async function* splitAtPieces(
  body: AsyncIterable<Buffer>,
  offset: number,
  length: number,
): AsyncGenerator<Buffer, void> {
  let at = offset;
  for await (let rest of body)
    while (rest.length > 0) {
      const chunk = rest.subarray(0, pieceBytes - (at % pieceBytes));
      at += chunk.length;
      if (at > length)
        throw new ApiError(
          'payload_too_large',
          `The upload has more than the ${length} bytes of Upload-Length.`,
        );
      yield chunk;
      rest = rest.subarray(chunk.length);
    }
}

/** A visitor without a network sends nothing. The next request can then continue the upload. */
const longestPauseMs = 10_000;

/** Yields the bytes of a request until it ends, breaks, or pauses for too long. */
async function* readUntilPause(body: Readable): AsyncGenerator<Buffer> {
  const wait = () => setTimeout(() => body.destroy(new Error('The request paused.')), longestPauseMs);
  let timer = wait();
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      yield chunk;
      timer = wait();
    }
  } catch (cause) {
    throw new ApiError('bad_request', 'The request ended before all of its bytes arrived.', { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Completes an upload whose last byte is stored, if a crash came between. @throws ApiError conflict. */
export async function completeUpload(context: FileServices, of: UploadId, length: number): Promise<void> {
  const lock = await openLock(context, of, length);
  try {
    await complete(context, of, lock);
  } finally {
    await lock.close();
  }
}

async function complete(
  { database, storage }: FileServices,
  { workspaceId, id }: UploadId,
  { upload, content_type: declared }: { upload: PendingUpload; content_type: string },
): Promise<void> {
  const key = storageKey(workspaceId, id);
  const size = upload.length;
  await storage.finish(key, { ...upload, size });
  const head = await storage.open(key, { start: 0, end: fileSignatureBytes - 1 });
  const content_type = await detectType(head ? await buffer(head) : Buffer.alloc(0), declared);
  const done = await setFileContent(database, { workspace_id: workspaceId, id, size, content_type });
  // The upload was canceled at the same time.
  if (done.length === 0) await storage.remove(key);
}

/** How long a lock is used before it is extended, in ms. It lasts 20 s, which includes the longest pause. */
const extendMs = 5_000;

/** Locks an upload for one request. */
async function openLock(
  { database, storage }: FileServices,
  { workspaceId, formId, id }: UploadId,
  offset: number,
) {
  const of = { workspace_id: workspaceId, id };
  const locked = onlyRow(await lockUpload(database, { ...of, offset }));
  if (!locked)
    throw new ApiError(
      'conflict',
      'Another request is sending this file, or the upload continues at another offset. Read Upload-Offset with HEAD, then try again.',
      { retryAfter: 5 },
    );
  let { locked_until, upload } = locked;
  let size = offset;
  let savedAt = performance.now();
  const save = async (stored: number, state: PendingUpload): Promise<void> => {
    const row = onlyRow(await saveUpload(database, { ...of, locked_until, size: stored, upload: state }));
    if (!row) {
      // The upload was canceled at the same time, or another request has the lock.
      const isGone = (await findUpload(database, { ...of, form_id: formId })).length === 0;
      if (isGone) await storage.remove(storageKey(workspaceId, id), { ...state, size: stored });
      throw new ApiError('conflict', 'Another request sends this file or canceled it.');
    }
    [locked_until, size, upload, savedAt] = [row.locked_until, stored, state, performance.now()];
  };
  return {
    content_type: locked.content_type,
    get upload() {
      return upload;
    },
    save,
    async extend() {
      if (performance.now() - savedAt > extendMs) await save(size, upload);
    },
    close: () => unlockUpload(database, { ...of, locked_until }),
  };
}
