import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Settings } from '#ast/settings.ts';
import { readBuilderForm } from '#forms/draft.ts';
import { type FormAddresses, presentCreated, sentStructureColumn } from '#forms/form-rows.ts';
import { findImageSizes, type ImageServices, openFullSizeImage } from '#forms/images/images.ts';
import { CreatedForm } from '#forms/shapes.ts';
import { ApiError } from '#kit/errors.ts';
import { attachmentHeader } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { jsonb, nullable, statement } from '#kit/statement.ts';
import { readWebhooks } from '#webhooks/read-webhooks.ts';
import type { Webhook } from '#webhooks/shapes.ts';
import { requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import {
  type PackageContent,
  type PackageManifest,
  type PackageVersion,
  packageLimits,
  writePackage,
} from './package-file.ts';
import { anyUuid, type UnpackServices, unpackForm } from './unpack-form.ts';

/**
 * The newest versions of a form up to `last`, oldest first, while their texts fit into `bytes`. `last` is
 * always included.
 */
const selectVersionsToPack = statement('workspace_id form_id last:integer limit bytes', [
  'version created_at',
  { structure: sentStructureColumn, settings: nullable(jsonb<Settings>()) },
])`
  select version, created_at, structure, settings from (
    select version, created_at, structure, settings,
           sum(octet_length(structure::text) + coalesce(octet_length(settings::text), 0)) over (order by version desc) as so_far
    from form_versions
    where workspace_id = $workspace_id and form_id = $form_id and version <= $last and version > $last - $limit) counted
  where so_far <= $bytes or version = $last
  order by version`;

type PackRequest = { workspaceId: string; formId: string; withWebhooks: boolean };

/**
 * Returns a form package as a stream.
 * @throws the errors of collectForm.
 */
async function packForm(
  context: ImageServices,
  place: PackRequest,
): Promise<{ name: string; stream: Readable }> {
  const packed = await collectForm(context, place);
  return { name: packed.manifest.name, stream: writePackage(packed) };
}

/**
 * Reads what a package contains: the versions with their settings, the working copy, and the images that they
 * use. If the caller may read webhooks, these are included without secrets.
 * @throws ApiError not_found; payload_too_large if the images of the live version exceed the limits.
 */
async function collectForm(
  context: ImageServices,
  { workspaceId, formId, withWebhooks }: PackRequest,
): Promise<PackageContent> {
  const { database } = context;
  const { form, draft } = await readBuilderForm(database, workspaceId, formId);
  const rows = await selectVersionsToPack(database, {
    workspace_id: workspaceId,
    form_id: formId,
    last: form.version,
    limit: packageLimits.versions,
    bytes: packageLimits.versionBytes,
  });
  const all = rows.map(
    ({ version, created_at, structure, settings }): PackageVersion => ({
      created_at: created_at.toISOString(),
      structure,
      // Individual settings may have changed since the version was published.
      settings: version === form.version ? form.settings : settings,
    }),
  );
  const copy = draft.revision > 0 ? { structure: draft.structure, settings: draft.settings } : null;
  const { versions, images } = await chooseImages(context, workspaceId, all, copy);
  const { webhooks } = withWebhooks
    ? await readWebhooks(database, { workspaceId, formId })
    : { webhooks: [] };
  const manifest: PackageManifest = {
    formloom_form: 1,
    id: form.id,
    name: form.name,
    ...(form.labels.length > 0 && { labels: form.labels }),
    has_password: form.has_password,
    draft: copy,
    versions: versions.length,
    versions_left_out: form.version - versions.length,
    images,
    webhooks: webhooks.toReversed().map(webhookIn),
  };
  const open = async (id: string) => {
    const found = await openFullSizeImage(context, workspaceId, id);
    if (!found)
      throw new ApiError(
        'conflict',
        'An image of the form was deleted while the form was being packed. Try again.',
      );
    return found;
  };
  return { manifest, versions, images: open };
}

/**
 * Chooses the images by the ids in the form: all of the live version and the working copy, and those of older
 * versions while they fit. A version whose images do not fit is left out, with all older ones.
 * @throws ApiError payload_too_large if the images of the live version and the working copy do not fit.
 */
async function chooseImages(
  { database }: ImageServices,
  workspaceId: string,
  versions: readonly PackageVersion[],
  copy: PackageManifest['draft'],
): Promise<{ versions: PackageVersion[]; images: string[] }> {
  const named = (part: unknown): string[] => JSON.stringify(part).match(anyUuid) ?? [];
  const [live, ...older] = versions.toReversed();
  const ids = [...new Set([...versions, copy].flatMap(named))];
  const sizes = new Map((await findImageSizes(database, workspaceId, ids)).map(({ id, size }) => [id, size]));
  const images = new Set<string>();
  const add = (...parts: unknown[]): boolean => {
    const more = parts.flatMap(named).filter((id) => sizes.has(id));
    const all = new Set([...images, ...more]);
    const bytes = [...all].reduce((sum, id) => sum + sizes.get(id)!, 0);
    if (bytes > packageLimits.imageBytes || all.size > packageLimits.images) return false;
    for (const id of more) images.add(id);
    return true;
  };
  if (!add(live, copy))
    throw new ApiError(
      'payload_too_large',
      `The form has more than ${packageLimits.images} images, or its images are larger than ${packageLimits.imageBytes} bytes in total. Remove images to pack the form.`,
    );
  const first = older.findIndex((version) => !add(version));
  const included = first === -1 ? older : older.slice(0, first);
  return { versions: [live!, ...included].toReversed(), images: [...images] };
}

const webhookIn = (webhook: Webhook): PackageManifest['webhooks'][number] => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  active: webhook.active,
  filter: webhook.filter,
  format: webhook.format,
  template: webhook.template,
  pauses_on_failure: webhook.pauses_on_failure,
  has_secret: webhook.has_secret,
  header_names: webhook.header_names,
  created_at: webhook.created_at,
});

/** A package of a form with one question, for the API document and for tests. */
export const examplePackage = Buffer.from(
  [
    'H4sIAAAAAAACA+2UP2vcQBDFVedTiKlX9qxOf8w2KdKkSZcmMUbMSaM7xSutsjvK5TD33YMENueYkCY+YtBvi9mZ4g0MvNc63199',
    'C26IXg9ExCLLloqIv1dMC4x0vkEsy01R5BFiWeRZFGN0AaYg5CO8yK7/kAdone+tc301f8BoBV0DBlCTbhvOkqKtOSlZU0JlTkna',
    '3rQ3db2ps60GBQP1DAY+uEGoFlCwp1CNFMLB+QZMSzawgsZTK2CGyVoFP9iHzg1h2fXYVJZbqdwkYFBB19OOA5jbOwUH3u6du1+6',
    '07to5Z/yeP9rRNSvFAR/83+u9XP/a60zXP1/Gf/Xnkm4qUjAQIppmaBONvqzTg2iQbxCxK+gIIifapk8g3kAOY6z7ZfIUEAiPszj',
    'F2nQcKh9N0rnBjDw0R3ino7xgeM92/E9nBTU+842ngcwt0+yQXg8l5VO7Dz/4iYf9xwC7RgUWDougQFBqL7/k5jwTyHPdC64JNy5',
    '0JYtGPj0NPH8feo8N2DET/xc+e40PwWBRbphNwue1mBaWVl5c/wC5V+MeAAMAAA=',
  ].join(''),
  'base64',
);

const UnpackedForm = namedObject('UnpackedForm', {
  ...CreatedForm.properties,
  left_out: Type.Array(Type.Object({ what: Type.String(), why: Type.String() }), {
    description: 'What was not imported or only partly imported, and why.',
  }),
});

const gzip = ['application/gzip'] as const;

/** The operations that pack a form into one file and unpack it. */
export const packageEndpoints = (context: UnpackServices & { addresses: FormAddresses }) => ({
  packForm: operation({
    summary: 'Pack form',
    description:
      'Returns the form as one file that Unpack form can read, here or on another server. It contains all versions with their settings and texts, the working copy, the labels and the images. It also contains the webhooks, without secrets, if the caller has webhooks:read. The file is a gzip-compressed tar file without submissions or passwords. If there are too many versions, the oldest are omitted. 413 if the live version has more than 16 MB of images.',
    permission: 'forms:read',
    audit: 'entry',
    params: idParameter,
    errors: ['payload_too_large'],
    reply: { status: 200, description: 'The file.', content: gzip },
    async run({ workspaceId, params, may }) {
      const place = { workspaceId, formId: params.id, withWebhooks: may('webhooks:read') };
      const { name, stream } = await packForm(context, place);
      return { headers: { ...attachmentHeader(name, '.form.tar.gz'), 'Content-Type': gzip[0] }, stream };
    },
  }),

  unpackForm: operation({
    summary: 'Unpack form',
    description:
      'Creates a draft from a form package. If the file has a problem, nothing is created. A file can be up to 24 MB. The form, its images and its webhooks get new ids. Webhooks require the permission webhooks:write, and are paused if they had secrets. `left_out` lists what was not imported.',
    permission: 'forms:write',
    audit: 'entry',
    bodyContent: gzip,
    bodyLimit: packageLimits.bytes,
    example: { body: examplePackage },
    errors: ['conflict'],
    reply: { status: 201, description: 'The form.', schema: UnpackedForm },
    async run({ body, ...scope }) {
      requireWorkspaceAccess(scope.formIds);
      const { row, structure, leftOut } = await unpackForm(context, scope, body);
      return { body: { ...presentCreated(row, structure, context.addresses), left_out: leftOut } };
    },
  }),
});
