import type { AnswerError, AnswerFiles } from '#ast/answers/check-answers.ts';
import type { Locale } from '#ast/basics/language-tags.ts';
import { isCleanText } from '#ast/basics/text.ts';
import type { WorkBudget } from '#ast/basics/work.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Vault } from '#kit/vault.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { VerifiedAddresses } from './verified.ts';

/** The dependencies of submitting. */
export type SubmitServices = { database: Database; vault: Vault; wakeQueue: () => void };

/**
 * What a visitor sent. Files are already received and stored, by HTML name. They belong to no submission yet,
 * or to the answers that were saved under the same key.
 */
export type SubmitRequest = {
  live: LiveForm;
  raw: unknown;
  files: AnswerFiles;
  reference: Readonly<Record<string, string>>;
  key?: string | undefined;
  /** The person who signed in to answer. */
  respondent?: Respondent | null | undefined;
  /** The language of the page's own texts, which a receipt uses. */
  locale?: Locale | undefined;
  /** The form language that the visitor read, as a BCP 47 tag. */
  language?: string | undefined;
  /** The addresses that the visitor verified. Undefined for callers who need no verification. */
  verified?: VerifiedAddresses | undefined;
  /** The remaining work budget of the HTTP request. By default, a new budget. */
  work?: WorkBudget | undefined;
};

/** A submission as the visitor sees it: its id is the receipt. */
export type SubmissionReceipt = { id: string; completedAt: Date };

/**
 * The outcome for valid answers (docs/decisions/0014). For `spam`, the visitor gets the response of `new`.
 */
type Outcome = 'new' | 'draft completed' | 'late version' | 'repeat' | 'spam';

/**
 * `editToken` is part of the URL under which the visitor can change or cancel the submission, if the form
 * allows that.
 */
export type AcceptedSubmission = {
  ok: true;
  outcome: Outcome;
  submission: SubmissionReceipt;
  editToken?: string;
  /** The position on the waiting list, counted from 1. */
  position?: number;
};

export type SubmitResult = AcceptedSubmission | { ok: false; errors: readonly AnswerError[] };

/**
 * Thrown if other answers were already submitted under the key. The new answers are not stored: the visitor
 * can send them under a new key. `earlier` is the submission under the key.
 */
export class DifferentAnswersError extends ApiError {
  readonly earlier: SubmissionReceipt;
  constructor(
    earlier: SubmissionReceipt,
    message = 'Different answers were already submitted with this idempotency key. Send these answers with a new key.',
  ) {
    super('conflict', message);
    this.earlier = earlier;
  }
}

/**
 * Rejects reference values that PostgreSQL cannot store; null stands for a removed value.
 * @throws ApiError validation_error, with the name of each invalid value.
 */
export function requireStorableReference(reference: Readonly<Record<string, string | null>>): void {
  const unclean = Object.entries(reference).filter(
    ([name, value]) => !isCleanText(name) || !isCleanText(value ?? ''),
  );
  if (unclean.length === 0) return;
  const message = 'Remove the characters that cannot be stored (NUL, unpaired surrogates).';
  const errors = unclean.map(([field]) => ({ field, message, code: 'not_storable' as const }));
  throw new ApiError('validation_error', message, { errors });
}
