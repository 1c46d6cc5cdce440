import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { defaultSearchLanguage, searchLanguageTags } from '#ast/basics/languages.ts';
import { TooMuchWork } from '#ast/basics/work.ts';
import { languagesOf } from '#ast/form/tree.ts';
import { findFormSettings } from '#forms/form-rows.ts';
import { createEvaluationContext, findClosure, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { type Job, rescheduleJob } from '#kit/queue.ts';
import type { Queryable } from '#kit/statement.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { readTasks } from '#tasks/read-tasks.ts';
import { createTask, runTaskStep, type TaskProblem } from '#tasks/run-tasks.ts';
import { readStages } from '#workspaces/stages.ts';
import { assignInTransaction, listMembers, lockAssignee } from '../changes/assign.ts';
import { authorOf } from '../changes/bulk-work.ts';
import type { ChangedBy } from '../differences.ts';
import { hasQuotas, lockQuotas, QuotaExceeded, type QuotaForm, updateQuotaUse } from '../quotas.ts';
import { insertRecord, prepareRecord } from '../submission-record.ts';
import type { ImportPlan, ImportSource, planImport } from './plan-import.ts';
import type { ImportedSubmission, ImportForm, LineProblem } from './read-line.ts';
import type { FormRegion } from './time-zones.ts';

/** A waiting line, with a key that prevents it from creating a second submission. */
type WaitingEntry = ImportedSubmission & { key: string };
export type WaitingLine = { line: number; entry: WaitingEntry };

/** The job that creates the submissions of an import. */
export const submissionImportJobKind = 'submissions.import';

/** The number of lines per transaction. */
const stepSize = 100;

/** How often, in seconds, an import checks whether its closed workspace is open again. */
const closedSeconds = 600;

/** The dependencies of an import. */
export type SubmissionImportServices = { database: Database; liveForms: LiveForms; wakeQueue: () => void };
type FormKey = { workspaceId: string; formId: string };

/**
 * Returns what an import would do.
 * @throws ApiError not_found; conflict for a form that was never published; validation_error if nothing can
 * be used.
 */
export async function previewImport(
  { database, liveForms }: Pick<SubmissionImportServices, 'database' | 'liveForms'>,
  { workspaceId, formId }: FormKey,
  source: ImportSource,
): Promise<ImportPlan & { live: LiveForm }> {
  const live = await liveForms.find(formId);
  if (live?.workspaceId !== workspaceId) throw new ApiError('not_found');
  if (findClosure(live) === 'absent')
    throw new ApiError(
      'conflict',
      'This form has never been published, so answers cannot be imported. Publish it first.',
    );
  const { today, asksSingly = false } = createEvaluationContext(live.settings, {});
  const stages = (await readStages(database, workspaceId)).map(({ id, name }) => ({ id, labels: [name] }));
  const members = await listMembers(database, { workspace_id: workspaceId });
  const about = { form: live.form, today, asksSingly, ...formRegionOf(live), stages, members };
  const plan = await planOnThread(workspaceId, source, about);
  if (typeof plan === 'string')
    throw new ApiError('validation_error', plan, { errors: [{ field: 'text', message: plan }] });
  return { ...plan, live };
}

/** The limits of `readWorkbook` stay far below 256 MB of heap. The timeout also applies to CSV files. */
const threadLimits = {
  megabytes: 256,
  ms: 30_000,
  tooMuch: 'Reading the file requires too much time or memory. Import it in parts, or as CSV.',
} as const;

function planOnThread(
  workspaceId: string,
  source: ImportSource,
  about: ImportForm,
): Promise<ImportPlan | string> {
  const module = new URL('plan-import.ts', import.meta.url);
  const given: Parameters<typeof planImport> = [source, about];
  return runInThread(workspaceId, { module, name: 'planImport', given }, threadLimits);
}

/** Returns the form's language and time zone, which are the first guess for the formats in a file. */
const formRegionOf = ({ form, settings }: LiveForm): FormRegion => ({
  language: languagesOf(form)[0] ?? searchLanguageTags[settings.language ?? defaultSearchLanguage],
  timeZone: settings.time_zone ?? 'UTC',
});

/**
 * Starts an import. Its lines are stored together with a job that creates the submissions, so that the import
 * continues after a restart. Lines with problems are skipped.
 * @throws the errors of previewImport.
 */
export async function startImport(
  context: SubmissionImportServices,
  form: FormKey,
  source: ImportSource,
  by: Actor,
): Promise<Pick<ImportPlan, 'problems' | 'doubts'> & { id: string; total: number }> {
  const { entries, problems, doubts } = await previewImport(context, form, source);
  if (entries.length === 0) {
    const message = 'The file has no line that can be imported.';
    throw new ApiError('validation_error', message, {
      errors: [{ field: 'text', message, code: 'too_few' }],
    });
  }
  const id = newId();
  const lines = keyed(form.formId, entries);
  const refused = new Set(problems.filter((problem) => problem.is_left_out).map(({ line }) => line)).size;
  const { workspaceId, formId } = form;
  const isStored = await transaction(context.database, (client) =>
    createTask(
      client,
      {
        workspaceId,
        id,
        kind: 'submissions.import',
        formId,
        by,
        items: lines,
        total: entries.length + refused,
        refused,
        problems: problems.map(toStoredProblem),
      },
      { kind: submissionImportJobKind, lane: `${submissionImportJobKind} ${workspaceId}` },
    ),
  );
  if (!isStored) throw new ApiError('not_found');
  context.wakeQueue();
  return { id, total: entries.length, problems, doubts };
}

/** Converts a problem for storage, with its column in the message. */
const toStoredProblem = ({ line, column, message }: LineProblem): TaskProblem => ({
  line,
  message: column === null || message.startsWith(column) ? message : `${column}: ${message}`,
});

/**
 * Gives each line a key based on its content, so that importing a file again creates no duplicates, even if
 * its stage or assignee changed. Equal lines in one file are numbered, because two people may give equal
 * answers.
 */
function keyed(formId: string, entries: ImportPlan['entries']): WaitingLine[] {
  const counts = new Map<string, number>();
  return entries.map(({ line, entry }) => {
    const content = JSON.stringify({ ...entry, assignment: undefined });
    const count = (counts.get(content) ?? 0) + 1;
    counts.set(content, count);
    return { line, entry: { ...entry, key: keyOf(`${formId}\n${count}\n${content}`) } };
  });
}

/** Derives a UUID (version 8) from a text. */
function keyOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(12, 15)}`,
    `8${digits.slice(15, 18)}`,
  ];
  return [...parts, digits.slice(18, 30)].join('-');
}

type Outcome = { done: number; refused: number; problems: TaskProblem[] };

/** Whether the form exists although it cannot be found: its workspace is closed, and may be reopened. */
const isThere = async (db: Queryable, workspaceId: string, formId: string): Promise<boolean> =>
  (await findFormSettings(db, { workspace_id: workspaceId, id: formId })).length > 0;

/** Runs one step. Either all of its lines become submissions, or nothing changes. */
export async function importSubmissionsStep(context: SubmissionImportServices, job: Job): Promise<void> {
  const { database } = context;
  const { workspaceId: workspace_id, id } = job;
  const [task] = await readTasks(database, { workspace_id, kinds: ['submissions.import'], id });
  const form = task?.form_id ?? '';
  const live = task && (await context.liveForms.find(form));
  if (task && !live && (await isThere(database, workspace_id, form)))
    return rescheduleJob(database, job, { delay: closedSeconds });
  // With quotas, each line is a separate step, so that only a line that exceeds a quota is skipped.
  const limit = live && hasQuotas(live.form) ? 1 : stepSize;
  const refuseAll = (lines: readonly WaitingLine[], message: string): Outcome => ({
    done: 0,
    refused: lines.length,
    problems: lines.map(({ line }) => ({ line, message })),
  });
  const run = (work: (client: Queryable, lines: readonly WaitingLine[], by: ChangedBy) => Promise<Outcome>) =>
    runTaskStep<WaitingLine>(context, job, limit, (client, { task: found, items }) =>
      work(client, items, { ...authorOf(found), bulk_id: null }),
    );
  try {
    await run(async (client, lines, by) =>
      live ? writeLines(client, live, lines, by) : refuseAll(lines, 'The form has been deleted.'),
    );
  } catch (error) {
    // A version with quotas was just published: the job is retried line by line.
    if (!(error instanceof QuotaExceeded) || limit > 1) throw error;
    const message = error.problems.map((problem) => problem.message).join(' ');
    await run(async (_client, lines) => refuseAll(lines, message));
  }
}

async function writeLines(
  client: Queryable,
  live: LiveForm,
  lines: readonly WaitingLine[],
  by: ChangedBy,
): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: 0, problems: [] };
  // For a form with quotas, this acquires the form lock, as a submit does.
  const limited = await lockQuotas(client, { workspaceId: live.workspaceId, formId: live.id });
  for (const { line, entry } of lines) {
    const message = await writeLine(client, { live, limited, by }, entry);
    if (message === undefined) outcome.done += 1;
    else {
      outcome.refused += 1;
      outcome.problems.push({ line, message });
    }
  }
  return outcome;
}

/**
 * Creates the submission of a line, without events and emails. @returns why the line was skipped; undefined
 * if it was not.
 */
async function writeLine(
  client: Queryable,
  { live, limited, by }: { live: LiveForm; limited: QuotaForm | undefined; by: ChangedBy },
  entry: WaitingEntry,
): Promise<string | undefined> {
  const { answers, reference, at, begun = at, assignment, key } = entry;
  const checked = checkOne(live, answers, reference);
  if (typeof checked === 'string') return checked;
  const writing = prepareRecord({ live, reference, key, files: new Map() }, checked);
  const id = begun === undefined ? writing.id : v7({ msecs: begun });
  const completedAt = at === undefined ? timeOfId(id) : new Date(at);
  const stamp = { version: live.version, at: completedAt, keepsMoments: true };
  const dated = {
    ...writing,
    id,
    createdAt: timeOfId(id),
    completedAt,
    answers: stampConsents(live.form, checked, stamp),
  };
  if (!(await insertRecord(client, dated, 'completed'))) return 'This line was already imported.';
  if (limited) await updateQuotaUse(client, limited, id);
  if (!assignment) return undefined;
  const { workspaceId, id: formId } = live;
  // The member may have left since the file was read.
  const assignee_id = await lockAssignee(client, workspaceId, assignment.assignee_id);
  await assignInTransaction(client, { workspaceId, formId }, [id], { ...assignment, assignee_id, by });
  return undefined;
}

function checkOne(live: LiveForm, raw: unknown, reference: Readonly<Record<string, string>>) {
  try {
    const checked = checkAnswers(
      live.form,
      raw,
      new Map(),
      createEvaluationContext(live.settings, reference),
    );
    return checked.ok ? checked.answers : checked.errors.map(({ message }) => message).join(' ');
  } catch (error) {
    if (error instanceof TooMuchWork) return error.message;
    throw error;
  }
}
