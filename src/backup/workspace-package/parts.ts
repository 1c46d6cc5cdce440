import { Readable } from 'node:stream';
import type { FilesContext } from '#files/receive.ts';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import {
  deletePart,
  findWorkspaceImport,
  giveUpIdleImports,
  insertPart,
  listParts,
  selectStoredParts,
  takeIdleParts,
} from './queries.ts';

type Import = { workspaceId: string; importId: string };

const storageKey = ({ workspaceId, importId }: Import, part: number): string =>
  `${workspaceId}/imports/${importId}-${part}`;

/** A file of which not all parts came within so long is given up. */
const idleMs = 24 * 60 * 60 * 1_000;

/**
 * Stores a part of a file, which may come again: the last one of a number holds.
 * @throws ApiError not_found; conflict where no parts are taken any more; payload_too_large; service_unavailable.
 */
export async function storePart(
  { database, storage }: FilesContext,
  place: Import,
  number: number,
  bytes: Buffer,
): Promise<void> {
  const key = { workspace_id: place.workspaceId, import_id: place.importId };
  requireRow(await findWorkspaceImport(database, { workspace_id: place.workspaceId, id: place.importId }));
  if (!(await storage.hasRoom()))
    throw new ApiError('service_unavailable', 'Files cannot be stored right now. Try again later.', {
      retryAfter: 60,
    });
  const [noted] = await insertPart(database, { ...key, number, bytes: bytes.length });
  if (!noted) throw new ApiError('conflict', 'This import takes no more parts: it was started, or given up.');
  await storage.put(storageKey(place, number), Readable.from([bytes], { objectMode: false }), bytes.length);
}

/** Where the parts lie of files that are being brought, across workspaces: what a backup holds. The bytes of some may still be to come. */
export const storedParts = async (db: Queryable): Promise<string[]> =>
  (await selectStoredParts(db, {})).map(({ workspace_id, import_id, number }) =>
    storageKey({ workspaceId: workspace_id, importId: import_id }, number),
  );

/**
 * The parts of a file, one behind the other.
 * @throws ApiError conflict for a number that is missing.
 */
export async function requireParts(
  { database }: Pick<FilesContext, 'database'>,
  place: Import,
): Promise<number> {
  const parts = await listParts(database, { workspace_id: place.workspaceId, import_id: place.importId });
  const missing = parts.findIndex(({ number }, index) => number !== index + 1);
  if (parts.length === 0 || missing >= 0)
    throw new ApiError('conflict', `Part ${missing < 0 ? 1 : missing + 1} of the file has not come.`);
  return parts.length;
}

/** The file that came in parts. @throws ApiError validation_error for a part whose bytes are gone. */
export async function* readParts(
  { storage }: Pick<FilesContext, 'storage'>,
  place: Import,
  parts: number,
): AsyncGenerator<Buffer> {
  for (let number = 1; number <= parts; number += 1) {
    const part = await storage.open(storageKey(place, number));
    if (!part)
      throw new ApiError(
        'validation_error',
        `Part ${number} of the file is not there any more. Send it again.`,
      );
    yield* part as AsyncIterable<Buffer>;
  }
}

/** Removes the parts of imports that are over, whose workspace is gone, or that did not come whole. @returns how many. */
export async function sweepParts({ database, storage }: FilesContext): Promise<number> {
  const before = new Date(now().getTime() - idleMs);
  await giveUpIdleImports(database, {
    before,
    now: now(),
    problem: 'Not all of the file came within a day.',
  });
  const parts = await takeIdleParts(database, { before });
  for (const { workspace_id, import_id, number } of parts) {
    await storage.remove(storageKey({ workspaceId: workspace_id, importId: import_id }, number));
    await deletePart(database, { workspace_id, import_id, number });
  }
  return parts.length;
}
