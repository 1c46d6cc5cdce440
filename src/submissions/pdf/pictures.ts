import { buffer } from 'node:stream/consumers';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { storageKey } from '#files/stored-files.ts';
import { openFullSizeImage } from '#forms/images/images.ts';
import type { Database } from '#kit/database.ts';
import type { Storage } from '#kit/storage.ts';
import type { Picture } from './document.ts';

/** The files that are drawn. Others are listed by name. */
const drawnTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
/** The maximum number of drawn files: each takes about 0.2 s. */
const mostPictures = 30;
/** The longest side of a picture: the width of a page at 180 dots per inch. */
const longest = 1_200;
/** Larger files would take too much memory. They are listed by name. */
const mostBytes = 50_000_000;
/** Decoding this many pixels takes about 200 MB of memory. */
const mostPixels = 52_000_000;
const patienceSeconds = 10;

type PictureServices = { database: Database; storage: Storage };

/** Reads the pictures among the files, by file id. A broken picture is left out. */
export async function readPictures(
  { storage }: PictureServices,
  workspaceId: string,
  files: readonly FileAnswer[],
): Promise<Map<string, Picture>> {
  const pictures = new Map<string, Picture>();
  const drawn = files
    .filter(({ content_type, size }) => drawnTypes.includes(content_type) && size <= mostBytes)
    .slice(0, mostPictures);
  // One at a time, so that a submission with many files does not use up the memory.
  for (const { id } of drawn) {
    const stream = await storage.open(storageKey(workspaceId, id));
    const picture = stream && (await shrink(await buffer(stream)));
    if (picture) pictures.set(id, picture);
  }
  return pictures;
}

/** Reads the logo of a form; undefined if its image no longer exists. */
export async function readLogo(
  services: PictureServices,
  workspaceId: string,
  id: string | undefined,
): Promise<Picture | undefined> {
  const found = id === undefined ? undefined : await openFullSizeImage(services, workspaceId, id);
  return found && shrink(await buffer(found.stream));
}

/**
 * Returns a picture upright, in a size and format that a PDF can include, on white; undefined if it cannot be
 * read. It has no metadata: no location, date or name.
 */
async function shrink(bytes: Buffer): Promise<Picture | undefined> {
  // Loaded with the first picture, because most processes never need it.
  const { default: sharp } = await import('sharp');
  const image = sharp(bytes, { limitInputPixels: mostPixels }).timeout({ seconds: patienceSeconds });
  const isReadable = await image.metadata().then(
    ({ hasAlpha }) => ({ hasAlpha }),
    () => undefined,
  );
  if (!isReadable) return undefined;
  const resized = image
    .autoOrient()
    .resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb');
  const encoded = isReadable.hasAlpha ? resized.png() : resized.jpeg({ quality: 82 });
  return encoded.toBuffer({ resolveWithObject: true }).then(
    ({ data, info }) => ({ bytes: data, width: info.width, height: info.height }),
    () => undefined,
  );
}
