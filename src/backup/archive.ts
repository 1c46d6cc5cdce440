import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { access, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { ReadableStream, WritableStream } from 'node:stream/web';
import { promisify } from 'node:util';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Identity, Recipient } from 'age-encryption';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { openTar, readTar, type TarEntry, type TarWriter } from '#kit/archives.ts';
import { untilAborted } from '#kit/concurrency.ts';
import { syncDirectory } from '#kit/directories.ts';
import { readDiskSpace } from '#kit/storage.ts';
import { orNull, timestampSchema } from '#kit/validation.ts';
import { BackupError } from './fill-table.ts';

/*
 * Seals files with a passphrase like age (its specification, "The scrypt recipient type"), but with Node's
 * scrypt, which runs off the event loop. The scrypt of age's package is JavaScript: sealing a backup blocked
 * the service for 1.2 s.
 */

/** age's default work factor: an attacker needs half a second for each passphrase. */
const usualWork = 18;
/** The most that age accepts in a file: the author of the file can make it use a gigabyte of memory. */
const mostWork = 20;

const type = 'scrypt';
const label = 'age-encryption.org/v1/scrypt';
const cipher = 'chacha20-poly1305';
const options = { authTagLength: 16 };
/** A key seals only one file, so the nonce can be constant. */
const nonce = Buffer.alloc(12);
const asText = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

const derive = promisify<string, Buffer, number, { N: number; r: number; maxmem: number }, Buffer>(scrypt);

function keyOf(passphrase: string, salt: Buffer, work: number): Promise<Buffer> {
  const [N, r] = [2 ** work, 8];
  return derive(passphrase, Buffer.concat([Buffer.from(label), salt]), 32, { N, r, maxmem: 129 * N * r });
}

/**
 * Seals a file with a passphrase.
 * @param work the binary logarithm of scrypt's N.
 */
export const createPassphraseRecipient = (passphrase: string, work = usualWork): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(16);
    const sealer = createCipheriv(cipher, await keyOf(passphrase, salt, work), nonce, options);
    const body = Buffer.concat([sealer.update(fileKey), sealer.final(), sealer.getAuthTag()]);
    return [{ args: [type, asText(salt), String(work)], body }];
  },
});

/**
 * Opens a file that was sealed with a passphrase. Returns null if another passphrase or another method sealed
 * it.
 */
export const createPassphraseIdentity = (passphrase: string): Identity => ({
  async unwrapFileKey([stanza, ...more]) {
    const [kind, salt = '', factor = ''] = stanza?.args ?? [];
    const work = /^[1-9]\d?$/.test(factor) ? Number(factor) : Infinity;
    if (!stanza || kind !== type || more.length > 0 || work > mostWork) return null;
    const key = await keyOf(passphrase, Buffer.from(salt, 'base64'), work);
    const opener = createDecipheriv(cipher, key, nonce, options);
    const body = Buffer.from(stanza.body);
    opener.setAuthTag(body.subarray(-options.authTagLength));
    try {
      return Buffer.concat([opener.update(body.subarray(0, -options.authTagLength)), opener.final()]);
    } catch {
      return null;
    }
  },
});

/** An archive that is being written. Its entries are read in the order in which they were added. */
export type ArchiveWriter = Pick<TarWriter, 'add'>;

/** An entry of an archive. `body` must be read before the next entry. */
export type ArchiveEntry = Omit<TarEntry, 'body'> & { readonly body: Readable };

/** Loaded when a file is sealed or opened: loading it takes a tenth of a start. */
const loadAge = () => import('age-encryption');

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The first bytes of a file that age sealed. */
const sealedBy = 'age-encryption.org/';

/**
 * Writes an archive: a tar file, compressed with zstd and, with a passphrase, sealed with age. `age -d`,
 * `zstd -d` and `tar -x` can read it too. When it returns, the file survives a power failure; when it throws,
 * there is no file.
 * @param options.leastRoom bytes that stay free on the disk, because the database may be on it too:
 * PostgreSQL stops on a full disk.
 * @param options.signal aborts without waiting for the entry that is being added.
 * @throws BackupError if a file with this name exists.
 */
export async function writeArchive(
  path: string,
  passphrase: string | undefined,
  write: (archive: ArchiveWriter) => Promise<void>,
  { leastRoom = 0, signal }: { leastRoom?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const draft = `${path}.part`;
  const file = await openNew(path, draft);
  try {
    const { readable, add, close, abort } = openTar();
    const zstd = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const packed = pipeThrough(readable, zstd);
    const bytes = passphrase === undefined ? packed : await seal(packed, passphrase);
    // A failure on one side stops the other: a full disk, or an entry that cannot be read.
    const written = bytes.pipeTo(
      new WritableStream({ write: createSpaceCheckedWriter(file, { path, leastRoom }) }),
    );
    const added = untilAborted(write({ add }), signal)
      .then(close)
      .catch(async (error: Error) => {
        await abort(error);
        throw error;
      });
    const [first] = (await Promise.allSettled([written, added])).filter(
      ({ status }) => status === 'rejected',
    );
    if (first) throw (first as PromiseRejectedResult).reason;
    await explainFile(path, 'written', () => file.sync());
    if (!(await isNamed(file, draft)))
      throw new BackupError(`Another backup to ${path} has started, so this one was stopped.`);
    await refuseReplacing(path);
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    if (await isNamed(file, draft)) await rm(draft);
    throw error;
  } finally {
    await file.close();
  }
}

/** The bytes written between two checks of the free disk space. */
const bytesBetween = 1024 * 1024;

/** Returns a function that writes to a file while its disk has free space. */
export function createSpaceCheckedWriter(
  file: FileHandle,
  { path, leastRoom }: { path: string; leastRoom: number },
) {
  let unasked = bytesBetween;
  return (chunk: Uint8Array): Promise<void> =>
    explainFile(path, 'written', async () => {
      unasked += chunk.length;
      if (unasked > bytesBetween) {
        if ((await readDiskSpace(dirname(path))).free < leastRoom)
          throw new Error('the free space there is below UPLOAD_FREE_MB');
        unasked = 0;
      }
      await file.writeFile(chunk);
    });
}

/** Returns whether a path still names this file, and not another one that replaced it. */
async function isNamed(file: FileHandle, path: string): Promise<boolean> {
  const [own, found] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return own.ino === found?.ino;
}

/**
 * Pipes bytes through a Node stream. When one side ends, so does the other, and the reader gets the error.
 * `toWeb` is not used: it throws outside of every `try` if the reader stops.
 */
const pipeThrough = (bytes: Bytes, stream: Duplex): Bytes =>
  ReadableStream.from(pipeline(Readable.fromWeb(bytes), stream, () => {}));

const fileExists = (place: string): Promise<boolean> =>
  access(place).then(
    () => true,
    () => false,
  );

async function refuseReplacing(path: string): Promise<void> {
  if (await fileExists(path))
    throw new BackupError(`${path} already exists, and a backup never replaces a file. Choose another name.`);
}

/**
 * Opens a new file that only its owner can read: it contains answers, and possibly the key. A file that a
 * killed backup left is deleted; a backup that still writes to it fails at its end.
 */
async function openNew(path: string, draft: string): Promise<FileHandle> {
  await refuseReplacing(path);
  const folder = dirname(path);
  if (!(await fileExists(folder)))
    throw new BackupError(`The folder ${folder} does not exist. Create it first.`);
  return explainFile(path, 'written', async () => {
    await rm(draft, { force: true });
    return open(draft, 'wx', 0o600);
  });
}

const remedies = {
  written: 'Free up space there, or choose another path.',
  read: 'Choose a backup file that you have permission to read.',
};

/**
 * Adds a remedy to errors of the operating system.
 * @throws BackupError with the system's message.
 */
async function explainFile<Result>(
  path: string,
  how: keyof typeof remedies,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new BackupError(`${path} cannot be ${how}: ${(error as Error).message}. ${remedies[how]}`, {
      cause: error,
    });
  }
}

/**
 * Reads the entries of an archive in order.
 * @param opened the open file, if it no longer has a name; `path` then describes it.
 * @throws BackupError, also while a body is read, for a file that is not an archive, is cut off or damaged,
 * or was sealed with another passphrase.
 */
export async function* readArchive(
  path: string,
  passphrase: string | undefined,
  opened?: FileHandle,
): AsyncGenerator<ArchiveEntry> {
  const file = opened ?? (await explainFile(path, 'read', () => open(path, 'r')));
  try {
    const { buffer: head } = await explainFile(path, 'read', () =>
      file.read(Buffer.alloc(sealedBy.length), 0, sealedBy.length, 0),
    );
    const isSealed = head.toString('latin1') === sealedBy;
    if (isSealed && passphrase === undefined)
      throw new BackupError(`${path} is encrypted. Pass its passphrase with --passphrase-file.`);
    const bytes: Bytes = ReadableStream.from(
      file.createReadStream({ start: 0, emitClose: false, autoClose: false }),
    );
    const packed = isSealed ? await unseal(bytes, passphrase!) : bytes;
    const tar = readTar(pipeThrough(packed, createZstdDecompress()));
    for await (const { name, size, body } of explained(path, tar))
      yield { name, size, body: Readable.from(explained(path, body), { objectMode: false }) };
  } finally {
    await file.close();
  }
}

/** Yields the parts of a file, and replaces errors in the file with readable messages. */
async function* explained<Part>(path: string, source: AsyncIterable<Part>): AsyncGenerator<Part> {
  try {
    yield* source;
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${path} cannot be read: it is incomplete, damaged or not a backup.`, {
      cause: error,
    });
  }
}

async function seal(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Encrypter } = await loadAge();
  const sealer = new Encrypter();
  sealer.addRecipient(createPassphraseRecipient(passphrase));
  return (await sealer.encrypt(bytes as never)) as unknown as Bytes;
}

async function unseal(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Decrypter } = await loadAge();
  const opener = new Decrypter();
  opener.addIdentity(createPassphraseIdentity(passphrase));
  try {
    return (await opener.decrypt(bytes as never)) as unknown as Bytes;
  } catch (error) {
    throw new BackupError('The backup cannot be opened with this passphrase.', { cause: error });
  }
}

const Table = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) });

/** The first entry: which database the archive was made from, and with which version. */
export const ArchiveManifest = Type.Object({
  format: Type.Literal(1),
  version: Type.String(),
  made_at: timestampSchema,
  /** The migrations of the database, in order. */
  migrations: Type.Array(Type.Object({ number: Type.Integer(), checksum: Type.String() })),
  /**
   * The fingerprint of the key that the database is used with, even if the archive does not contain the key.
   * Null if no key was used yet.
   */
  key_fingerprint: orNull(Type.String()),
  tables: Type.Array(Table),
  /** The workspace, in a backup of one workspace. */
  workspace: Type.Optional(
    Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }), name: Type.String() }),
  ),
  cells: Type.Optional(Type.Array(Type.Object({ name: Type.String(), schema_name: Type.String() }))),
});
export type ArchiveManifest = Static<typeof ArchiveManifest>;

/** The last entry. An archive without it is incomplete. */
export const ArchiveTrailer = Type.Object({
  /** The number of rows in each table. */
  rows: Type.Record(Type.String(), Type.Integer()),
  sequences: Type.Array(Type.Object({ name: Type.String(), last_value: orNull(Type.Integer()) })),
  files: Type.Integer(),
  bytes: Type.Integer(),
});
export type ArchiveTrailer = Static<typeof ArchiveTrailer>;

/** The names of the entries. The others are `tables/<table>/<part>` and `files/<key>`. */
export const entryNames = { manifest: 'manifest.json', key: 'secret.key', ending: 'ending.json' } as const;

/**
 * Parses and checks an entry.
 * @throws BackupError if it does not have the format of this version.
 */
export function parseArchiveEntry<S extends typeof ArchiveManifest | typeof ArchiveTrailer>(
  shape: S,
  text: string,
): Static<S> {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    part = undefined;
  }
  // Uses the validator that is already loaded for requests. The package's other validator would load 140 more
  // files at each start.
  if (Compile(shape).Check(part)) return part;
  throw new BackupError('This is not a backup that this version of Formloom can read.');
}
