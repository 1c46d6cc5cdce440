import type { AnswerError, AnswerFiles } from '#ast/answers/check-answers.ts';
import type { Locale } from '#ast/basics/locales.ts';
import type { Work } from '#ast/basics/work.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Vault } from '#kit/vault.ts';

/** The dependencies of submitting. */
export type SubmitContext = { database: Database; vault: Vault; wakeQueue: () => void };

/**
 * What a visitor sent. Files are received and stored already, by their HTML name; they belong to no submission yet, or to the
 * answers that were saved under the same key.
 */
export type SubmitRequest = {
  live: LiveForm;
  raw: unknown;
  files: AnswerFiles;
  reference: Readonly<Record<string, string>>;
  key?: string | undefined;
  /** The language of the page itself: a receipt uses it. */
  locale?: Locale | undefined;
  /** The one of the form's languages that the visitor read, as a BCP-47 tag. */
  language?: string | undefined;
  /** The remaining work budget of the HTTP request. By default, a new budget. */
  work?: Work | undefined;
};

/** A submission as the visitor sees it: its id is the receipt. */
export type Submitted = { id: string; completedAt: Date };

/** The outcome of valid answers (docs/decisions/0014). The visitor of `spam` gets the response of `new`. */
type Outcome = 'new' | 'draft completed' | 'late version' | 'repeat' | 'spam';

/** `editToken`: for the address under which the visitor may change the submission, if the form allows that. */
export type Accepted = { ok: true; outcome: Outcome; submission: Submitted; editToken?: string };

export type SubmitResult = Accepted | { ok: false; errors: readonly AnswerError[] };

/**
 * Other answers were submitted under the key before. These are not stored: the visitor may send them under a new key.
 * `earlier` is the submission under the key.
 */
export class DifferentAnswersError extends ApiError {
  readonly earlier: Submitted;
  constructor(earlier: Submitted) {
    super(
      'conflict',
      'Different answers were already submitted with this idempotency key. Send these answers with a new key.',
    );
    this.earlier = earlier;
  }
}
