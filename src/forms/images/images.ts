import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { getProperty } from '#ast/basics/json.ts';
import { imagesIn } from '#ast/form/form-images.ts';
import type { Form } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { type ImageSize, type ThemeImageKey, themeImageKeys } from '#ast/theme/theme.ts';
import { newId, now, uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { typeOfBytes } from '#kit/mime-type.ts';
import { operation } from '#kit/operation.ts';
import { jsonb, type Queryable, statement } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import { uuidSchema } from '#kit/validation.ts';
import { makeRenditions } from './renditions.ts';

/** The size of each rendition in bytes, by its name, such as `800.avif`. */
const renditions = jsonb<Readonly<Record<string, number>>>();

/** Returns no row if the workspace has reached its image limit. */
const insertImage = statement(
  ['workspace_id id content_type size:integer width height limit now', { renditions }],
  'id',
)`
  insert into form_images (workspace_id, id, content_type, size, width, height, renditions, created_at, named_at)
  select $workspace_id, $id, $content_type, $size, $width, $height, $renditions, $now, $now
  where (select count(*) from form_images where workspace_id = $workspace_id) < $limit
  returning id`;

/** Records that these images are in use, and returns the ids that exist. */
const recordImageUse = statement('workspace_id ids now', 'id')`
  update form_images set named_at = $now
  where workspace_id = $workspace_id and id = any ($ids) and removed_at is null
  returning id`;

const findImages = statement('workspace_id ids', ['id size:integer width? height?', { renditions }])`
  select id, size, width, height, renditions from form_images where workspace_id = $workspace_id and id = any ($ids) and removed_at is null`;

/** Finds an image by its id and the id of a form of its workspace, as public pages request it. */
const findImage = statement('form_id id', ['workspace_id content_type size:integer', { renditions }])`
  select i.workspace_id, i.content_type, i.size, i.renditions
  from form_lookup l
  join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
  join form_images i on i.workspace_id = l.workspace_id and i.id = $id
  where l.form_id = $form_id and f.deleted_at is null and i.removed_at is null`;

/**
 * Claims images that no form, working copy or version has used for a day, in a theme or an element. Also
 * claims images left by an interrupted removal. Structures are searched as text, because a working copy may
 * be anything. PostgreSQL checks the outer condition again if a form uses the image first.
 */
const markUnusedImages = statement('before now', ['workspace_id id', { renditions }])`
  /* sweep: across workspaces */
  with named as materialized (
    select f.workspace_id, used.id
    from forms f
    cross join lateral (
      select theme.image #>> '{}'
      from (
        select f.settings
        union all
        select d.settings from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id
        union all
        select v.settings from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) kept
      cross join lateral jsonb_path_query(kept.settings, '$.theme.*') theme (image)
      union all
      select (regexp_matches(shown.structure, '"image":"([0-9a-f-]{36})"', 'g'))[1]
      from (
        select d.structure::text from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id
        union all
        select v.structure::text from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) shown
      where position('"image":"' in shown.structure) > 0) used (id)
    where f.deleted_at is null
      and f.workspace_id in (select workspace_id from form_images where named_at < $before))
  update form_images set removed_at = coalesce(removed_at, $now)
  where (workspace_id, id) in (
    select i.workspace_id, i.id from form_images i
    where i.named_at < $before
      and not exists (select from named where named.workspace_id = i.workspace_id and named.id = i.id::text)
    order by i.named_at limit 500)
    and named_at < $before
  returning workspace_id, id, renditions`;

/** Claims all images of a deleted workspace. There are at most 500. */
const markImagesOfWorkspace = statement('workspace_id now', ['workspace_id id', { renditions }])`
  update form_images set removed_at = coalesce(removed_at, $now) where workspace_id = $workspace_id
  returning workspace_id, id, renditions`;

/** Deletes the row of an image, as the last step after its files. */
const deleteImage = statement('workspace_id id', '')`
  delete from form_images where workspace_id = $workspace_id and id = $id and removed_at is not null`;

/** Selects every image. A workspace has at most 500. */
const selectStoredImages = statement('of_workspace:uuid?', ['workspace_id id size:integer', { renditions }])`
  /* sweep: across workspaces */
  select workspace_id, id, size, renditions from form_images
   where removed_at is null and ($of_workspace is null or workspace_id = $of_workspace)`;

export type ImageServices = { database: Database; storage: Storage };

/** The maximum size of an image in bytes, and the maximum number of images in a workspace. */
const imageLimits = { bytes: 10 * 1024 * 1024, images: 500 } as const;

/** Accepted image types. SVG is not accepted, because it can contain scripts. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

/** Returns the storage key of an image or of one of its renditions. */
const storageKey = (workspaceId: string, id: string, rendition?: string): string =>
  `${workspaceId}/images/${id}${rendition === undefined ? '' : `-${rendition}`}`;

/** An image that no form uses is removed after this time. */
const graceMs = 24 * 60 * 60 * 1000;

/**
 * Stores an image of at most 10 MB, in the sizes and formats that pages use. The type is detected from the
 * bytes, not taken from the request. The row is inserted first, so that an interruption leaves no unknown
 * files.
 * @throws ApiError conflict if the workspace has 500 images; payload_too_large; unsupported_media_type; and
 * the errors of makeRenditions.
 */
export async function storeImage(
  { database, storage }: ImageServices,
  workspaceId: string,
  bytes: Buffer,
): Promise<{ id: string }> {
  if (bytes.length > imageLimits.bytes)
    throw new ApiError('payload_too_large', 'The image is larger than 10 MB. Choose a smaller one.');
  const type = await typeOfBytes(bytes);
  if (!imageTypes.some((known) => known === type))
    throw new ApiError('unsupported_media_type', 'The image must be a PNG, JPEG or WebP file.');
  const { contentType, width, height, whole, named } = await makeRenditions(bytes);
  const id = newId();
  const inserted = await insertImage(database, {
    workspace_id: workspaceId,
    id,
    content_type: contentType,
    size: whole.length,
    width,
    height,
    renditions: Object.fromEntries([...named].map(([name, { length }]) => [name, length])),
    limit: imageLimits.images,
    now: now(),
  });
  if (inserted.length === 0)
    throw new ApiError('conflict', `The workspace has reached its limit of ${imageLimits.images} images.`);
  for (const [name, content] of [[undefined, whole] as const, ...named])
    await storage.put(storageKey(workspaceId, id, name), Readable.from([content]), content.length);
  return { id };
}

/** The name of an image or a rendition in a URL: `<id>`, `<id>-800.avif`. */
const imageName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-([0-9a-z]+\.[a-z]+))?$/;

/**
 * Opens an image or a rendition by name, for a page of a form. Returns undefined if it does not exist. The
 * caller reads or destroys the stream.
 */
export async function openImage(
  { database, storage }: ImageServices,
  formId: string,
  name: string,
): Promise<{ contentType: string; size: number; stream: Readable } | undefined> {
  const [, id, rendition] = imageName.exec(name) ?? [];
  const [found] = id === undefined ? [] : await findImage(database, { form_id: formId, id });
  if (id === undefined || found === undefined) return undefined;
  const kept =
    rendition === undefined
      ? { contentType: found.content_type, size: found.size }
      : { contentType: `image/${rendition.split('.')[1]}`, size: getProperty(found.renditions, rendition) };
  if (kept.size === undefined) return undefined;
  const stream = await storage.open(storageKey(found.workspace_id, id, rendition));
  return stream && { ...kept, size: kept.size, stream };
}

/**
 * Opens an image of a workspace at full size. Returns undefined if it does not exist. The caller reads or
 * destroys the stream.
 */
export async function openFullSizeImage(
  { database, storage }: ImageServices,
  workspaceId: string,
  id: string,
): Promise<{ size: number; stream: Readable } | undefined> {
  const [found] = await findImages(database, { workspace_id: workspaceId, ids: [id] });
  const stream = found && (await storage.open(storageKey(workspaceId, id)));
  return found && stream && { size: found.size, stream };
}

/** Finds which of these ids are images of the workspace, with their sizes in bytes. */
export const findImageSizes = (
  database: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ id: string; size: number }[]> =>
  findImages(database, { workspace_id: workspaceId, ids: [...ids] });

/**
 * Returns the dimensions of a workspace's images by id. Images stored before dimensions were recorded are
 * left out.
 */
export async function findImageDimensions(
  database: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, ImageSize>> {
  const rows = await findImages(database, { workspace_id: workspaceId, ids: [...ids] });
  return new Map(
    rows.flatMap(({ id, width, height, renditions }) => {
      const widths = Object.keys(renditions).flatMap((name) =>
        name.endsWith('.webp') ? [Number.parseInt(name, 10)] : [],
      );
      const size = width !== null &&
        height !== null && { width, height, widths: widths.toSorted((a, b) => a - b) };
      return size ? [[id, size] as const] : [];
    }),
  );
}

type Themed = Pick<Settings, 'theme'>;
/** Returns the images that settings use, by theme key. The settings may be unvalidated. */
export const imagesOfSettings = ({ theme }: Themed): [key: ThemeImageKey, id: string][] =>
  themeImageKeys.flatMap((key) => {
    const id: unknown = theme?.[key];
    return typeof id === 'string' && uuidPattern.test(id) ? [[key, id]] : [];
  });

/** What can use images: the theme of settings, and the elements of a form. */
type ImageUsers = { readonly settings?: Themed | undefined; readonly form?: Form | undefined };

const idsIn = ({ settings, form }: ImageUsers): string[] => [
  ...(settings ? imagesOfSettings(settings).map(([, id]) => id) : []),
  ...(form ? imagesIn(form).map(({ id }) => id) : []),
];

function missingOf({ settings, form }: ImageUsers, rows: readonly { id: string }[]): ErrorItem[] {
  const known = new Set(rows.map(({ id }) => id));
  const ofTheme = (settings ? imagesOfSettings(settings) : []).filter(([, id]) => !known.has(id));
  const ofForm = (form ? imagesIn(form) : []).filter(({ id }) => !known.has(id));
  return [
    ...ofTheme.map(([key]) => ({
      field: `theme.${key}`,
      code: 'invalid_reference' as const,
      message: `"theme.${key}" must be the id of an image in this workspace.`,
    })),
    ...ofForm.map(({ id, name, path }) => ({
      path: [...path],
      code: 'invalid_reference' as const,
      message: `"${name}" refers to the image "${id}", which does not exist in this workspace.`,
    })),
  ];
}

/**
 * Returns an error for each missing image that settings or a form use, with a field (such as `theme.logo`) or
 * a path.
 */
export async function findMissingImages(
  database: Queryable,
  workspaceId: string,
  naming: ImageUsers,
): Promise<ErrorItem[]> {
  const ids = idsIn(naming);
  return ids.length === 0
    ? []
    : missingOf(naming, await findImages(database, { workspace_id: workspaceId, ids }));
}

/**
 * Records the images that settings and a form use, before these are stored.
 * @throws ApiError validation_error for missing images, with a field (such as `theme.logo`) or a path.
 */
export async function claimImages(
  database: Queryable,
  workspaceId: string,
  naming: ImageUsers,
): Promise<void> {
  const ids = idsIn(naming);
  if (ids.length === 0) return;
  const errors = missingOf(
    naming,
    await recordImageUse(database, { workspace_id: workspaceId, ids, now: now() }),
  );
  const what = errors.some(({ path }) => path) ? 'form structure is' : 'settings are';
  if (errors.length > 0) throw new ApiError('validation_error', `The ${what} not valid.`, { errors });
}

/**
 * Removes images that no form has used for a day, with their files. After an interruption, the next sweep
 * continues.
 * @returns how many were removed; 500 is a full batch, so there may be more.
 */
export async function sweepImages(context: ImageServices): Promise<number> {
  const time = now();
  const before = new Date(time.getTime() - graceMs);
  return removeMarkedImages(context, await markUnusedImages(context.database, { before, now: time }));
}

/** Removes all images of a deleted workspace, with their files. */
export async function removeImagesOf(context: ImageServices, workspaceId: string): Promise<void> {
  await removeMarkedImages(
    context,
    await markImagesOfWorkspace(context.database, { workspace_id: workspaceId, now: now() }),
  );
}

async function removeMarkedImages(
  { database, storage }: ImageServices,
  taken: Awaited<ReturnType<typeof markUnusedImages>>,
): Promise<number> {
  for (const { workspace_id, id, renditions } of taken) {
    for (const name of [undefined, ...Object.keys(renditions)])
      await storage.remove(storageKey(workspace_id, id, name));
    await deleteImage(database, { workspace_id, id });
  }
  return taken.length;
}

/** Lists the files of all images, or of the images of one workspace, for backups. */
export const listStoredImages = async (
  db: Queryable,
  ofWorkspace?: string,
): Promise<{ key: string; size: number }[]> =>
  (await selectStoredImages(db, { of_workspace: ofWorkspace ?? null })).flatMap(
    ({ workspace_id, id, size, renditions }) => [
      { key: storageKey(workspace_id, id), size },
      ...Object.entries(renditions).map(([name, each]) => ({
        key: storageKey(workspace_id, id, name),
        size: each,
      })),
    ],
  );

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const imageEndpoints = ({ database, storage }: ImageServices) => ({
  createImage: operation({
    summary: 'Create image',
    description:
      'Uploads a PNG, JPEG or WebP image of at most 10 MB and 25 megapixels (52 for a baseline JPEG; 8 for a progressive or interlaced image). It is stored in the sizes that pages use, without metadata. Use its id in `theme.logo`, `theme.logo_dark`, `theme.cover`, `theme.favicon` or `theme.social_image` of the settings of any form in the workspace. An image that no form uses is removed after a day. 409 if the workspace has reached its image limit. 503 if too many images arrive at the same time.',
    // Also allowed for a key that is limited to certain forms: it can set their logos, and an image id gives
    // no access.
    permission: 'forms:write',
    audit: 'entry',
    bodyContent: imageTypes,
    bodyLimit: imageLimits.bytes,
    example: { body: Buffer.from(pixel, 'base64') },
    reply: {
      status: 201,
      description: 'The id of the image.',
      schema: Type.Object({ id: uuidSchema }),
    },
    run: async ({ workspaceId, body }) => ({
      body: await storeImage({ database, storage }, workspaceId, body),
    }),
  }),
});
