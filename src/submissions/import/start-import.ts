import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { checkAnswers } from '#ast/answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { defaultLanguage, languages } from '#ast/languages.ts';
import { languagesOf } from '#ast/tree.ts';
import { TooMuchWork } from '#ast/work.ts';
import { answerContext, findClosure, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { enqueueJob, type Job, rescheduleJob } from '#kit/queue.ts';
import { takeStep } from '#kit/queue/take-step.ts';
import { runInThread } from '#kit/run-in-thread.ts';
import { integer, jsonb, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { personOf } from '#workspaces/authenticate.ts';
import { isLimited } from '../taken/limits-of.ts';
import { AnswersTaken, type LimitedForm, takeAnswers, takeTurn } from '../taken/take.ts';
import { insertWriting, prepareWriting } from '../writing.ts';
import type { ImportPlan, ImportSource, planImport } from './plan-import.ts';
import type { ImportEntry, ImportForm, LineProblem } from './read-line.ts';
import type { Home } from './time-zones.ts';
import { findFormSettings } from '#forms/form-rows.ts';
import { takeFirst } from '#kit/queue/park-job.ts';

/** A line that waits, with the key under which it becomes one submission and no second. */
type WaitingEntry = ImportEntry & { key: string };

/**
 * Stores an import with the lines that wait, a list of {line, entry}, and the problems of those that were left out before.
 * Stores nothing for a form that is gone.
 */
export const insertImport = statement(
  'import.insert_import',
  ['workspace_id id form_id requested_by? created_at total:integer refused problems', 'lines:jsonText'],
  'id',
  `with begun as (
     insert into submission_imports (workspace_id, id, form_id, total, refused, problems, requested_by, created_at)
     select workspace_id, $id, id, $total, $refused, $problems::jsonb, $requested_by, $created_at
     from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     returning workspace_id, id),
   lines as materialized (select * from json_to_recordset($lines) as l (line integer, entry jsonb)),
   waiting as (
     insert into submission_import_lines (workspace_id, import_id, line, entry)
     select begun.workspace_id, begun.id, lines.line, lines.entry from begun cross join lines)
   select id from begun`,
);

/** Takes the first lines that wait; in the transaction that makes submissions of them. */
const takeLines = takeFirst(
  'import.take_lines',
  { table: 'submission_import_lines', of: 'import_id', by: 'line' },
  { line: integer, entry: jsonb<WaitingEntry>() },
);

/** How far an import has come. Of what was left out the first hundred are kept. */
const advanceImport = statement(
  'import.advance_import',
  'workspace_id id created refused problems most finished_at?',
  '',
  `update submission_imports
   set created = created + $created, refused = refused + $refused, finished_at = $finished_at,
       problems = case when jsonb_array_length(problems) < $most then problems || $problems::jsonb else problems end
   where workspace_id = $workspace_id and id = $id`,
);

/** The job that makes submissions of the lines of one import. */
export const submissionImportJob = 'submissions.import';

/** Lines that become submissions in one transaction, and problems that are kept of an import. */
const stepSize = 100;
const keptProblems = 100;

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
  await transaction(context.database, async (client) => {
    requireRow(
      await insertImport(client, {
        workspace_id: form.workspaceId,
        id,
        form_id: form.formId,
        requested_by: personOf(by),
        created_at: timeOfId(id),
        total: entries.length + refused,
        refused,
        problems: JSON.stringify(problems.slice(0, keptProblems).map(noteOf)),
        lines: JSON.stringify(lines),
      }),
    );
    await enqueueJob(client, {
      workspace_id: form.workspaceId,
      id: newId(),
      kind: submissionImportJob,
      lane: `${submissionImportJob} ${form.workspaceId}`,
      payload: { import: id, form: form.formId } satisfies Payload,
      delay: 0,
    });
  });
  context.wakeQueue();
  return { id, total: entries.length, problems, doubts };
}

/** A problem as it is kept of an import: with its column in the sentence. */
const noteOf = ({ line, column, message }: LineProblem): Pick<LineProblem, 'line' | 'message'> => ({
  line,
  message: column === null || message.startsWith(column) ? message : `${column}: ${message}`,
});

/**
 * Each line with a key by what is in it: the same file imported again makes nothing twice. Lines that are the same in one
 * file are counted, for two people may answer the same.
 */
function keyed(formId: string, entries: ImportPlan['entries']): { line: number; entry: WaitingEntry }[] {
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

type Payload = { import: string; form: string };
type Outcome = { created: number; refusals: { line: number; message: string }[] };

/** Whether a form is there that nobody finds: its workspace is closed, and may be opened again. */
const isThere = async (db: Queryable, workspaceId: string, formId: string): Promise<boolean> =>
  (await findFormSettings(db, { workspace_id: workspaceId, id: formId })).length > 0;

/** One step: its lines are gone and its submissions there, or nothing happened. */
export async function importSubmissionsStep(context: ImportContext, job: Job): Promise<void> {
  const { form } = job.payload as Payload;
  const live = await context.liveForms.find(form);
  if (!live && (await isThere(context.database, job.workspaceId, form)))
    return rescheduleJob(context.database, job, { delay: closedSeconds });
  // Of what is taken so many times, each line is a step: where it is late, it alone is left out.
  const limit = live && isLimited(live.form) ? 1 : stepSize;
  try {
    await runStep(context, job, limit, (client, taken) => writeLines(client, live, taken));
  } catch (error) {
    // A version with limits came just now: the job is tried again, line by line.
    if (!(error instanceof AnswersTaken) || limit > 1) throw error;
    const message = error.problems.map((problem) => problem.message).join(' ');
    await runStep(context, job, limit, async (_client, taken) => ({
      created: 0,
      refusals: taken.map(({ line }) => ({ line, message })),
    }));
  }
}

type Taken = readonly { line: number; entry: WaitingEntry }[];

function runStep(
  { database }: ImportContext,
  job: Job,
  limit: number,
  work: (client: Queryable, taken: Taken) => Promise<Outcome>,
): Promise<void> {
  const { import: id } = job.payload as Payload;
  return takeStep(database, job, { take: takeLines, id, limit }, async (client, taken, isLast) => {
    const { created, refusals } = await work(client, taken);
    await advanceImport(client, {
      workspace_id: job.workspaceId,
      id,
      created,
      refused: refusals.length,
      problems: JSON.stringify(refusals.slice(0, keptProblems)),
      most: keptProblems,
      finished_at: isLast ? now() : null,
    });
  });
}

async function writeLines(client: Queryable, live: LiveForm | undefined, taken: Taken): Promise<Outcome> {
  if (!live)
    return {
      created: 0,
      refusals: taken.map(({ line }) => ({ line, message: 'The form is gone.' })),
    };
  const outcome: Outcome = { created: 0, refusals: [] };
  // The lines of a form that takes an answer once are its turn, as a submit is.
  const limited = await takeTurn(client, { workspaceId: live.workspaceId, formId: live.id });
  for (const { line, entry } of taken) {
    const message = await writeLine(client, { live, limited }, entry);
    if (message === undefined) outcome.created += 1;
    else outcome.refusals.push({ line, message });
  }
  return outcome;
}

/** Makes a submission of a line, of which nobody is told. @returns why it was left out, if it was. */
async function writeLine(
  client: Queryable,
  { live, limited }: { live: LiveForm; limited: LimitedForm | undefined },
  entry: WaitingEntry,
): Promise<string | undefined> {
  const { answers, reference, at, begun = at, key } = entry;
  const checked = checkOne(live, answers, reference);
  if (typeof checked === 'string') return checked;
  const writing = prepareWriting({ live, reference, key, files: new Map() }, checked);
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
  if (!(await insertWriting(client, dated, 'completed'))) return 'It was imported before.';
  if (limited) await takeAnswers(client, limited, id);
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
