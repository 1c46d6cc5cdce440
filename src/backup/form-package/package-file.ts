import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { type Static, Type } from 'typebox';
import { isRecord, own } from '#ast/json.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { readJsonBody } from '#kit/json-body.ts';
import { closed, timestamp, uuid } from '#kit/schemas.ts';
import { type TarWriter, tarStream } from '#kit/tar-stream.ts';
import { compileCheck } from '#kit/validation.ts';

/** How much of a form is packed: of its versions the newest have room. */
export type FormLimits = {
  /** Of all its images. */
  readonly imageBytes: number;
  readonly images: number;
  /** Of the texts of its versions. */
  readonly versionBytes: number;
  readonly versions: number;
};

/** How much a package holds. Its bytes are in memory while it is taken in, so it is no backup. */
export const packageLimits = {
  /** Of the file. */
  bytes: 24 * 1024 * 1024,
  imageBytes: 16 * 1024 * 1024,
  images: 200,
  versionBytes: 4 * 1024 * 1024,
  versions: 200,
} as const satisfies FormLimits & { bytes: number };

/** Of a form in the file of a workspace: its answers are pinned to versions, so more of these are in it. */
export const formInWorkspace: FormLimits = {
  imageBytes: 64 * 1024 * 1024,
  images: 500,
  versionBytes: 16 * 1024 * 1024,
  versions: 1_000,
};

/** Of what is unpacked: a file of some KB may be terabytes then. */
const unpackedBytes = 32 * 1024 * 1024;

const anObject = Type.Unsafe<object>({ type: 'object' });

/** The first entry, `form.json`: everything but the versions and the bytes of the images. */
const Manifest = Type.Object(
  {
    /** Of this shape. */
    formloom_form: Type.Literal(1),
    id: uuid,
    name: Type.String({ maxLength: 1_024 }),
    /** Settings ask for a password, which is in no file. */
    has_password: Type.Boolean(),
    /** The working copy, where there is one. */
    draft: Type.Union([Type.Object({ structure: anObject, settings: anObject }, closed), Type.Null()]),
    versions: Type.Integer({ minimum: 1, maximum: formInWorkspace.versions }),
    /** Older ones, for which there was no room. */
    versions_left_out: Type.Integer({ minimum: 0 }),
    images: Type.Array(uuid, { maxItems: formInWorkspace.images }),
    webhooks: Type.Array(
      Type.Object(
        {
          id: uuid,
          url: Type.String(),
          events: Type.Array(Type.String(), { maxItems: 10 }),
          active: Type.Boolean(),
          filter: Type.Union([anObject, Type.Null()]),
          pauses_on_failure: Type.Boolean(),
          /** Theirs are in no file. */
          has_secret: Type.Boolean(),
          header_names: Type.Array(Type.String(), { maxItems: 100 }),
          created_at: timestamp,
        },
        closed,
      ),
      { maxItems: 100 },
    ),
  },
  closed,
);
export type Manifest = Static<typeof Manifest>;

/** An entry `versions/<number>.json`. */
const Version = Type.Object(
  { created_at: timestamp, structure: anObject, settings: Type.Union([anObject, Type.Null()]) },
  closed,
);
export type Version = Static<typeof Version>;

const imageName = (id: string): string => `images/${id}`;
const versionName = (index: number): string => `versions/${String(index + 1).padStart(4, '0')}.json`;
const manifestName = 'form.json';

/** What goes into a package. */
export type Packed = {
  manifest: Manifest;
  versions: readonly Version[];
  images: (id: string) => Promise<{ size: number; stream: Readable }>;
};

/** Writes a package, a tar file packed with gzip, as it is read. */
export const writePackage = (packed: Packed): Readable => tarStream((tar) => addPackage(tar, '', packed));

/** Adds the entries of a package to a file, each below a folder. */
export async function addPackage(
  { add, addText }: TarWriter,
  folder: string,
  { manifest, versions, images }: Packed,
): Promise<void> {
  const addJson = (name: string, value: object) => addText(folder + name, `${JSON.stringify(value)}\n`);
  await addJson(manifestName, manifest);
  for (const id of manifest.images) {
    const { size, stream } = await images(id);
    await add(folder + imageName(id), size, stream);
  }
  for (const [index, version] of versions.entries()) await addJson(versionName(index), version);
}

const checks = { Manifest: compileCheck(Manifest), Version: compileCheck(Version) };

/**
 * The entries of a package, by their names.
 * @throws ApiError validation_error for what is no package, cut off or damaged; payload_too_large.
 */
export async function readPackage(bytes: Buffer): Promise<Map<string, Buffer>> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of unpacked(bytes)) chunks.push(chunk);
    const found = await unpackTar(Buffer.concat(chunks), { strict: true });
    return new Map(found.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]));
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw broken('The file is no package of a form, or it is cut off or damaged.', cause);
  }
}

/** @throws ApiError payload_too_large as soon as it is. */
async function* unpacked(bytes: Buffer): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of Readable.from([bytes]).pipe(createGunzip()) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > unpackedBytes)
      throw new ApiError('payload_too_large', `What is in the file is larger than ${unpackedBytes} bytes.`);
    yield chunk;
  }
}

const broken = (message: string, cause?: unknown): ApiError =>
  new ApiError('validation_error', message, { cause });

/** @throws ApiError validation_error, for one of another shape with what is wrong about it, or of a newer version. */
export const readManifest = (entries: ReadonlyMap<string, Buffer>): Manifest =>
  readJsonEntry(manifestName, entryOf(entries, manifestName), checks.Manifest);

/** The bytes of the images that the manifest names. @throws ApiError validation_error for one that is missing. */
export const imagesIn = (
  entries: ReadonlyMap<string, Buffer>,
  { images }: Manifest,
): [id: string, bytes: Buffer][] => images.map((id) => [id, entryOf(entries, imageName(id))]);

/** @param rename what the text of each goes through. @throws ApiError validation_error */
export const versionsIn = (
  entries: ReadonlyMap<string, Buffer>,
  { versions }: Manifest,
  rename: (text: string) => string,
): Version[] =>
  Array.from({ length: versions }, (_, index) =>
    readJsonEntry(
      versionName(index),
      Buffer.from(rename(entryOf(entries, versionName(index)).toString())),
      checks.Version,
    ),
  );

/**
 * An entry that is JSON, by its shape.
 * @throws ApiError validation_error with what is wrong about it; where it says that it is of a format that came later, that.
 */
export function readJsonEntry<T>(
  name: string,
  bytes: Buffer,
  check: (value: unknown) => { ok: true; value: T } | { ok: false; errors: ErrorItem[] },
): T {
  const value: unknown = readJsonBody(bytes);
  const checked = check(value);
  if (checked.ok) return checked.value;
  const format = isRecord(value) && (own(value, 'formloom_form') ?? own(value, 'formloom_workspace'));
  const isNewer = typeof format === 'number' && format > 1;
  throw new ApiError(
    'validation_error',
    isNewer
      ? `The file is of format ${format}, which a newer version of Formloom writes. This one reads format 1.`
      : `${name} is not as a package has it.`,
    isNewer ? {} : { errors: checked.errors },
  );
}

function entryOf(entries: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const found = entries.get(name);
  if (!found) throw broken(`The file is no package of a form, or it is cut off: it has no ${name}.`);
  return found;
}
