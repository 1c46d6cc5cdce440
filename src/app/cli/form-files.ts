import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '#ast/json.ts';
import { lockName } from './form-lock.ts';
import { UsageError } from './values.ts';
import type { FormStatus } from '#forms/form-rows.ts';
import { formStatuses } from '#forms/live-form.ts';

/** A form as a file has it: JSON as `forms pull` writes it, or a module whose default is what defineForm made. */
export type FormFile = {
  file: string;
  /** Of the form that it is; without it, the one of this name. */
  id?: string;
  /** Left out: as it is; a new form is a draft. */
  status?: FormStatus;
  structure: object;
  /** Left out: as they are. */
  settings?: object;
};

const formFile = /^[^.].*(?<!\.d)\.(json|[mc]?[jt]s)$/;

const folderProblems: Readonly<Record<string, string>> = {
  ENOENT: 'Folder not found',
  ENOTDIR: 'Not a folder',
  EACCES: 'No permission to read the folder',
};

/**
 * Reads the forms of a folder, sorted by file name. A module is run.
 * @throws UsageError for a folder that cannot be read, and for a file that is not a form.
 */
export async function readFormFiles(folder: string): Promise<FormFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${folderProblems[cause.code ?? ''] ?? cause.message}: ${folder}.`, { cause });
  });
  const names = entries
    .filter((entry) => entry.isFile() && formFile.test(entry.name) && entry.name !== lockName)
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
      {
        cause,
      },
    );
  }
}

const known = ['id', 'status', 'structure', 'settings'];

function formIn(file: string, found: unknown): FormFile {
  const refuse = (what: string): UsageError => new UsageError(`${file} ${what}`);
  if (!isRecord(found) || !isRecord(found['structure']))
    throw refuse('is no form: it takes "structure", or a default export that defineForm made.');
  const strange = Object.keys(found).find((name) => !known.includes(name));
  if (strange !== undefined) throw refuse(`has "${strange}", and takes ${known.join(', ')}.`);
  const { id, status, structure, settings } = found;
  if (id !== undefined && typeof id !== 'string') throw refuse('has an "id" that is no text.');
  const isStatus = (word: unknown): word is FormStatus => formStatuses.some((each) => each === word);
  if (status !== undefined && !isStatus(status))
    throw refuse(`has a "status" that is none of ${formStatuses.join(', ')}.`);
  if (settings !== undefined && !isRecord(settings)) throw refuse('has "settings" that are no object.');
  return {
    file,
    ...(id !== undefined && { id: id.toLowerCase() }),
    ...(status !== undefined && { status }),
    structure,
    ...(settings !== undefined && { settings }),
  };
}

/** Writes a form as JSON, unless the file says the same already. @returns whether it was written. */
export async function writeFormFile(folder: string, { file, ...form }: FormFile): Promise<boolean> {
  const path = join(folder, file);
  const text = `${JSON.stringify(form, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(path, text);
  return true;
}

/** The name of a new file: the form's own, without what is none of a file. */
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
