import type { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Labels } from '#forms/labels.ts';
import { tarStream } from '#kit/archives.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { webhookFormats } from '#webhooks/format-body.ts';
import { templateSchema } from '#webhooks/template.ts';

/** Limits of a form package. An export omits the oldest versions to stay within them. */
export const packageLimits = {
  /** The size of the compressed file. An import keeps all of it in memory. */
  bytes: 24 * 1024 * 1024,
  imageBytes: 16 * 1024 * 1024,
  images: 200,
  versionBytes: 4 * 1024 * 1024,
  versions: 200,
} as const;

const anObject = Type.Unsafe<object>({ type: 'object' });

/** The first entry, `form.json`: everything except the versions and the bytes of the images. */
export const PackageManifest = strictObject({
  /** The version of the format. */
  formloom_form: Type.Literal(1),
  id: uuidSchema,
  name: Type.String({ maxLength: 1_024 }),
  /** Omitted if the form has none, so that a server without labels can read the file. */
  labels: Type.Optional(Labels),
  /** Whether the form requires a password. The password itself is never exported. */
  has_password: Type.Boolean(),
  /** The working copy, if the form has one. */
  draft: orNull(strictObject({ structure: anObject, settings: anObject })),
  versions: Type.Integer({ minimum: 1, maximum: packageLimits.versions }),
  /** The number of older versions that were omitted because of the limits. */
  versions_left_out: Type.Integer({ minimum: 0 }),
  images: Type.Array(uuidSchema, { maxItems: packageLimits.images }),
  webhooks: Type.Array(
    strictObject({
      id: uuidSchema,
      url: Type.String(),
      events: Type.Array(Type.String(), { maxItems: 10 }),
      active: Type.Boolean(),
      filter: orNull(anObject),
      /** Absent in packages of earlier versions: `standard`. */
      format: Type.Optional(Type.Enum([...webhookFormats])),
      template: Type.Optional(orNull(templateSchema)),
      pauses_on_failure: Type.Boolean(),
      /** Secrets and header values are never exported. */
      has_secret: Type.Boolean(),
      header_names: Type.Array(Type.String(), { maxItems: 100 }),
      created_at: timestampSchema,
    }),
    { maxItems: 100 },
  ),
});
export type PackageManifest = Static<typeof PackageManifest>;

/** An entry `versions/<number>.json`. */
export const PackageVersion = strictObject({
  created_at: timestampSchema,
  structure: anObject,
  settings: orNull(anObject),
});
export type PackageVersion = Static<typeof PackageVersion>;

export const manifestEntryName = 'form.json';
export const imageEntryName = (id: string): string => `images/${id}`;
export const versionEntryName = (index: number): string =>
  `versions/${String(index + 1).padStart(4, '0')}.json`;

export type PackageContent = {
  manifest: PackageManifest;
  versions: readonly PackageVersion[];
  images: (id: string) => Promise<{ size: number; stream: Readable }>;
};

/** Returns a package as a stream. Entry names are short and ASCII, so none needs an extended header. */
export const writePackage = ({ manifest, versions, images }: PackageContent): Readable =>
  tarStream(async ({ add, addText }) => {
    const addJson = (name: string, value: object) => addText(name, `${JSON.stringify(value)}\n`);
    await addJson(manifestEntryName, manifest);
    for (const id of manifest.images) {
      const { size, stream } = await images(id);
      await add(imageEntryName(id), size, stream);
    }
    for (const [index, version] of versions.entries()) await addJson(versionEntryName(index), version);
  });
