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

/** A submission as the visitor is told of it: its id is the receipt. */
export type Submitted = { id: string; completedAt: Date };

/**
 * Other answers came under the key before. What was sent now is not stored: the visitor may send it under a new key.
 * `earlier` is the submission that was taken.
 */
export class OtherAnswers extends ApiError {
  readonly earlier: Submitted;
  constructor(earlier: Submitted) {
    super('conflict', 'Other answers were submitted under this key before.');
    this.earlier = earlier;
  }
}

/** What was sent, under a key. */
export type KeyedRequest = {
  live: LiveForm;
  raw: unknown;
  files: AnswerFiles;
  reference: Readonly<Record<string, string>>;
  key?: string | undefined;
  /** The language in which the page spoke to the visitor: a receipt speaks it. */
  locale?: Locale | undefined;
  /** The one of the form's languages that they read, as a BCP-47 tag. */
  language?: string | undefined;
  /** What may still be done for the HTTP request that carries it; else it has that of one of its own. */
  work?: Work | undefined;
};

/** `none`: nothing was submitted under the key; `other`: other answers were; else the submission that this repeats. */
type Repeat =
  | { kind: 'none' }
  | { kind: 'other'; earlier: Submitted }
  | { kind: 'same'; earlier: Submitted; isHeld: boolean };

/**
 * Whether answers were submitted before: a double click, a reload, a retry after an answer that was lost. They are
 * compared as the version that was answered then reads them, since the form may have changed between the two.
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

/** Whether answers were submitted under a key, whichever. */
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
 * What two sendings of the same answers have in common. A file that is sent again is another row, but the same file, and
 * who agrees again agrees to the same, at another time.
 */
export function digestOf(answers: Answers, fields: Fields): Buffer {
  const consented = mapKind('consent', answers, fields, () => 'yes');
  const compared = mapFiles(consented, fields, (file) => ({ ...file, id: '' }));
  return createHash('sha256').update(JSON.stringify(compared)).digest();
}
