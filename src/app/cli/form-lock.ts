import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { isRecord } from '#ast/json.ts';
import { compileCheck } from '#kit/validation.ts';
import { UsageError } from './values.ts';

/**
 * The file beside the forms that says what each was on the service at the last pull or apply, so that a plan can tell a change
 * made on the service from one made in the folder. It belongs in git, like the forms.
 */
export const lockName = 'formloom.lock.json';

/** The SHA-256 of each form as the service had it, by its id: an id is of one service alone. */
export type FormLock = Map<string, string>;

const check = compileCheck(Type.Object({ forms: Type.Record(Type.String(), Type.String()) }));

/** @throws UsageError for a lock file that is damaged. */
export async function readFormLock(folder: string): Promise<FormLock> {
  const path = join(folder, lockName);
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
    // The check refuses it.
    return undefined;
  }
}

/** Writes the lock, sorted by id so that git shows what changed. */
export async function writeFormLock(folder: string, lock: FormLock): Promise<void> {
  const forms = Object.fromEntries([...lock].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  await writeFile(join(folder, lockName), `${JSON.stringify({ forms }, null, 2)}\n`);
}

/** Returns the hash of a form, whatever the order of its keys. */
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
