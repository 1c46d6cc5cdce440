import { type Static, Type } from 'typebox';
import { otherChoice } from '#ast/basics/options.ts';
import { requireReachableForm } from '#forms/form-rows.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { failedReasonSchema, orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { readTasks, type TaskRow } from '#tasks/read-tasks.ts';
import type { ImportPlan, ImportSource } from './plan-import.ts';
import { previewImport, type SubmissionImportServices, startImport } from './start-import.ts';
import { importableQuestions, importLimits, type NamedItem } from './table.ts';

const name = Type.String({ minLength: 1, maxLength: 64 });

const ColumnUse = Type.Union([
  strictObject({
    as: Type.Literal('answer'),
    name,
    row: Type.Optional(
      Type.String({ maxLength: 1_024, description: 'The row of a matrix, or the part of a consent.' }),
    ),
    option: Type.Optional(
      Type.String({
        maxLength: 1_024,
        description:
          'The option that the column is for; `_other` for an answer that is not one of the options.',
      }),
    ),
  }),
  strictObject({ as: Type.Literal('reference'), name }),
  Type.Object(
    { as: Type.Enum(['reference_data', 'started_at', 'submitted_at', 'stage', 'assignee', 'ignore']) },
    {
      additionalProperties: false,
      description:
        '`reference_data` is a JSON object whose values are strings, as in exports. `stage` is the name of a stage, and `assignee` the name or email address of a member.',
    },
  ),
]);
const dates = Type.Enum(['ymd', 'dmy', 'mdy']);
const decimal = Type.Enum(['.', ',']);

/** A file, and how to read it. */
const ImportBody = strictObject({
  kind: Type.Enum(['csv', 'xlsx']),
  text: Type.Optional(
    Type.String({ description: 'The text of a CSV file. The first line contains the headings.' }),
  ),
  data: Type.Optional(
    Type.String({
      contentEncoding: 'base64',
      description: 'An .xlsx workbook of up to 4 MB, in base64. Its first sheet is read.',
    }),
  ),
  mapping: Type.Optional(
    Type.Array(ColumnUse, {
      maxItems: importLimits.columns,
      description: 'What each column is used for, in order. By default, guessed from the headings.',
    }),
  ),
  dates: Type.Optional(
    Type.Enum(['ymd', 'dmy', 'mdy'], {
      description: 'The date order in all columns. By default, guessed for each column.',
    }),
  ),
  decimal: Type.Optional(
    Type.Enum(['.', ','], {
      description: 'The decimal separator in all columns. By default, guessed for each column.',
    }),
  ),
});

const problemProperties = {
  line: Type.Integer(),
  column: Type.Union([Type.String(), Type.Null()], {
    description: 'The heading of the column; null if the problem concerns the whole line.',
  }),
  message: Type.String(),
};
const problem = Type.Object({
  ...problemProperties,
  is_left_out: Type.Boolean({ description: 'Whether the whole line is skipped, or only this cell.' }),
});
const problems = {
  problem_count: Type.Integer(),
  problems: Type.Array(problem, { description: 'The first 100 problems.' }),
  doubts: Type.Array(Type.Object(problemProperties), {
    description: 'Values that can be read in several ways, such as 03/04/2000. At most the first 100.',
  }),
};

const named = Type.Object({ id: Type.String(), label: Type.String() });

export const ImportPreview = Type.Object({
  columns: Type.Array(Type.Object({ title: Type.String(), samples: Type.Array(Type.String()) })),
  mapping: Type.Array(ColumnUse),
  dates,
  decimal,
  total: Type.Integer({ description: 'The number of submissions that the import would create.' }),
  entries: Type.Array(
    Type.Object({
      line: Type.Integer(),
      answers: Type.Unsafe<object>({ type: 'object' }),
      reference: Type.Record(Type.String(), Type.String()),
      started_at: orNull(timestampSchema),
      submitted_at: orNull(timestampSchema),
    }),
    { description: 'The first ten submissions.' },
  ),
  questions: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.String(),
      type: Type.String({ description: 'The element type. Each row of a matrix has its own column.' }),
      rows: Type.Array(named, { description: 'The rows of a matrix and the parts of a consent.' }),
      options: Type.Array(named, {
        description: 'The options. If the question accepts several, each option can have its own column.',
      }),
    }),
    { description: 'The questions that columns can answer.' },
  ),
  ...problems,
});

export const ImportStarted = Type.Object({
  id: uuidSchema,
  total: Type.Integer({ description: 'The number of lines to import.' }),
  ...problems,
});

export const ImportProgress = Type.Object({
  id: uuidSchema,
  total: Type.Integer({ description: 'The number of lines in the file, including skipped lines.' }),
  created: Type.Integer({ description: 'The number of submissions created so far.' }),
  refused: Type.Integer({
    description:
      'The number of lines that were skipped because they had a problem, were already imported, or were over a quota.',
  }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
  requested_by: orNull(Type.String()),
  created_at: timestampSchema,
  finished_at: orNull(timestampSchema),
  failed_reason: failedReasonSchema,
});

/** The size of a file with 10,000 lines, as JSON. */
const importBytes = 8 * 1024 * 1024;

/** The maximum number of items in a response. */
const shown = { entries: 10, problems: 100, imports: 10 } as const;

const notesOf = ({ problems, doubts }: Pick<ImportPlan, 'problems' | 'doubts'>) => ({
  problem_count: problems.length,
  problems: problems.slice(0, shown.problems),
  doubts: doubts.slice(0, shown.problems),
});

const momentOf = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const labelled = ({ id, labels }: NamedItem) => ({
  id,
  label: id === otherChoice ? 'Other' : (labels[0] ?? id),
});

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

/** A CSV file has `text`, a workbook has `data`. */
function sourceOf({ kind, text, data, ...rest }: Static<typeof ImportBody>): ImportSource {
  if (kind === 'csv' && text !== undefined && data === undefined) return { kind, text, ...rest };
  if (kind === 'xlsx' && data !== undefined && text === undefined) return { kind, data, ...rest };
  const field = kind === 'csv' ? 'text' : 'data';
  const message = `The kind "${kind}" requires "${field}" and no other file content.`;
  throw new ApiError('validation_error', undefined, { errors: [{ field, message, code: 'not_allowed' }] });
}

const example = { body: { kind: 'csv', text: 'a,message\r\nAnni,Please call me.\r\n' } } as const;

/** Operations that preview and import submissions from a file. */
export const submissionImportEndpoints = (context: SubmissionImportServices) => ({
  previewSubmissionImport: operation({
    summary: 'Preview submission import',
    description:
      'Returns what each column is used for, the first submissions, and the problems of each cell. Changes nothing. 409 if the form was never published.',
    permission: 'submissions:write',
    audit: { none: 'It changes nothing.' },
    command: 'submissions preview-import',
    params: idParameter,
    body: ImportBody,
    bodyLimit: importBytes,
    example,
    errors: ['conflict'],
    reply: { status: 200, description: 'The preview.', schema: ImportPreview },
    async run({ workspaceId, params, body }) {
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
          questions: [...importableQuestions(live.form).values()].map((question) => ({
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
      'Creates completed submissions from up to 10,000 lines of a CSV file or a workbook, in the background; List imports returns the progress. Each line is checked like a submission, and skipped if it has a problem. A line is imported only once, even if it is sent again. Sends no webhooks, emails or receipts.',
    permission: 'submissions:write',
    audit: 'entry',
    command: 'submissions import',
    params: idParameter,
    body: ImportBody,
    bodyLimit: importBytes,
    example,
    errors: ['conflict'],
    reply: { status: 202, description: 'The import has started.', schema: ImportStarted },
    async run({ workspaceId, params, actor, body }) {
      const form = { workspaceId, formId: params.id };
      const started = await startImport(context, form, sourceOf(body), actor);
      return { body: { id: started.id, total: started.total, ...notesOf(started) } };
    },
  }),

  listSubmissionImports: operation({
    summary: 'List imports',
    description: "Returns the latest imports of a form's submissions and their progress, newest first.",
    permission: 'submissions:read',
    command: 'submissions list-imports',
    params: idParameter,
    reply: {
      status: 200,
      description: 'The latest ten imports.',
      schema: Type.Object({ data: Type.Array(ImportProgress) }),
    },
    async run({ params, ...scope }) {
      const { workspaceId, formId } = await requireReachableForm(context.database, scope, params.id);
      const filter = { workspace_id: workspaceId, form_id: formId, kinds: ['submissions.import'] } as const;
      const tasks = await readTasks(context.database, filter, { limit: shown.imports });
      return { body: { data: tasks.map((task) => asWireValue(present(task))) } };
    },
  }),
});
