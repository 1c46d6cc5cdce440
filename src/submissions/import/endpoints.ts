import { reachForm } from '#forms/form-rows.ts';
import { type Static, Type } from 'typebox';
import { otherChoice } from '#ast/answers/options.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { wired } from '#kit/http.ts';
import { readTasks, type TaskRow } from '#tasks/read-tasks.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { importable, type Named } from './questions.ts';
import type { ImportPlan, ImportSource } from './plan-import.ts';
import { ImportBody, ImportPreview, ImportProgress, ImportStarted } from './shapes.ts';
import { type ImportContext, previewImport, startImport } from './start-import.ts';

/** A file of ten thousand lines, as JSON writes it. */
const importBytes = 8 * 1024 * 1024;

/** How much a reader is shown. */
const shown = { entries: 10, problems: 100, imports: 10 } as const;

const notesOf = ({ problems, doubts }: Pick<ImportPlan, 'problems' | 'doubts'>) => ({
  problem_count: problems.length,
  problems: problems.slice(0, shown.problems),
  doubts: doubts.slice(0, shown.problems),
});

const momentOf = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const labelled = ({ id, labels }: Named) => ({ id, label: id === otherChoice ? 'Other' : (labels[0] ?? id) });

const present = ({ done, member_name, ...task }: TaskRow) => ({
  id: task.id,
  total: task.total,
  created: done,
  refused: task.refused,
  problems: task.problems,
  requested_by: member_name,
  created_at: task.created_at,
  finished_at: task.finished_at,
  failed_reason: task.failed_reason,
});

/** A file has the one or the other, by its kind. */
function sourceOf({ kind, text, data, ...rest }: Static<typeof ImportBody>): ImportSource {
  if (kind === 'csv' && text !== undefined && data === undefined) return { kind, text, ...rest };
  if (kind === 'xlsx' && data !== undefined && text === undefined) return { kind, data, ...rest };
  const field = kind === 'csv' ? 'text' : 'data';
  const message = `"${kind}" takes "${field}", and nothing else of a file.`;
  throw new ApiError('validation_error', undefined, { errors: [{ field, message, code: 'not_allowed' }] });
}

const example = { body: { kind: 'csv', text: 'a,message\r\nAnni,Please call me.\r\n' } } as const;

/** Answers from a file: look first, then do. */
export const submissionImportEndpoints = (context: ImportContext) => ({
  previewSubmissionImport: operation({
    summary: 'Preview import of submissions',
    description:
      'What the columns of a file become, the first submissions that it would make, and what is wrong in which cell. Changes nothing. 409: the form was never published.',
    permission: 'submissions:write',
    command: 'submissions preview-import',
    params: idParameter,
    body: ImportBody,
    bodyLimit: importBytes,
    example,
    errors: ['conflict'],
    reply: { status: 200, description: 'What it would do.', schema: ImportPreview },
    async run({ workspaceId, formIds, params, body }) {
      requireReach(formIds, params.id);
      const plan = await previewImport(context, { workspaceId, formId: params.id }, sourceOf(body));
      const { columns, mapping, writing, entries, live } = plan;
      return {
        body: {
          columns,
          mapping: [...mapping],
          ...writing,
          total: entries.length,
          entries: entries.slice(0, shown.entries).map(({ line, entry }) => ({
            line,
            answers: entry.answers,
            reference: entry.reference,
            started_at: momentOf(entry.begun),
            submitted_at: momentOf(entry.at),
          })),
          questions: [...importable(live.form).values()].map((question) => ({
            ...labelled(question),
            type: question.input?.type ?? 'composite',
            rows: question.rows.map(labelled),
            options: question.choices.map(labelled),
          })),
          ...notesOf(plan),
        },
      };
    },
  }),

  startSubmissionImport: operation({
    summary: 'Import submissions',
    description:
      'Makes completed submissions of up to 10,000 lines of a CSV file or a workbook, step by step; List imports says how far it is. Each line is checked as the page checks answers, and left out where it has a problem. The same line is imported once, however often it is sent. Nobody is told: no webhook, mail or receipt.',
    permission: 'submissions:write',
    command: 'submissions import',
    params: idParameter,
    body: ImportBody,
    bodyLimit: importBytes,
    example,
    errors: ['conflict'],
    reply: { status: 202, description: 'Begun.', schema: ImportStarted },
    async run({ workspaceId, formIds, params, actor, body }) {
      requireReach(formIds, params.id);
      const form = { workspaceId, formId: params.id };
      const started = await startImport(context, form, sourceOf(body), actor);
      return { body: { id: started.id, total: started.total, ...notesOf(started) } };
    },
  }),

  listSubmissionImports: operation({
    summary: 'List imports',
    description: "The last imports of a form's submissions, newest first, and how far they are.",
    permission: 'submissions:read',
    command: 'submissions list-imports',
    params: idParameter,
    reply: {
      status: 200,
      description: 'The last ten.',
      schema: Type.Object({ data: Type.Array(ImportProgress) }),
    },
    async run({ params, ...scope }) {
      const { workspaceId, formId } = await reachForm(context.database, scope, params.id);
      const filter = { workspace_id: workspaceId, form_id: formId, kinds: ['submissions.import'] } as const;
      const tasks = await readTasks(context.database, filter, { limit: shown.imports });
      return { body: { data: tasks.map((task) => wired(present(task))) } };
    },
  }),
});
