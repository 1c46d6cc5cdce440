import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { isRecord } from '#ast/basics/json.ts';
import type { FormStatus } from '#forms/form-rows.ts';
import { formStatuses } from '#forms/live-form.ts';
import { compileCheck } from '#kit/validation.ts';
import { UsageError } from './values.ts';

/**
 * The file beside the forms that records the state of each form on the service at the last pull or apply.
 * With it, a plan can distinguish a change on the service from one in the folder. The file belongs in Git,
 * like the forms.
 */
export const lockFileName = 'formloom.lock.json';

/** The SHA-256 of each form on the service, by form id. An id exists on only one service. */
export type LockFile = Map<string, string>;

const check = compileCheck(Type.Object({ forms: Type.Record(Type.String(), Type.String()) }));

/**
 * Reads the lock file of a folder.
 * @throws UsageError if the lock file is damaged.
 */
export async function readLockFile(folder: string): Promise<LockFile> {
  const path = join(folder, lockFileName);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{"forms": {}}';
    throw error;
  });
  const checked = check(parse(text));
  if (!checked.ok) throw new UsageError(`${path} is damaged. Delete it and run \`forms pull\`.`);
  return new Map(Object.entries(checked.value.forms));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Undefined is not valid, so the check refuses it.
    return undefined;
  }
}

/** Writes the lock file, sorted by id so that Git shows what changed. */
export async function writeLockFile(folder: string, lock: LockFile): Promise<void> {
  const forms = Object.fromEntries([...lock].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  await writeFile(join(folder, lockFileName), `${JSON.stringify({ forms }, null, 2)}\n`);
}

/** Returns the hash of a form, independent of the order of its keys. */
export const hashForm = ({
  status,
  structure,
  settings,
}: Record<'status' | 'structure' | 'settings', unknown>) =>
  createHash('sha256')
    .update(JSON.stringify(sorted({ status, structure, settings })))
    .digest('hex');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** A form in a file: JSON as `forms pull` writes it, or a module with a default export from defineForm. */
export type FormFile = {
  file: string;
  /** The id of the form. Without it, the form with the name in this file is meant. */
  id?: string;
  /** If omitted, the status is unchanged, and a new form is a draft. */
  status?: FormStatus;
  structure: object;
  /** If omitted, the settings are unchanged. */
  settings?: object;
};

const formFile = /^[^.].*(?<!\.d)\.(json|[mc]?[jt]s)$/;

const folderProblems: Readonly<Record<string, string>> = {
  ENOENT: 'Folder not found',
  ENOTDIR: 'Not a folder',
  EACCES: 'No permission to read the folder',
};

/**
 * Reads the forms of a folder, sorted by file name. Modules are executed.
 * @throws UsageError for a folder that cannot be read, or a file that does not contain a form.
 */
export async function readFormFiles(folder: string): Promise<FormFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${folderProblems[cause.code ?? ''] ?? cause.message}: ${folder}.`, { cause });
  });
  const names = entries
    .filter((entry) => entry.isFile() && formFile.test(entry.name) && entry.name !== lockFileName)
    .map(({ name }) => name);
  return Promise.all(names.sort().map(async (file) => formIn(file, await readFormFile(join(folder, file)))));
}

async function readFormFile(path: string): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8')) as unknown;
    return ((await import(pathToFileURL(resolve(path)).href)) as { default?: unknown }).default;
  } catch (cause) {
    throw new UsageError(
      `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

const known = ['id', 'status', 'structure', 'settings'];

function formIn(file: string, found: unknown): FormFile {
  const refuse = (what: string): UsageError => new UsageError(`${file} ${what}`);
  if (!isRecord(found) || !isRecord(found['structure']))
    throw refuse('is not a form. It needs "structure", or a default export made by defineForm.');
  const strange = Object.keys(found).find((name) => !known.includes(name));
  if (strange !== undefined)
    throw refuse(`has the unknown field "${strange}". Allowed fields: ${known.join(', ')}.`);
  const { id, status, structure, settings } = found;
  if (id !== undefined && typeof id !== 'string') throw refuse('has an "id" that is not a string.');
  const isStatus = (word: unknown): word is FormStatus => formStatuses.some((each) => each === word);
  if (status !== undefined && !isStatus(status))
    throw refuse(`has an invalid "status". Use one of ${formStatuses.join(', ')}.`);
  if (settings !== undefined && !isRecord(settings)) throw refuse('has "settings" that is not an object.');
  return {
    file,
    ...(id !== undefined && { id: id.toLowerCase() }),
    ...(status !== undefined && { status }),
    structure,
    ...(settings !== undefined && { settings }),
  };
}

/**
 * Writes a form as JSON, unless the file is already up to date.
 * @returns whether it was written.
 */
export async function writeFormFile(folder: string, { file, ...form }: FormFile): Promise<boolean> {
  const path = join(folder, file);
  const text = `${JSON.stringify(form, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(path, text);
  return true;
}

/** Returns the name of a new file: the form's name without characters that are not allowed in file names. */
export function newFileName(name: string, taken: ReadonlySet<string>): string {
  const base =
    name
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .slice(0, 60)
      .replaceAll(/^-+|-+$/g, '') || 'form';
  for (let count = 1; ; count += 1) {
    const file = `${base}${count === 1 ? '' : `-${count}`}.json`;
    if (!taken.has(file)) return file;
  }
}
