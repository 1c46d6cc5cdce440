import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { checkAnswers } from '#ast/answers.ts';
import { defaultLanguage, languages } from '#ast/languages.ts';
import { languagesOf } from '#ast/tree.ts';
import { TooMuchWork } from '#ast/work.ts';
import { findFormSettings } from '#forms/form-rows.ts';
import { answerContext, findClosure, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { type Job, rescheduleJob } from '#kit/queue.ts';
import { runInThread } from '#kit/run-in-thread.ts';
import type { Queryable } from '#kit/statement.ts';
import { readTasks } from '#tasks/read-tasks.ts';
import { type Problem, runTaskStep, startTask } from '#tasks/run-tasks.ts';
import { hasQuotas, lockQuotas, QuotaExceeded, type QuotaForm, updateQuotas } from '../quotas.ts';
import { insertRecord, prepareRecord } from '../submission-record.ts';
import type { ImportPlan, ImportSource, planImport } from './plan-import.ts';
import type { ImportEntry, ImportForm, LineProblem } from './read-line.ts';
import type { Home } from './time-zones.ts';

/** A line that waits, with the key under which it becomes one submission and no second. */
type WaitingEntry = ImportEntry & { key: string };
export type WaitingLine = { line: number; entry: WaitingEntry };

/** The job that makes submissions of the lines of one import. */
export const submissionImportJob = 'submissions.import';

/** Lines that become submissions in one transaction. */
const stepSize = 100;

/** How often an import whose workspace was closed on the way looks whether that is open again. */
const closedSeconds = 600;

/** What importing answers needs. */
export type ImportContext = { database: Database; liveForms: LiveForms; wakeQueue: () => void };
type FormKey = { workspaceId: string; formId: string };

/**
 * What an import would do.
 * @throws ApiError not_found; conflict for a form that was never published; validation_error when nothing can be used.
 */
export async function previewImport(
  { liveForms }: Pick<ImportContext, 'liveForms'>,
  { workspaceId, formId }: FormKey,
  source: ImportSource,
): Promise<ImportPlan & { live: LiveForm }> {
  const live = await liveForms.find(formId);
  if (live?.workspaceId !== workspaceId) throw new ApiError('not_found');
  if (findClosure(live) === 'absent')
    throw new ApiError(
      'conflict',
      'This form was never published: there is no version that answers could be to.',
    );
  const { today, asksSingly = false } = answerContext(live.settings, {});
  const about = { form: live.form, today, asksSingly, ...homeOf(live) };
  const plan = await planOnThread(workspaceId, source, about);
  if (typeof plan === 'string')
    throw new ApiError('validation_error', plan, { errors: [{ field: 'text', message: plan }] });
  return { ...plan, live };
}

/** What `readWorkbook` allows stays far below 256 MB of heap. The deadline holds for CSV files too. */
const threadLimits = {
  megabytes: 256,
  ms: 30_000,
  tooMuch: 'It takes too much to read the file. Import it in parts, or as CSV.',
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

/** The language that the form is written in, and its time zone: the first guess of how a file writes days and numbers. */
const homeOf = ({ form, settings }: LiveForm): Home => ({
  language: languagesOf(form)[0] ?? languages[settings.language ?? defaultLanguage],
  timeZone: settings.time_zone ?? 'UTC',
});

/**
 * Begins an import: its lines are stored with the job that makes submissions of them, so that it goes on after a restart where
 * it was. Lines with problems are left out.
 * @throws as previewImport.
 */
export async function startImport(
  context: ImportContext,
  form: FormKey,
  source: ImportSource,
  by: Actor,
): Promise<Pick<ImportPlan, 'problems' | 'doubts'> & { id: string; total: number }> {
  const { entries, problems, doubts } = await previewImport(context, form, source);
  if (entries.length === 0) {
    const message = 'There is no line in it that can be imported.';
    throw new ApiError('validation_error', message, {
      errors: [{ field: 'text', message, code: 'too_few' }],
    });
  }
  const id = newId();
  const lines = keyed(form.formId, entries);
  const refused = new Set(problems.filter((problem) => problem.is_left_out).map(({ line }) => line)).size;
  const { workspaceId, formId } = form;
  const isStored = await transaction(context.database, (client) =>
    startTask(
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
        problems: problems.map(noteOf),
      },
      { kind: submissionImportJob, lane: `${submissionImportJob} ${workspaceId}` },
    ),
  );
  if (!isStored) throw new ApiError('not_found');
  context.wakeQueue();
  return { id, total: entries.length, problems, doubts };
}

/** A problem as it is kept of an import: with its column in the sentence. */
const noteOf = ({ line, column, message }: LineProblem): Problem => ({
  line,
  message: column === null || message.startsWith(column) ? message : `${column}: ${message}`,
});

/**
 * Each line with a key by what is in it: the same file imported again makes nothing twice. Lines that are the same in one
 * file are counted, for two people may answer the same.
 */
function keyed(formId: string, entries: ImportPlan['entries']): WaitingLine[] {
  const counts = new Map<string, number>();
  return entries.map(({ line, entry }) => {
    const said = JSON.stringify(entry);
    const count = (counts.get(said) ?? 0) + 1;
    counts.set(said, count);
    return { line, entry: { ...entry, key: keyOf(`${formId}\n${count}\n${said}`) } };
  });
}

/** A UUID of what a text says (version 8). */
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

type Outcome = { done: number; refused: number; problems: Problem[] };

/** Whether a form is there that nobody finds: its workspace is closed, and may be opened again. */
const isThere = async (db: Queryable, workspaceId: string, formId: string): Promise<boolean> =>
  (await findFormSettings(db, { workspace_id: workspaceId, id: formId })).length > 0;

/** One step: its lines are gone and its submissions there, or nothing happened. */
export async function importSubmissionsStep(context: ImportContext, job: Job): Promise<void> {
  const { database } = context;
  const { workspaceId: workspace_id, id } = job;
  const [task] = await readTasks(database, { workspace_id, kinds: ['submissions.import'], id });
  const form = task?.form_id ?? '';
  const live = task && (await context.liveForms.find(form));
  if (task && !live && (await isThere(database, workspace_id, form)))
    return rescheduleJob(database, job, { delay: closedSeconds });
  // Of what is taken so many times, each line is a step: where it is late, it alone is left out.
  const limit = live && hasQuotas(live.form) ? 1 : stepSize;
  const refuseAll = (lines: readonly WaitingLine[], message: string): Outcome => ({
    done: 0,
    refused: lines.length,
    problems: lines.map(({ line }) => ({ line, message })),
  });
  const run = (work: (client: Queryable, lines: readonly WaitingLine[]) => Promise<Outcome>) =>
    runTaskStep<WaitingLine>(context, job, limit, (client, { items }) => work(client, items));
  try {
    await run(async (client, lines) =>
      live ? writeLines(client, live, lines) : refuseAll(lines, 'The form is gone.'),
    );
  } catch (error) {
    // A version with limits came just now: the job is tried again, line by line.
    if (!(error instanceof QuotaExceeded) || limit > 1) throw error;
    const message = error.problems.map((problem) => problem.message).join(' ');
    await run(async (_client, lines) => refuseAll(lines, message));
  }
}

async function writeLines(
  client: Queryable,
  live: LiveForm,
  lines: readonly WaitingLine[],
): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: 0, problems: [] };
  // The lines of a form that takes an answer once are its turn, as a submit is.
  const limited = await lockQuotas(client, { workspaceId: live.workspaceId, formId: live.id });
  for (const { line, entry } of lines) {
    const message = await writeLine(client, { live, limited }, entry);
    if (message === undefined) outcome.done += 1;
    else {
      outcome.refused += 1;
      outcome.problems.push({ line, message });
    }
  }
  return outcome;
}

/** Makes a submission of a line, of which nobody is told. @returns why it was left out, if it was. */
async function writeLine(
  client: Queryable,
  { live, limited }: { live: LiveForm; limited: QuotaForm | undefined },
  entry: WaitingEntry,
): Promise<string | undefined> {
  const { answers, reference, at, begun = at, key } = entry;
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
  if (!(await insertRecord(client, dated, 'completed'))) return 'It was imported before.';
  if (limited) await updateQuotas(client, limited, id);
  return undefined;
}

function checkOne(live: LiveForm, raw: unknown, reference: Readonly<Record<string, string>>) {
  try {
    const checked = checkAnswers(live.form, raw, new Map(), answerContext(live.settings, reference));
    return checked.ok ? checked.answers : checked.errors.map(({ message }) => message).join(' ');
  } catch (error) {
    if (error instanceof TooMuchWork) return error.message;
    throw error;
  }
}
