import { isDeepStrictEqual } from 'node:util';
import type { Answers } from '#ast/answers/check-answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { enqueuePromotion } from '#forms/enqueue-promotion.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { normalizeLabels } from '#forms/labels.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { newId, now } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import {
  columns,
  json,
  jsonb,
  nullable,
  type Queryable,
  requireRow,
  statement,
  textEnum,
} from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { stageIdSql } from '#workspaces/stages.ts';
import { createChangeEvent, type FormKey } from '../change-event.ts';
import { buildSearchData } from '../columns.ts';
import { type ChangedBy, findDifferences, toChangedBy } from '../differences.ts';
import {
  type ArrivedFile,
  checkEditedAnswers,
  checkVisitorAnswers,
  findUploadedFiles,
  listFiles,
  withResultsOf,
} from '../edited-answers.ts';
import { insertChange } from '../history.ts';
import { lockQuotas, type QuotaForm, updateQuotaUse } from '../quotas.ts';
import {
  claimAllFiles,
  createEditLink,
  documentColumns,
  enqueueCompletionEmails,
  releaseFiles,
  searchTermsSql,
  sendsSubmissionEmails,
} from '../submission-record.ts';
import { moveSubmissionCount, type SubmissionStatus } from '../submission-rows.ts';
import { requireStorableReference, type SubmitServices } from '../submit-request.ts';
import { keepVerified, type VerifiedAddresses } from '../verified.ts';
import { type Assignment, notifyAssignee, requireAssignable } from './assign.ts';

export type ReferenceData = Record<string, string>;

/** The columns of a submission that its event needs. */
export const snapshotColumns = columns('id completed_at? form_name updated_at', {
  status: textEnum<SubmissionStatus>(),
  answers: json<Answers>(),
  reference: json<ReferenceData>(),
  respondent: nullable(json<Respondent>()),
  fields: json<Record<string, FieldDescription>>(),
});

export const snapshotSelection = `s.id, s.status, s.completed_at, s.answers, s.reference, s.respondent, v.fields, v.name as form_name, s.updated_at`;

export const versionJoin = `join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version`;

/**
 * Locks a submission for a change until the transaction ends, and selects it with the version that was
 * answered.
 */
export const lockSubmission = statement('workspace_id form_id id', [
  'tags language? version stage_id:text assignee_id:text?',
  {
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
    verified: nullable(json<VerifiedAddresses>()),
  },
  snapshotColumns,
])`
  select ${snapshotSelection}, s.tags, s.language, s.version, s.verified, v.structure, f.settings,
    ${stageIdSql('s')} as stage_id, s.assignee_id
  from submissions s
  ${versionJoin}
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $id and s.trashed_at is null and f.deleted_at is null
  for update of s`;

/** Writes a changed submission and its search document. A null `stage_id` keeps the stored one. */
const updateSubmission = statement(
  [
    'workspace_id form_id id answers:jsonText reference:jsonText has_files tags completed_at?',
    'updated_at stage_id:text? assignee_id:text? verified:jsonText?',
    documentColumns,
    { status: textEnum<SubmissionStatus>() },
  ],
  '',
)`
  with submission as (
    update submissions
    set status = $status, answers = $answers, reference = $reference, has_files = $has_files, tags = $tags,
        completed_at = $completed_at, updated_at = $updated_at, verified = $verified,
        stage_id = coalesce($stage_id, stage_id), assignee_id = $assignee_id
    where workspace_id = $workspace_id and form_id = $form_id and id = $id
    returning status, tags)
  update search_documents set terms = ${searchTermsSql} from submission
  where workspace_id = $workspace_id and submission_id = $id`;

export type ChangeServices = { database: Database; wakeQueue: () => void };

/**
 * The submission to change, the actor, and the state that the actor saw, so that two editors do not overwrite
 * each other. `by` is null for a visitor with the edit link.
 */
export type ChangeTarget = FormKey & { id: string; by: Actor | null; unchanged: IfMatchTimes };

/** The changes as a merge patch (RFC 7396): omitted properties stay unchanged, and null removes a value. */
export type SubmissionPatch = {
  /** Answers as JSON, with files by id (see edited-answers.ts). */
  answers?: Readonly<Record<string, unknown>>;
  reference?: Readonly<Record<string, string | null>>;
  status?: SubmissionStatus;
  /** The complete list of tags. */
  tags?: readonly string[];
} & Assignment;

/**
 * Changes a submission. Its answers are checked against the version that was answered. To become completed,
 * it must answer every required question. The time of the first completion stays, even if the submission
 * becomes incomplete again (docs/rules.md 4). Tags, stage and assignee are internal to the workspace, and
 * events do not contain them.
 * @returns the questions whose answers are kept although other answers hide them.
 * @throws ApiError not_found, precondition_failed, validation_error with the `field` of each problem.
 */
export async function changeSubmission(
  context: SubmitServices,
  target: ChangeTarget,
  patch: SubmissionPatch,
): Promise<{ unasked: string[] }> {
  const tags = patch.tags && normalizeLabels(patch.tags, 'tag');
  const arrived = await findUploadedFiles(context.database, target, patch.answers);
  let unasked: string[] = [];
  await applyChange(context, target, async (current, client) => {
    await requireAssignable(client, target.workspaceId, patch);
    const { status = current.status } = patch;
    const { stage_id = current.stage_id, assignee_id = current.assignee_id } = patch;
    const next = { ...withStatus(current, status), tags: tags ?? current.tags, stage_id, assignee_id };
    if (patch.reference) next.reference = patchReference(current.reference, patch.reference);
    const checked = checkChanged(current, next, patch.answers, arrived);
    if (checked) {
      next.answers = checked.answers;
      unasked = checked.unasked;
    }
    return next;
  });
  return { unasked };
}

const withStatus = (current: Current, status: SubmissionStatus): Current => ({
  ...current,
  status,
  completed_at: current.completed_at ?? (status === 'incomplete' ? null : now()),
});

/**
 * Sets the status of one submission in a bulk change, in the caller's transaction, like changeSubmission.
 * @returns the number of new deliveries. @throws ApiError not_found, validation_error, or the errors of
 * `change`.
 */
export const setSubmissionStatus = (
  db: Queryable,
  vault: Vault,
  changing: Changing,
  status: SubmissionStatus,
): Promise<number> =>
  applyChangeWithin(db, vault, changing, (current) => {
    const next = withStatus(current, status);
    const checked = checkChanged(current, next, undefined, []);
    return checked ? { ...next, answers: checked.answers } : next;
  });

/** Returns the answers to store; undefined if the stored answers stay unchanged. */
function checkChanged(
  { structure, settings, answers: stored, status: before }: Current,
  { status, reference }: Current,
  answers: SubmissionPatch['answers'],
  arrived: readonly ArrivedFile[],
): { answers: Answers; unasked: string[] } | undefined {
  const edit = { stored, status, context: createEvaluationContext(settings, reference) };
  if (answers) {
    const checked = checkEditedAnswers(structure, { ...edit, arrived, raw: mergePatch(stored, answers) });
    if (!checked.ok) throw invalid('The answers are not valid.', checked.errors);
    return checked;
  }
  // Submitted answers were valid, even if rules about the current day now refuse them.
  if (status === 'incomplete' || before !== 'incomplete') return undefined;
  const checked = checkVisitorAnswers(structure, { ...edit, raw: stored });
  if (!checked.ok)
    throw invalid(
      'The submission cannot be completed because its answers are not valid. Correct them first.',
      checked.errors,
    );
  return { answers: withResultsOf(structure, stored, checked.answers), unasked: [] };
}

/** The maximum number of reference values; a URL cannot have more. */
const mostReferences = 200;

function patchReference(
  stored: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> {
  requireStorableReference(patch);
  const reference = mergePatch(stored, patch) as Record<string, string>;
  if (Object.keys(reference).length > mostReferences) {
    const crowded = `A submission can have at most ${mostReferences} reference values.`;
    throw invalid(crowded, [{ field: 'reference', message: crowded, code: 'too_many' }]);
  }
  return reference;
}

/** Merges as in RFC 7396: replaces values that are not objects, and merges the rows of a matrix. */
const mergePatch = (stored: AnyRecord, patch: AnyRecord): Record<string, unknown> =>
  merged(
    stored,
    Object.fromEntries(
      Object.entries(patch).map(([name, value]) => {
        const before = getProperty(stored, name);
        return [name, isRecord(before) && isRecord(value) ? merged(before, value) : value];
      }),
    ),
  );

type AnyRecord = Readonly<Record<string, unknown>>;

const merged = (stored: AnyRecord, patch: AnyRecord): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...stored, ...patch }).filter(([, value]) => value !== null));

const invalid = (message: string, errors: readonly ErrorItem[]) =>
  new ApiError('validation_error', message, { errors });

type Current = Awaited<ReturnType<typeof lockSubmission>>[number];
/** Returns the changed submission, in the transaction that has locked it. */
type Apply = (current: Current, client: Queryable) => Current | Promise<Current>;

/**
 * Changes a submission; every change goes through this function. In one transaction, the submission is
 * locked, compared with what its editor saw, and written with its search text, counts, files and event. If
 * nothing differs, nothing is written and no event is recorded.
 * @throws QuotaExceeded if other submissions have used up the quota of an answer.
 */
export async function applyChange(
  context: SubmitServices,
  target: ChangeTarget,
  apply: Apply,
): Promise<void> {
  const deliveries = await transaction(context.database, async (client) => {
    const limited = await lockQuotas(client, target);
    return applyChangeWithin(
      client,
      context.vault,
      { ...target, by: toChangedBy(target.by), limited },
      apply,
    );
  });
  if (deliveries > 0) context.wakeQueue();
}

/** A submission to change in a transaction that has acquired the form lock. */
type Changing = FormKey & {
  id: string;
  by: ChangedBy;
  unchanged?: IfMatchTimes;
  limited: QuotaForm | undefined;
};

async function applyChangeWithin(
  db: Queryable,
  vault: Vault,
  changing: Changing,
  apply: Apply,
): Promise<number> {
  const { workspaceId, formId, id, unchanged, limited } = changing;
  const before = requireRow(await lockSubmission(db, { workspace_id: workspaceId, form_id: formId, id }));
  requireUnchanged(unchanged, before.updated_at);
  const applied = await apply(before, db);
  const stamp = { version: before.version, at: now() };
  const answers = stampConsents(before.structure, applied.answers, stamp, before.answers);
  const verified = keepVerified(applied, before);
  const after = { ...applied, answers, verified };
  if (isDeepStrictEqual(after, before)) return 0;
  await write(db, changing, before, after);
  if (limited) await updateQuotaUse(db, limited, id);
  if (after.assignee_id !== null && after.assignee_id !== before.assignee_id)
    await notifyAssignee(db, changing, after.assignee_id, { by: changing.by, submissionId: id });
  const { tags, stage_id, assignee_id } = before;
  if (isDeepStrictEqual({ ...after, tags, stage_id, assignee_id }, before)) return 0;
  return recordChangeEvent(db, vault, changing, before, after);
}

async function write(db: Queryable, target: Changing, before: Current, after: Current): Promise<void> {
  const key = { workspace_id: target.workspaceId, form_id: target.formId };
  const { structure, answers, reference, settings, tags } = after;
  const files = listFiles(structure, answers).map((file) => file.id);
  // Always later than the previous time, even within a millisecond, because editors compare the times.
  const changedAt = new Date(Math.max(now().getTime(), before.updated_at.getTime() + 1));
  await updateSubmission(db, {
    ...key,
    id: after.id,
    status: after.status,
    answers: JSON.stringify(answers),
    reference: JSON.stringify(reference),
    has_files: files.length > 0,
    tags,
    completed_at: after.completed_at,
    updated_at: changedAt,
    stage_id: after.stage_id === before.stage_id ? null : after.stage_id,
    assignee_id: after.assignee_id,
    verified: after.verified && JSON.stringify(after.verified),
    ...buildSearchData(structure, settings, after),
  });
  await insertChange(db, {
    workspace_id: target.workspaceId,
    submission_id: after.id,
    id: newId(),
    kind: 'edited',
    ...target.by,
    changed_at: changedAt,
    changes: JSON.stringify(findDifferences(before, after)),
  });
  await changeFiles(
    db,
    target,
    listFiles(structure, before.answers).map((file) => file.id),
    files,
  );
  if (before.status !== after.status)
    await moveSubmissionCount(db, key, { from: before.status, to: after.status });
  // Other answers may free an option, or fit one that is free.
  else if (target.limited) await enqueuePromotion(db, key);
}

/** Claims new files, and releases removed ones. */
async function changeFiles(
  db: Queryable,
  { workspaceId, formId, id }: FormKey & { id: string },
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const added = after.filter((file) => !before.includes(file));
  if (added.length > 0) {
    const live = { workspaceId, id: formId };
    await claimAllFiles(db, { live, id }, added);
  }
  if (before.some((file) => !after.includes(file)))
    await releaseFiles(db, { workspace_id: workspaceId, submission_id: id, kept: [...after] });
}

/**
 * Records `submission.created` for the first completion, `submission.updated` after that, and no event before
 * it (docs/rules.md 4). Like submitting, the first completion also sends emails and enables the edit link of
 * the receipt.
 */
async function recordChangeEvent(
  db: Queryable,
  vault: Vault,
  { workspaceId, formId }: FormKey,
  before: Current,
  after: Current,
): Promise<number> {
  if (after.completed_at === null) return 0;
  const isFirst = before.completed_at === null;
  const kind = isFirst ? 'submission.created' : 'submission.updated';
  const deliveries = await recordEvent(db, {
    workspaceId,
    formId,
    ...createChangeEvent(kind, { workspaceId, formId }, after),
  });
  const getsPlace = before.status === 'waiting' && after.status === 'completed';
  if (getsPlace && sendsSubmissionEmails(after.settings))
    await enqueueEmailEvent(db, workspaceId, { kind: 'submission_promoted', submissionId: after.id });
  const completed = { live: { workspaceId, id: formId, settings: after.settings }, id: after.id };
  if (isFirst || getsPlace) await createEditLink(db, vault, completed, after.status);
  if (!isFirst) return deliveries;
  return deliveries + (await enqueueCompletionEmails(db, completed));
}
