import type { AnswerRow, Answers, AnswerValue } from '#ast/answers/check-answers.ts';
import { checkAnswer } from '#ast/answers/check-input.ts';
import { answerLimits } from '#ast/basics/limits.ts';
import { createWorkBudget, TooMuchWork, type WorkBudget } from '#ast/basics/work.ts';
import { describeFields, type FieldDescription } from '#ast/form/describe.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import { answerKindOf, type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';
import { type EvaluationContext, evaluateVisibility } from '#ast/logic/evaluate.ts';
import { findForm } from '#forms/form-rows.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { currentTrace } from '#kit/log.ts';
import { json, nullable, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { enforceRateLimit } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { laneOf } from './delivery-job.ts';
import { type EventKind, type Snapshot, snapshotOf } from './event.ts';
import { insertEvents, lockWebhook } from './record-event.ts';
import { throwWebhookProblems, urlProblems } from './webhook-problems.ts';

/** Sample answers, and the reference data of a form that was opened with `?test=true`. */
type SampleSubmission = { answers: Answers; reference: Record<string, string> };

/**
 * Returns a sample submission of a form, for testing a webhook. Every visible question has an answer, and a
 * repeatable group has one row. The form would accept the answers, except for patterns that match none of a
 * few common texts or need too much work. During one day, the sample of a form does not change.
 * @param today YYYY-MM-DD, for limits such as `today+7`.
 */
export function sampleSubmission(form: Form, today = '2026-01-31'): SampleSubmission {
  const answers: Answers = {};
  const reference = { test: 'true' };
  const trial: Trial = { today, work: { left: sampleSteps, kept: new Set() } };
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (question.kind === 'input') answers[id] = sampleAnswer(question.element, trial);
    else if (question.inputs.length > 0) answers[id] = [sampleRow(question.inputs, trial)];
  }
  hideUnasked(form, answers, { reference, today, work: createWorkBudget() });
  return { answers, reference };
}

/** Removes the answers to questions that conditions hide, because no visitor can answer them. */
function hideUnasked(form: Form, answers: Answers, context: EvaluationContext): void {
  const shown = evaluateVisibility(form, answers, context);
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (!shown.isShown(question.element)) delete answers[id];
    else if (question.kind === 'group' && question.inputs.length > 0) {
      const [cells] = answers[id] as AnswerRow[];
      const hidden = question.inputs.filter(
        (input) => !shown.isShown(input, { group: question.element, index: 0 }),
      );
      for (const { attrs } of hidden) delete cells![attrs.id];
    }
  }
}

const sampleRow = (inputs: readonly InputElement[], trial: Trial): AnswerRow =>
  Object.fromEntries(inputs.map((input) => [input.attrs.id, sampleAnswer(input, trial)]));

/**
 * The context in which sample answers are checked. One budget covers the whole sample: a quarter of the
 * budget of a visitor's answers.
 */
type Trial = { readonly today: string; readonly work: WorkBudget };
const sampleSteps = answerLimits.workSteps / 4;

/** Returns the first sample that the input accepts, or the first one if it accepts none. */
function sampleAnswer(input: InputElement, trial: Trial): AnswerValue {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const suggest = elementDefinitions[input.type].samples as (
    attrs: InputElement['attrs'],
    today: string,
  ) => AnswerValue[];
  const suggestions = suggest(input.attrs, trial.today);
  if (answerKindOf(input) === 'files') return suggestions[0]!;
  return suggestions.find((value) => isValidAnswer(input, value, trial)) ?? suggestions[0]!;
}

function isValidAnswer(input: InputElement, value: AnswerValue, trial: Trial): boolean {
  // Stops when the budget is used up: otherwise the errors of a thousand patterns would be most of the work.
  if (trial.work.left <= 0) return false;
  try {
    return checkAnswer(input, value, trial).ok;
  } catch (error) {
    if (error instanceof TooMuchWork) return false;
    throw error;
  }
}

type SendTestContext = {
  database: Database;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};

type TestOf = {
  workspaceId: string;
  /** The form of the sample or of the submissions. */
  formId: string;
  webhookId: string;
  kind: EventKind;
  /** The URL to test instead of the webhook's. The webhook's custom headers are not sent to it. */
  url?: string | undefined;
};

/**
 * The number of tests that a workspace can send per minute: enough to try things out, but too few to scan a
 * network (docs/rules.md T10).
 */
const testsPerMinute = 30;
const tooManyTests = `A workspace can send at most ${testsPerMinute} tests per minute. Wait a minute.`;

/**
 * Sends a sample of the form's live version to a webhook, even if it is paused. The sample goes through the
 * same queue, checks, signature, request and log as every delivery. It is one request, is never retried, and
 * does not count as a delivery.
 * @returns the id of the delivery in the log, which will show the outcome.
 * @throws ApiError not_found; rate_limit_exceeded; validation_error if webhooks cannot use the URL.
 */
export async function sendSampleTest(
  context: SendTestContext,
  test: TestOf,
): Promise<{ deliveryId: string }> {
  const [deliveryId] = await sendAll(context, test, 1, async (client) => [await readSample(client, test)]);
  return { deliveryId: deliveryId! };
}

/** Returns a sample of the live version of a form. @throws ApiError not_found. */
export async function readSample(
  db: Queryable,
  { workspaceId, formId }: Pick<TestOf, 'workspaceId' | 'formId'>,
): Promise<Snapshot> {
  const form = requireRow(await findForm(db, { workspace_id: workspaceId, id: formId }));
  // Every version is validated before it is stored.
  return sampleSnapshot({ id: form.id, name: form.name, workspaceId }, effectiveForm(form.structure));
}

/**
 * Sends tests with real submissions. Each test has a new delivery id, so that a receiver that knows the
 * submission does not treat the test as a duplicate.
 * @param snapshots the snapshots of submissions to the webhook's form.
 * @returns the ids of the deliveries, in the order of the snapshots.
 */
export const sendSubmissionTests = (
  context: SendTestContext,
  test: TestOf,
  snapshots: readonly Snapshot[],
): Promise<string[]> => sendAll(context, test, snapshots.length, async () => snapshots);

async function sendAll(
  { database, config, requestCounter, wakeQueue }: SendTestContext,
  test: TestOf,
  count: number,
  snapshotsOf: (client: Queryable) => Promise<readonly Snapshot[]>,
): Promise<string[]> {
  const { workspaceId, webhookId, url } = test;
  for (let sent = 0; sent < count; sent += 1)
    await enforceRateLimit(requestCounter, `webhook tests of ${workspaceId}`, testsPerMinute, {
      why: tooManyTests,
    });
  if (url !== undefined) throwWebhookProblems(await urlProblems(config, url));
  const ids = await transaction(database, async (client) => {
    requireRow(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    return insertTests(client, test, await snapshotsOf(client));
  });
  wakeQueue();
  return ids;
}

async function insertTests(
  client: Queryable,
  { workspaceId, formId, webhookId, kind, url }: TestOf,
  snapshots: readonly Snapshot[],
): Promise<string[]> {
  const ids = snapshots.map(() => newId());
  const all = <Value>(value: Value): Value[] => ids.map(() => value);
  await insertEvents(client, {
    workspace_id: workspaceId,
    form_id: formId,
    event_ids: ids,
    submission_ids: snapshots.map(({ submission }) => submission.id),
    kinds: all(kind),
    occurred_ats: ids.map(timeOfId),
    snapshots: snapshots.map((snapshot) => JSON.stringify(snapshot)),
    delivery_ids: ids,
    delivery_events: ids,
    delivery_kinds: all(kind),
    webhook_ids: all(webhookId),
    lanes: all(laneOf(webhookId)),
    are_sent: all(true),
    trigger: 'test',
    traceparent: currentTrace() ?? null,
    test_url: url ?? null,
  });
  return ids;
}

/** Returns the snapshot of a sample submission. */
export function sampleSnapshot(
  place: { id: string; name: string; workspaceId: string },
  form: Form,
): Snapshot {
  const submissionId = newId();
  const submission = {
    id: submissionId,
    submittedAt: timeOfId(submissionId),
    status: 'completed',
    ...sampleSubmission(form, now().toISOString().slice(0, 10)),
  };
  return snapshotOf({ form: place, submission, fields: describeFields(form) });
}

/** Finds the last completed submissions of a form, newest first, or only one, with what a webhook sends. */
const selectLatestSubmissions = statement('workspace_id form_id id? limit', [
  'id completed_at? form_name',
  {
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    respondent: nullable(json<Respondent>()),
    fields: json<Record<string, FieldDescription>>(),
  },
])`
  select s.id, s.completed_at, s.answers, s.reference, s.respondent, v.fields, v.name as form_name
    from submissions s
    join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.status = 'completed' and s.trashed_at is null
     and ($id is null or s.id = $id)
   order by s.id desc
   limit $limit`;

/** Returns the snapshots of the last completed submissions of a form, or of one of them, newest first. */
export async function readLatestSubmissions(
  db: Queryable,
  { workspaceId, formId }: Pick<TestOf, 'workspaceId' | 'formId'>,
  { id = null, limit }: { id?: string | null; limit: number },
): Promise<Snapshot[]> {
  const rows = await selectLatestSubmissions(db, { workspace_id: workspaceId, form_id: formId, id, limit });
  return rows.map(({ id, completed_at, answers, reference, respondent, fields, form_name }) =>
    snapshotOf({
      form: { id: formId, name: form_name, workspaceId },
      submission: { id, submittedAt: completed_at, status: 'completed', reference, respondent, answers },
      fields,
    }),
  );
}

/** Finds the form of a submission, or of the last completed one, or else the newest form of a workspace. */
const findFormToTest = statement('workspace_id submission_id?', 'id?')`
  select coalesce(
           (select s.form_id from submissions s
              join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
             where s.workspace_id = $workspace_id and s.status = 'completed' and s.trashed_at is null
               and ($submission_id is null or s.id = $submission_id)
             order by s.id desc limit 1),
           (select id from forms where workspace_id = $workspace_id and deleted_at is null order by id desc limit 1)) as id`;

/**
 * Returns the form for a test or preview of a webhook: its own, or for a webhook of the workspace the requested one,
 * that of the requested or last submission, or the newest one.
 * @throws ApiError not_found if the webhook has another form; conflict if the workspace has no form.
 */
export async function chooseForm(
  db: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string | null },
  requested: { formId?: string | undefined; submissionId?: string | undefined },
): Promise<string> {
  if (formId !== null) {
    if (requested.formId !== undefined && requested.formId.toLowerCase() !== formId)
      throw new ApiError('not_found', 'This webhook sends the events of another form. Omit "form_id".');
    return formId;
  }
  if (requested.formId !== undefined) return requested.formId;
  const submission_id = requested.submissionId ?? null;
  const [found] = await findFormToTest(db, { workspace_id: workspaceId, submission_id });
  if (!found?.id) throw new ApiError('conflict', 'This workspace has no forms yet. Create a form first.');
  return found.id;
}

/**
 * Sends a test, with a sample of the form or its last completed submissions, to the webhook or to another
 * URL.
 * @returns the ids of the deliveries in the log, which will show the outcomes.
 * @throws ApiError the errors of sendSampleTest and sendSubmissionTests; conflict if the form has no completed submission.
 */
export async function testWebhook(
  context: SendTestContext,
  { submissions, ...test }: TestOf & { submissions: number | undefined },
): Promise<string[]> {
  if (submissions === undefined) return [(await sendSampleTest(context, test)).deliveryId];
  const latest = await readLatestSubmissions(context.database, test, { limit: submissions });
  if (latest.length === 0)
    throw new ApiError('conflict', 'This form has no completed submissions yet. Send a sample instead.');
  // Oldest first, which is the order of submission.
  return sendSubmissionTests(context, test, latest.toReversed());
}
