import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { findInput, indexQuestionsById, parseGroupFieldName } from '#ast/form/fields.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { findCarriedFiles } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import { signLink, type Vault, verifyLink } from '#kit/vault.ts';
import type { FieldMessage } from '../render/view.ts';
import type { Words } from '../words/words.ts';

/**
 * Files that a page keeps between two posts, for example when the visitor adds a row before submitting. A
 * plain page cannot put a file back into its input. The token names the file and is signed for this form and
 * question.
 */
export type KeptFiles = {
  token(live: Pick<LiveForm, 'workspaceId' | 'id'>, fieldName: string, fileId: string): string;
  /** Returns whether a token is ours, for a file of this form and question. */
  verify(live: Pick<LiveForm, 'workspaceId' | 'id'>, fieldName: string, token: string): boolean;
  /**
   * Finds the files of the tokens in the page's controls, except files that the visitor removed.
   * @param owner the key of the saved answers that the page continues, or the submission that it edits.
   */
  read(
    live: LiveForm,
    controls: readonly (readonly [string, string])[],
    owner?: { key?: string | undefined; submissionId?: string | undefined },
  ): Promise<FoundKeptFiles>;
};

/** Kept files by HTML name, and the names whose files are gone: already submitted, or deleted after a day. */
type FoundKeptFiles = { files: ReadonlyMap<string, readonly FileAnswer[]>; lost: readonly string[] };

/** A row's number may change between posts, so a token is signed for the question, not the row. */
const questionOf = (fieldName: string): string => parseGroupFieldName(fieldName)?.id ?? fieldName;

export function openKeptFiles({ database, vault }: { database: Database; vault: Vault }): KeptFiles {
  const targetOf = ({ workspaceId, id }: Pick<LiveForm, 'workspaceId' | 'id'>, fileId: string) => ({
    workspaceId,
    formId: id,
    id: fileId,
  });
  const verify: KeptFiles['verify'] = (live, fieldName, token) => {
    const [fileId = '', signature = ''] = token.split('.');
    return verifyLink(vault, 'held uploads', signature, targetOf(live, fileId), questionOf(fieldName));
  };
  return {
    verify,
    token: (live, fieldName, fileId) =>
      `${fileId}.${signLink(vault, 'held uploads', targetOf(live, fileId), questionOf(fieldName))}`,

    async read(live, controls, owner = {}) {
      const dropped = new Set(controls.filter(([name]) => name === '_drop').map(([, token]) => token));
      const fieldByFile = new Map<string, string>();
      // Without a problem, the submission would silently lack a file whose token is of another question or key.
      const lost = new Set<string>();
      for (const [name, token] of controls) {
        const [, fieldName] = /^_file\[(.+)\]$/.exec(name) ?? [];
        if (!fieldName || token === '' || dropped.has(token)) continue;
        if (verify(live, fieldName, token)) fieldByFile.set(token.split('.')[0]!, fieldName);
        else lost.add(fieldName);
      }
      const files = new Map<string, FileAnswer[]>();
      if (fieldByFile.size === 0) return { files, lost: [...lost] };
      const found = await findCarriedFiles(database, {
        workspace_id: live.workspaceId,
        form_id: live.id,
        ids: [...fieldByFile.keys()],
        key: owner.key ?? null,
        submission_id: owner.submissionId ?? null,
      });
      for (const { id, filename, size, content_type } of found) {
        const fieldName = fieldByFile.get(id)!;
        files.set(fieldName, [...(files.get(fieldName) ?? []), { id, filename, size, content_type }]);
        fieldByFile.delete(id);
      }
      return { files, lost: [...lost.union(new Set(fieldByFile.values()))] };
    },
  };
}

/**
 * Joins all files of a post by HTML name, kept files before new ones, and returns their problems. In a field
 * for one file, the new file replaces the kept one.
 */
export function joinFiles(
  form: Form,
  { files: keptFiles, lost }: FoundKeptFiles,
  received: ReadonlyMap<string, readonly FileAnswer[]>,
  words: Words,
): { files: Map<string, readonly FileAnswer[]>; problems: FieldMessage[] } {
  const questions = indexQuestionsById(listQuestions(form));
  const isReplaced = (name: string): boolean => {
    const { input } = findInput(questions, name) ?? {};
    const { files }: Partial<InputRules> = input ? inputRules[input.type] : {};
    return (
      files?.max_files === 1 ||
      (input !== undefined && 'max_files' in input.attrs && input.attrs.max_files === 1)
    );
  };
  const names = new Set([...keptFiles.keys(), ...received.keys()]);
  const files = new Map(
    [...names].map((name) => {
      const added = received.get(name) ?? [];
      const previous = added.length > 0 && isReplaced(name) ? [] : (keptFiles.get(name) ?? []);
      return [name, [...previous, ...added]];
    }),
  );
  const crowded = [...names].filter((name) => files.get(name)!.length > formLimits.files);
  const limit = formLimits.files;
  return {
    files,
    problems: [
      ...lost.map((field) => ({ field, message: words.fileLost })),
      ...crowded.map((field) => ({ field, message: fillTemplate(words.filesCrowded, { limit }) })),
    ],
  };
}
