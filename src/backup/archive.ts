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
import { readDisk } from '#kit/storage.ts';
import { syncDirectory } from '#kit/sync-directory.ts';
import { BackupError } from './fill-table.ts';

/*
 * How age seals a file by a passphrase (its specification, "The scrypt recipient type"), with the scrypt of Node, which works beside
 * the event loop. That of age's package is JavaScript: for 1.2 s a service that sealed its backup answered nobody.
 */

/** age's own default: half a second for each passphrase that somebody tries. */
const usualWork = 18;
/** As much as age takes of a file: a gigabyte of memory, which whoever wrote the file asks for. */
const mostWork = 20;

const type = 'scrypt';
const label = 'age-encryption.org/v1/scrypt';
const cipher = 'chacha20-poly1305';
const options = { authTagLength: 16 };
/** A key seals one file, so nothing has to tell its messages apart. */
const nonce = Buffer.alloc(12);
const asText = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

const derive = promisify<string, Buffer, number, { N: number; r: number; maxmem: number }, Buffer>(scrypt);

function keyOf(passphrase: string, salt: Buffer, work: number): Promise<Buffer> {
  const [N, r] = [2 ** work, 8];
  return derive(passphrase, Buffer.concat([Buffer.from(label), salt]), 32, { N, r, maxmem: 129 * N * r });
}

/** Seals a file by a passphrase. @param work the binary logarithm of scrypt's N. */
export const sealedWith = (passphrase: string, work = usualWork): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(16);
    const sealer = createCipheriv(cipher, await keyOf(passphrase, salt, work), nonce, options);
    const body = Buffer.concat([sealer.update(fileKey), sealer.final(), sealer.getAuthTag()]);
    return [{ args: [type, asText(salt), String(work)], body }];
  },
});

/** Opens a file that was sealed by a passphrase. What no passphrase sealed, and what another one did, it does not open. */
export const openedWith = (passphrase: string): Identity => ({
  async unwrapFileKey([stanza, ...more]) {
    const [kind, salt = '', asked = ''] = stanza?.args ?? [];
    const work = /^[1-9]\d?$/.test(asked) ? Number(asked) : Infinity;
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

/** An archive that is being written. Entries are read again in the order in which they were added. */
export type ArchiveWriter = Pick<TarWriter, 'add'>;

/** An entry of an archive. `body` has to be read before the next entry. */
export type ArchiveEntry = Omit<TarEntry, 'body'> & { readonly body: Readable };

/** Loaded when something is sealed or opened: a tenth of what a start takes. */
const loadAge = () => import('age-encryption');

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The words with which a file begins that age sealed. */
const sealedBy = 'age-encryption.org/';

/**
 * Writes an archive: a tar file, packed with zstd, and sealed by the passphrase with age where there is one. So
 * `age -d`, `zstd -d` and `tar -x` read it too. When it returns, the file survives a power cut; when it throws, there is
 * none.
 * @param options.leastRoom bytes that stay free on its disk, which may be that of the database: without any, that stops.
 * @param options.signal breaks it off, without waiting for what is being added.
 * @throws BackupError where there is a file of this name already.
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
    const packed = through(readable, zstd);
    const bytes = passphrase === undefined ? packed : await seal(packed, passphrase);
    // What stops the one stops the other: a disk that takes no more, an entry that cannot be read.
    const written = bytes.pipeTo(new WritableStream({ write: writerInto(file, { path, leastRoom }) }));
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
      throw new BackupError(`${path} was begun by another backup meanwhile, and this one was given up.`);
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

/** How often a disk is asked for its room. */
const bytesBetween = 1024 * 1024;

/** What writes to a file while its disk has room. */
export function writerInto(file: FileHandle, { path, leastRoom }: { path: string; leastRoom: number }) {
  let unasked = bytesBetween;
  return (chunk: Uint8Array): Promise<void> =>
    explainFile(path, 'written', async () => {
      unasked += chunk.length;
      if (unasked > bytesBetween) {
        if ((await readDisk(dirname(path))).free < leastRoom)
          throw new Error('less is free there than has to stay free (UPLOAD_FREE_MB)');
        unasked = 0;
      }
      await file.writeFile(chunk);
    });
}

/** Whether a name leads to this very file, and not to one that took its place. */
async function isNamed(file: FileHandle, path: string): Promise<boolean> {
  const [own, found] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return own.ino === found?.ino;
}

/**
 * What comes of bytes by a stream of Node; what ends the one ends the other, and is thrown to whoever reads. No `toWeb`: what had been
 * unpacked when somebody stops is thrown outside of every `try`.
 */
const through = (bytes: Bytes, stream: Duplex): Bytes =>
  ReadableStream.from(pipeline(Readable.fromWeb(bytes), stream, () => {}));

const isThere = (place: string): Promise<boolean> =>
  access(place).then(
    () => true,
    () => false,
  );

async function refuseReplacing(path: string): Promise<void> {
  if (await isThere(path)) throw new BackupError(`${path} is there already, and a backup replaces nothing.`);
}

/** Only its owner reads it: it holds answers, and maybe the key. What a kill left there goes; whoever writes to it still is told at its end. */
async function openNew(path: string, draft: string): Promise<FileHandle> {
  await refuseReplacing(path);
  const folder = dirname(path);
  if (!(await isThere(folder))) throw new BackupError(`There is no folder ${folder}: make it first.`);
  return explainFile(path, 'written', async () => {
    await rm(draft, { force: true });
    return open(draft, 'wx', 0o600);
  });
}

const remedies = {
  written: 'Make room there, or name another place.',
  read: 'Name the file of a backup that you may read.',
};

/** @throws BackupError for what the operating system refuses, as it says it. */
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
 * The entries of an archive, in their order.
 * @param opened its file, where that has no name any more; `path` is then what it is called.
 * @throws BackupError, and so do their bodies, for what is no archive, is cut off or damaged, or was sealed with another passphrase.
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
      throw new BackupError(`${path} is sealed: it takes its passphrase (--passphrase-file).`);
    const bytes: Bytes = ReadableStream.from(
      file.createReadStream({ start: 0, emitClose: false, autoClose: false }),
    );
    const packed = isSealed ? await unseal(bytes, passphrase!) : bytes;
    const tar = readTar(through(packed, createZstdDecompress()));
    for await (const { name, size, body } of explained(path, tar))
      yield { name, size, body: Readable.from(explained(path, body), { objectMode: false }) };
  } finally {
    await file.close();
  }
}

/** What comes of a file, with what is wrong with it said as a person needs it. */
async function* explained<Part>(path: string, source: AsyncIterable<Part>): AsyncGenerator<Part> {
  try {
    yield* source;
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${path} cannot be read: it is cut off, damaged or no backup.`, { cause: error });
  }
}

async function seal(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Encrypter } = await loadAge();
  const sealer = new Encrypter();
  sealer.addRecipient(sealedWith(passphrase));
  return (await sealer.encrypt(bytes as never)) as unknown as Bytes;
}

async function unseal(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Decrypter } = await loadAge();
  const opener = new Decrypter();
  opener.addIdentity(openedWith(passphrase));
  try {
    return (await opener.decrypt(bytes as never)) as unknown as Bytes;
  } catch (error) {
    throw new BackupError('It cannot be opened with this passphrase.', { cause: error });
  }
}

const Table = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) });

/** The first entry: what the archive was made of, and with. */
export const Manifest = Type.Object({
  format: Type.Literal(1),
  /** Of Formloom. */
  version: Type.String(),
  made_at: Type.String({ format: 'date-time' }),
  /** Those that the database had, in order. */
  migrations: Type.Array(Type.Object({ number: Type.Integer(), checksum: Type.String() })),
  /** Of the key that the database is used with, whether it is inside or not; null: with none yet. */
  key_fingerprint: Type.Union([Type.String(), Type.Null()]),
  tables: Type.Array(Table),
  /** The cells beside the first: their tables are called `schema.table`. */
  /** The one workspace of a backup of a workspace. */
  workspace: Type.Optional(
    Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }), name: Type.String() }),
  ),
  cells: Type.Optional(Type.Array(Type.Object({ name: Type.String(), schema_name: Type.String() }))),
});
export type Manifest = Static<typeof Manifest>;

/** The last entry: without it an archive is not whole. */
export const Ending = Type.Object({
  /** Of each table. */
  rows: Type.Record(Type.String(), Type.Integer()),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), last_value: Type.Union([Type.Integer(), Type.Null()]) }),
  ),
  files: Type.Integer(),
  bytes: Type.Integer(),
});
export type Ending = Static<typeof Ending>;

/** The names of the entries; `tables/<table>/<part>` and `files/<key>` beside them. */
export const entryNames = { manifest: 'manifest.json', key: 'secret.key', ending: 'ending.json' } as const;

/** @throws BackupError for what is not as this version writes it. */
export function readPart<S extends typeof Manifest | typeof Ending>(shape: S, text: string): Static<S> {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    part = undefined;
  }
  // By what checks requests, which is loaded already: the package's other way takes 140 files more at each start.
  if (Compile(shape).Check(part)) return part;
  throw new BackupError('This is no backup that this version of Formloom can read.');
}
