import { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import type { Settings } from '#ast/settings.ts';
import { newId, now, uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import {
  deleteImage,
  findImage,
  findImages,
  insertImage,
  nameImages,
  selectStoredImages,
  takeUnnamedImages,
} from './queries.ts';

/** What storing and showing images needs. */
export type ImagesContext = { database: Database; storage: Storage };

/** The largest image, in bytes; and how many one workspace may have. */
export const imageLimits = { bytes: 2 * 1024 * 1024, images: 500 } as const;

/** What is stored. SVG is not: it is a document that can hold scripts. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

const storageKey = (workspaceId: string, id: string): string => `${workspaceId}/images/${id}`;

/** An image that no form names is removed after so long. */
const graceMs = 24 * 60 * 60 * 1000;

/**
 * Stores an image of at most 2 MB. Its bytes decide what it is, whatever it was sent as. The row comes first, so that
 * a stop in between leaves no bytes that nobody knows of.
 * @throws ApiError unsupported_media_type, payload_too_large, conflict when the workspace has 500.
 */
export async function storeImage(
  { database, storage }: ImagesContext,
  workspaceId: string,
  bytes: Buffer,
): Promise<{ id: string }> {
  if (bytes.length > imageLimits.bytes)
    throw new ApiError('payload_too_large', 'The image is larger than 2 MB. Choose a smaller one.');
  const type = (await fileTypeFromBuffer(bytes))?.mime;
  if (!imageTypes.some((known) => known === type))
    throw new ApiError('unsupported_media_type', 'This is no PNG, JPEG or WebP image.');
  const id = newId();
  const row = { workspace_id: workspaceId, id, content_type: type!, size: bytes.length };
  const inserted = await insertImage(database, { ...row, limit: imageLimits.images, now: now() });
  if (inserted.length === 0)
    throw new ApiError('conflict', `The workspace has ${imageLimits.images} images, which is the limit.`);
  await storage.put(storageKey(workspaceId, id), Readable.from([bytes]), imageLimits.bytes);
  return { id };
}

/** An image as a page of a form shows it; undefined when there is none. The caller reads or destroys the stream. */
export async function openImage(
  { database, storage }: ImagesContext,
  formId: string,
  id: string,
): Promise<{ contentType: string; size: number; stream: Readable } | undefined> {
  const [found] = await findImage(database, { form_id: formId, id });
  const stream = found && (await storage.open(storageKey(found.workspace_id, id)));
  return stream && { contentType: found.content_type, size: found.size, stream };
}

type Themed = Pick<Settings, 'theme'>;
/** What settings name, checked or not. */
const namedBy = ({ theme }: Themed): [key: string, id: string][] =>
  Object.entries({ logo: theme?.logo, cover: theme?.cover }).flatMap(([key, id]) =>
    typeof id === 'string' && uuidPattern.test(id) ? [[key, id]] : [],
  );

function missingOf(settings: Themed, rows: readonly { id: string }[]): ErrorItem[] {
  const known = new Set(rows.map(({ id }) => id));
  return namedBy(settings)
    .filter(([, id]) => !known.has(id))
    .map(([key]) => ({ field: `theme.${key}`, message: `"theme.${key}" must be the id of an image.` }));
}

/** The images that settings name and the workspace does not have, as problems of `theme.logo` and `theme.cover`. */
export async function findMissingImages(
  database: Queryable,
  workspaceId: string,
  settings: Themed,
): Promise<ErrorItem[]> {
  const ids = namedBy(settings).map(([, id]) => id);
  return ids.length === 0
    ? []
    : missingOf(settings, await findImages(database, { workspace_id: workspaceId, ids }));
}

/**
 * Makes sure that the workspace has the images that settings name, before these are stored.
 * @throws ApiError validation_error with `theme.logo` or `theme.cover`.
 */
export async function claimImages(database: Queryable, workspaceId: string, settings: Themed): Promise<void> {
  const ids = namedBy(settings).map(([, id]) => id);
  if (ids.length === 0) return;
  const errors = missingOf(
    settings,
    await nameImages(database, { workspace_id: workspaceId, ids, now: now() }),
  );
  if (errors.length > 0) throw new ApiError('validation_error', 'The settings are not valid.', { errors });
}

/**
 * Removes images that no form has named for a day, bytes and rows; a stop anywhere leaves a row for the next sweep.
 * @returns how many; a full batch of 500 means that there may be more.
 */
export async function sweepImages({ database, storage }: ImagesContext): Promise<number> {
  const time = now();
  const before = new Date(time.getTime() - graceMs);
  const taken = await takeUnnamedImages(database, { before, now: time });
  for (const { workspace_id, id } of taken) {
    await storage.remove(storageKey(workspace_id, id));
    await deleteImage(database, { workspace_id, id });
  }
  return taken.length;
}

/** Where the bytes of every image lie, across workspaces: what a backup holds. */
export const storedImages = async (db: Queryable): Promise<{ key: string; size: number }[]> =>
  (await selectStoredImages(db, {})).map(({ workspace_id, id, size }) => ({
    key: storageKey(workspace_id, id),
    size,
  }));
