import type { FileAnswer } from '#ast/answers.ts';
import { parseRowName } from '#ast/fields.ts';
import { findHeldFiles } from '#files/queries.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';

/**
 * Files that a page holds between two posts, because the visitor added a row and did not submit yet: a plain page
 * cannot put a file back into its input. The token names the file, and is signed for this form and this question.
 */
export type HeldFiles = {
  token(formId: string, fieldName: string, fileId: string): string;
  /** The files that the tokens among the page's controls stand for, by HTML name; dropped ones left out. */
  read(live: LiveForm, controls: readonly (readonly [string, string])[]): Promise<Map<string, FileAnswer[]>>;
};

/** A row's number may change between posts, so a token is bound to the question and not to the row. */
const questionOf = (fieldName: string): string => parseRowName(fieldName)?.id ?? fieldName;

export function openHeldFiles({ database, vault }: { database: Database; vault: Vault }): HeldFiles {
  const signed = (formId: string, fieldName: string, fileId: string) =>
    `${formId}/${questionOf(fieldName)}/${fileId}`;
  return {
    token: (formId, fieldName, fileId) =>
      `${fileId}.${vault.sign('held uploads', signed(formId, fieldName, fileId))}`,

    async read(live, controls) {
      const dropped = new Set(controls.filter(([name]) => name === '_drop').map(([, token]) => token));
      const fieldByFile = new Map<string, string>();
      for (const [name, token] of controls) {
        const [, fieldName] = /^_file\[(.+)\]$/.exec(name) ?? [];
        const [fileId, signature] = token.split('.');
        if (!fieldName || !fileId || !signature || dropped.has(token)) continue;
        if (vault.verify('held uploads', signed(live.id, fieldName, fileId), signature))
          fieldByFile.set(fileId, fieldName);
      }
      const held = new Map<string, FileAnswer[]>();
      if (fieldByFile.size === 0) return held;
      const found = await findHeldFiles(database, {
        workspace_id: live.workspaceId,
        form_id: live.id,
        ids: [...fieldByFile.keys()],
      });
      for (const { id, filename, size, content_type } of found) {
        const fieldName = fieldByFile.get(id)!;
        held.set(fieldName, [...(held.get(fieldName) ?? []), { id, filename, size, content_type }]);
      }
      return held;
    },
  };
}
