import { itemCountProblem } from './check-rules.ts';
import { isOfType } from './file-types.ts';
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
