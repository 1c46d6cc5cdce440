import { formLimits } from '../basics/limits.ts';
import { itemCountProblem } from './check-rules.ts';
import type { BrokenRule } from './problem.ts';

/** An uploaded file as an answer stores it. Its signed URL is made at each read (docs/rules.md 10). */
export type FileAnswer = {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
};

/** What rules check about a file, including a selected file that is not uploaded yet. */
export type FileFacts = Omit<FileAnswer, 'id'>;

export type FileRules = {
  readonly accept?: readonly string[];
  readonly max_file_size?: number;
  readonly min_files?: number;
  readonly max_files?: number;
};

/** Returns the first rule that the files of an input break. Each file is checked before their number. */
export function filesProblem(attrs: object, files: readonly FileFacts[]): BrokenRule | undefined {
  const { accept, max_file_size: size, min_files: least, max_files: most }: FileRules = attrs;
  for (const file of files) {
    if (accept && !isOfType(file, accept))
      return { rule: 'accept', values: { file: file.filename, types: accept.join(', ') } };
    if (size !== undefined && file.size > size)
      return { rule: 'max_file_size', values: { file: file.filename, limit: size } };
  }
  return itemCountProblem(files.length, least, most, { least: 'min_files', most: 'max_files' });
}

/** A file name extension (`.pdf`), a type (`application/pdf`) or a family of types (`image/*`). */
const fileType = /^(?:\.[a-z0-9][a-z0-9._+-]{0,31}|[a-z]+\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126}))$/i;

/** Returns whether the file has one of the types, by its extension or content type (as in HTML). */
export function isOfType(
  file: { readonly filename: string; readonly content_type: string },
  types: readonly string[],
): boolean {
  const name = file.filename.toLowerCase();
  const [contentType = ''] = file.content_type.toLowerCase().split(';');
  return types.some((type) => {
    const wanted = type.toLowerCase();
    if (wanted.startsWith('.')) return name.endsWith(wanted);
    return wanted.endsWith('/*')
      ? contentType.startsWith(wanted.slice(0, -1))
      : contentType.trim() === wanted;
  });
}

/** Returns what is wrong with a list of types, as the end of a sentence about the attribute. */
export function fileTypesProblem(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= formLimits.fileTypes;
  return isList && value.every((type) => typeof type === 'string' && fileType.test(type))
    ? undefined
    : `must be a list of 1 to ${formLimits.fileTypes} types like ".pdf", "image/*" or "application/pdf"`;
}
