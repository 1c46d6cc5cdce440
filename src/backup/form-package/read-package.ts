import { crc32, inflateRawSync } from 'node:zlib';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { readTar } from '#kit/archives.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { readJsonBody, type ValueBudget } from '#kit/json-body.ts';
import { compileCheck } from '#kit/validation.ts';
import {
  imageEntryName,
  manifestEntryName,
  PackageManifest,
  PackageVersion,
  packageLimits,
  versionEntryName,
} from './package-file.ts';

/**
 * Limits of a package after decompression. Without them, a file of a few KB could fill gigabytes of memory.
 */
const limits = {
  bytes: 32 * 1024 * 1024,
  entries: 1 + packageLimits.images + packageLimits.versions,
  /**
   * The size of one JSON entry, and of all together. An export writes at most 2 MB for the working copy and 2
   * MB for one version.
   */
  jsonBytes: 4 * 1024 * 1024,
  allJsonBytes: 12 * 1024 * 1024,
  /**
   * The number of JSON values in one entry, and in all together: an object with 3 bytes of text uses about 60
   * bytes of memory.
   */
  values: 250_000,
  allValues: 1_000_000,
  /** The parser gets this many bytes at a time, so that the limit on entries ends it early. */
  chunkBytes: 65_536,
} as const;

/**
 * A package that was read and checked. The service parses the JSON texts again, one at a time, which copies
 * less than sending objects between threads.
 */
export type PackageText = {
  readonly manifest: string;
  readonly versions: readonly string[];
  /** In the order in which the manifest names them. */
  readonly images: readonly Uint8Array<ArrayBuffer>[];
};

/**
 * Reads a package within limits. This can take seconds, so it runs in a thread (unpack-form.ts).
 * @throws ApiError validation_error for a file that is not a package, is damaged or has the wrong structure;
 * payload_too_large.
 */
export async function readPackage(bytes: Uint8Array): Promise<PackageText> {
  const entries = await readEntries(gunzipOnce(bytes));
  const budget: ValueBudget = { values: limits.allValues };
  const texts = new Map<string, string>();
  let jsonBytes = 0;
  const readJson = <T>(name: string, check: Check<T>): T => {
    const content = requireEntry(entries, name);
    jsonBytes += content.length;
    if (content.length > limits.jsonBytes || jsonBytes > limits.allJsonBytes)
      throw tooLarge(
        `${name} is too large. A JSON file can be up to ${limits.jsonBytes} bytes, and all JSON files together up to ${limits.allJsonBytes}.`,
      );
    const value = readJsonEntry(name, content, check, budget);
    texts.set(name, new TextDecoder().decode(content));
    return value;
  };
  const manifest = readJson(manifestEntryName, checks.Manifest);
  const versionNames = Array.from({ length: manifest.versions }, (_, index) => versionEntryName(index));
  for (const name of versionNames) readJson(name, checks.Version);
  return {
    manifest: texts.get(manifestEntryName)!,
    versions: versionNames.map((name) => texts.get(name)!),
    images: manifest.images.map((id) => requireEntry(entries, imageEntryName(id))),
  };
}

const refused = (message: string, cause?: unknown): ApiError =>
  new ApiError('validation_error', message, { cause });
const tooLarge = (message: string): ApiError => new ApiError('payload_too_large', message);
const notAPackage = 'The file is not a form package.';
const damaged = 'The file is not a form package, or it is incomplete or damaged.';

/** The shortest gzip file: its header of 10 bytes, an empty block, checksum and length. */
const shortestGzip = 20;
const gzipTrailer = 8;

/**
 * Decompresses exactly one gzip member. `gunzip` would also decompress any number of members after it, and
 * ignore other bytes.
 */
function gunzipOnce(bytes: Uint8Array): Buffer {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length === 0 || file[0] !== 0x1f || file[1] !== 0x8b || file[2] !== 8)
    throw refused(`${notAPackage} A form package is a .tar.gz file.`);
  if (file.length < shortestGzip) throw refused(damaged);
  const start = startOfDeflate(file);
  const { buffer, engine } = inflate(file.subarray(start));
  const end = start + engine.bytesWritten;
  if (end + gzipTrailer > file.length) throw refused(damaged);
  if (file.readUInt32LE(end) !== crc32(buffer) || file.readUInt32LE(end + 4) !== buffer.length)
    throw refused(damaged);
  if (end + gzipTrailer < file.length) throw refused(`${notAPackage} It has more than one gzip member.`);
  return buffer;
}

/** Returns where the data begins, after the header with its optional fields (RFC 1952, 2.3). */
function startOfDeflate(file: Buffer): number {
  const flags = file[3]!;
  let at = 10;
  if (flags & 4) at += 2 + file.readUInt16LE(at);
  for (const flag of [8, 16])
    if (flags & flag) {
      const end = file.indexOf(0, at);
      if (end === -1) throw refused(damaged);
      at = end + 1;
    }
  return flags & 2 ? at + 2 : at;
}

/**
 * Inflates up to the end of the stream. `engine.bytesWritten` is the number of compressed bytes that were
 * read.
 */
function inflate(bytes: Buffer): { buffer: Buffer; engine: { bytesWritten: number } } {
  try {
    // The types lack `info`, which changes the return value.
    return inflateRawSync(bytes, { maxOutputLength: limits.bytes, info: true }) as unknown as ReturnType<
      typeof inflate
    >;
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(`The content of the file is larger than ${limits.bytes} bytes.`);
    throw refused(damaged, cause);
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += limits.chunkBytes)
    yield bytes.subarray(at, at + limits.chunkBytes);
}

/**
 * Reads the files in a tar file, each into separate memory, which can be sent to another thread without
 * copying.
 */
async function readEntries(tar: Buffer): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const entries = new Map<string, Uint8Array<ArrayBuffer>>();
  try {
    for await (const { name, size, body } of readTar(chunksOf(tar), { isPlain: true })) {
      if (entries.has(name)) throw refused(`${notAPackage} It contains ${name} twice.`);
      if (entries.size === limits.entries)
        throw refused(`${notAPackage} It contains more than ${limits.entries} entries.`);
      if (size > tar.length) throw refused(damaged);
      const content = new Uint8Array(size);
      let at = 0;
      for await (const chunk of body) {
        content.set(chunk, at);
        at += chunk.length;
      }
      entries.set(name, content);
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw refused(`${damaged} ${(cause as Error).message}`, cause);
  }
  return entries;
}

function requireEntry(
  entries: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  name: string,
): Uint8Array<ArrayBuffer> {
  const found = entries.get(name);
  if (!found) throw refused(`The file is not a form package, or it is incomplete: ${name} is missing.`);
  return found;
}

const checks = { Manifest: compileCheck(PackageManifest), Version: compileCheck(PackageVersion) };
type Check<T> = (value: unknown) => { ok: true; value: T } | { ok: false; errors: ErrorItem[] };

/** Parses and checks a JSON entry, and subtracts its values from the budget. */
function readJsonEntry<T>(name: string, bytes: Uint8Array, check: Check<T>, budget: ValueBudget): T {
  const ofEntry = { values: Math.min(limits.values, budget.values) };
  const unused = budget.values - ofEntry.values;
  const value = parseEntry(name, bytes, ofEntry);
  budget.values = unused + ofEntry.values;
  const checked = check(value);
  if (checked.ok) return checked.value;
  const format = isRecord(value) && getProperty(value, 'formloom_form');
  if (typeof format === 'number' && format > 1)
    throw refused(
      `The file uses format ${format}, from a newer version of Formloom. This version reads format 1.`,
    );
  throw new ApiError('validation_error', `${name} does not have the structure of a form package.`, {
    errors: checked.errors,
  });
}

function parseEntry(name: string, bytes: Uint8Array, budget: ValueBudget): unknown {
  try {
    return readJsonBody(bytes, budget);
  } catch (cause) {
    const reason =
      cause instanceof ApiError && cause.code !== 'bad_request' ? cause.message : 'It is not valid JSON.';
    throw refused(`${name} cannot be read: ${reason}`, cause);
  }
}
