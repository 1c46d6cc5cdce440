import { type AnswersResult, checkAnswers } from '#ast/answers/check-answers.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { hasQuotas, lockQuotas, QuotaExceeded, updateQuotaUse } from './quotas.ts';
import { repeatEarlierResult } from './repeat.ts';
import { hasSubmitLimits, requireCapacity, runInFormOrder } from './response-limit.ts';
import { completeSavedAnswers } from './saved-answers.ts';
import { type Suspicion, storeSpam } from './spam.ts';
import {
  claimAllFiles,
  createEditLink,
  hasVisitorLink,
  insertRecord,
  prepareRecord,
  recordSubmissionCreated,
  type SubmissionRecord,
  sendsSubmissionEmails,
} from './submission-record.ts';
import type { AcceptedSubmission, SubmitRequest, SubmitResult, SubmitServices } from './submit-request.ts';
import { findUnverified } from './verified.ts';
import { admitAnswers, describeWait, idsOf } from './waiting-list.ts';

type Attempt = (
  context: SubmitServices,
  request: SubmitRequest,
  record: SubmissionRecord,
) => Promise<AcceptedSubmission | undefined>;

/**
 * The attempts to store valid answers. They run in this order until one returns an outcome. Each attempt is
 * one statement or one transaction. If the last one returns none, the form was deleted: 404.
 * | Attempt | Outcome | Returns no outcome if |
 * |---|---|---|
 * | store | `new` | the key is used, another version is live, or the form is deleted |
 * | completeSavedAnswers | `draft completed` | no answers were saved under the key |
 * | repeatEarlierAnswers | `repeat` | nothing was submitted under the key |
 * | store | `late version` | the key was used in the meantime, or the form is deleted |
 * | repeatEarlierAnswers | `repeat` | nothing was submitted in the meantime |
 *
 * Three things end the attempts: the form has reached its response limit (`full`, 410), a quota is used up
 * (422), or other answers were submitted under the key (409). With a waiting list, answers without a place
 * join it instead (`waiting`).
 */
const attempts: readonly Attempt[] = [
  (context, _, record) => store(context, record, 'new'),
  (context, _, record) => completeSavedAnswers(context, record),
  repeatEarlierAnswers,
  (context, _, record) => store(context, record, 'late version'),
  repeatEarlierAnswers,
];

/** The attempts for suspicious answers. They are stored in the spam box unless their key was used. */
const attemptsOfSpam = (suspicion: Suspicion): readonly Attempt[] => [
  repeatEarlierAnswers,
  (context, _, record) => storeSpam(context, record, suspicion),
  repeatEarlierAnswers,
];

/** Checks the answers of a submission, and that its addresses are verified. @throws TooMuchWork */
export function checkSubmission(request: SubmitRequest): AnswersResult {
  const { live, raw, files, reference, work, verified } = request;
  const rules = createEvaluationContext(live.settings, reference, work);
  const checked = checkAnswers(live.form, raw, files, rules, live.written);
  if (!checked.ok || !verified) return checked;
  const errors = findUnverified(live.form, checked.answers, verified);
  return errors.length > 0 ? { ok: false, errors } : checked;
}

/**
 * Accepts a completed submission: checks the answers, then writes the submission, its count, its search text,
 * its claim on the files and its events in one transaction (docs/rules.md 19: once this returns ok, no part
 * of it can be lost). With a key, a submission is created once, however often it is sent. The caller removes
 * the files of a submission that was refused or repeated.
 * @param suspicion why the answers look like spam.
 * @throws ApiError gone if the form has reached its response limit; not_found if it was deleted in the
 * meantime; conflict if a file was used in the meantime; DifferentAnswersError.
 */
export async function submitAnswers(
  context: SubmitServices,
  request: SubmitRequest,
  suspicion?: Suspicion,
): Promise<SubmitResult> {
  const checked = checkSubmission(request);
  // The form may have changed since the answers were accepted, and might refuse them now.
  if (!checked.ok) return (await repeatEarlierResult(context, request)) ?? checked;
  const record = prepareRecord(request, checked.answers);
  try {
    for (const attempt of suspicion ? attemptsOfSpam(suspicion) : attempts) {
      const accepted = await attempt(context, request, record);
      if (accepted) return accepted;
    }
  } catch (error) {
    if (error instanceof QuotaExceeded) return { ok: false, errors: error.problems };
    throw error;
  }
  throw new ApiError('not_found', 'There is no form at this address.');
}

function repeatEarlierAnswers(
  context: SubmitServices,
  request: SubmitRequest,
): Promise<AcceptedSubmission | undefined> {
  return repeatEarlierResult(context, request, { refuseOther: true });
}

/**
 * Stores a submission under the version that was answered. `new` requires that version to be live; without
 * files, webhooks, emails, limits and an edit link, one statement does it. `late version` allows any live
 * version, whose limits count.
 */
async function store(
  context: SubmitServices,
  record: SubmissionRecord,
  outcome: 'new' | 'late version',
): Promise<AcceptedSubmission | undefined> {
  const { live, key, id } = record;
  const isLate = outcome === 'late version';
  if (!isLate && isOneStatement(record)) {
    const isNew = await insertRecord(context.database, record, 'completed', live.version);
    return isNew ? { ok: true, outcome, submission: { id, completedAt: record.createdAt } } : undefined;
  }
  const stored = await runInFormOrder(live, () =>
    transaction(context.database, async (client) => {
      if (!(await requireCapacity(client, live, key))) return undefined;
      const limited = isLate
        ? await lockQuotas(client, { workspaceId: live.workspaceId, formId: live.id })
        : hasQuotas(live.form)
          ? live
          : undefined;
      const { status, at } = await admitAnswers(
        client,
        { ...live, limited },
        record.answers,
        record.createdAt,
      );
      const admitted = { ...record, createdAt: at };
      if (!(await insertRecord(client, admitted, status, isLate ? null : live.version))) return undefined;
      if (limited) await updateQuotaUse(client, limited, id);
      await claimAllFiles(client, record, record.fileIds);
      const link = await createEditLink(client, context.vault, record, status);
      const jobs = await recordSubmissionCreated(client, record, { status, at });
      return { completedAt: at, jobs, ...link, ...(await describeWait(client, idsOf(record), status)) };
    }),
  );
  if (!stored) return undefined;
  const { completedAt, jobs, ...more } = stored;
  if (jobs > 0) context.wakeQueue();
  return { ok: true, outcome, submission: { id, completedAt }, ...more };
}

/** Whether one statement stores the submission completely. */
const isOneStatement = ({ live, fileIds, opensSegment }: SubmissionRecord): boolean =>
  fileIds.length === 0 &&
  !live.hasListeners &&
  !sendsSubmissionEmails(live.settings) &&
  !hasSubmitLimits(live) &&
  !hasVisitorLink(live.settings) &&
  !opensSegment;
