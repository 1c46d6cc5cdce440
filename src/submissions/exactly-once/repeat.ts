import { createHash } from 'node:crypto';
import { type AnswerFiles, type Answers, checkAnswers } from '#ast/answers/check-answers.ts';
import type { Locale } from '#ast/basics/locales.ts';
import type { Work } from '#ast/basics/work.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import { answerContext, findFormVersion, type LiveForm } from '#forms/live-form.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { mapFiles, mapKind } from '../present.ts';
import { findByKey } from '../submission-rows.ts';

/** A submission as visitors see it: its id is the receipt. */
export type Submitted = { id: string; completedAt: Date };

/**
 * The key already belongs to other answers. The new answers are not stored; the visitor can send them under a
 * new key. `earlier` is the stored submission.
 */
export class OtherAnswers extends ApiError {
  readonly earlier: Submitted;
  constructor(earlier: Submitted) {
    super('conflict', 'Other answers were already submitted under this key. Send these under a new key.');
    this.earlier = earlier;
  }
}

/** Answers sent under a key. */
export type KeyedRequest = {
  live: LiveForm;
  raw: unknown;
  files: AnswerFiles;
  reference: Readonly<Record<string, string>>;
  key?: string | undefined;
  /** The language of the page, which the receipt also uses. */
  locale?: Locale | undefined;
  /** The form language that the visitor read, as a BCP-47 tag. */
  language?: string | undefined;
  /** The remaining work budget of the HTTP request; without it, a new budget. */
  work?: Work | undefined;
};

/**
 * `none`: the key is unused; `other`: it belongs to other answers; `same`: this repeats the earlier
 * submission.
 */
type Repeat =
  | { kind: 'none' }
  | { kind: 'other'; earlier: Submitted }
  | { kind: 'same'; earlier: Submitted; isHeld: boolean };

/**
 * Finds an earlier submission of these answers: after a double click, a reload, or a retry after a lost
 * response. The answers are compared as the answered version reads them, because the form may have changed in
 * between.
 */
export async function findRepeat(db: Queryable, request: KeyedRequest): Promise<Repeat> {
  const { live, raw, files, reference, key, work } = request;
  if (key === undefined) return { kind: 'none' };
  const [found] = await findByKey(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  if (!found?.completed_at) return { kind: 'none' };
  const earlier = { id: found.id, completedAt: found.completed_at };
  const answered = await readVersion(db, live, found.version);
  const checked =
    answered && checkAnswers(answered.form, raw, files, answerContext(live.settings, reference, work));
  const isSame =
    checked?.ok &&
    found.key_digest !== null &&
    digestOf(checked.answers, answered!.fields).equals(found.key_digest);
  return isSame ? { kind: 'same', earlier, isHeld: found.is_held } : { kind: 'other', earlier };
}

/** Whether any answers were submitted under a key. */
export async function isSent(db: Queryable, live: LiveForm, key: string): Promise<boolean> {
  const [found] = await findByKey(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  return found?.completed_at != null;
}

type Fields = Readonly<Record<string, FieldDescription>>;

async function readVersion(
  db: Queryable,
  live: LiveForm,
  version: number,
): Promise<{ form: Form; fields: Fields } | undefined> {
  if (version === live.version) return live;
  const [row] = await findFormVersion(db, { workspace_id: live.workspaceId, form_id: live.id, version });
  return row && { form: effectiveForm(row.structure), fields: row.fields as Fields };
}

/**
 * Returns a digest that is equal if the answers are sent again. It ignores the ids of files, because a
 * repeated upload has another row, and the time of a consent.
 */
export function digestOf(answers: Answers, fields: Fields): Buffer {
  const consented = mapKind('consent', answers, fields, () => 'yes');
  const compared = mapFiles(consented, fields, (file) => ({ ...file, id: '' }));
  return createHash('sha256').update(JSON.stringify(compared)).digest();
}
