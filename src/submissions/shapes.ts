import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers/check-answers.ts';
import type { Form } from '#ast/form/tree.ts';
import { Answers as AnswersShape, type FileUploadShape } from '#forms/payload.ts';
import { listSchemaOf, namedObject, nameSchema } from '#kit/pagination.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { Column as ColumnOf } from './columns.ts';
import { changeKinds, changeOrigins, type Difference, differenceParts } from './differences.ts';
import { assignmentProperties, Submission, submissionStatuses } from './present.ts';

export type { Difference };
export type Column = ColumnOf;

// Queries -----------------------------------------------------------------------------------------------

/** The language in which a reader of answers sees questions and options. */
export const languageParameter = Type.Optional(
  Type.String({
    minLength: 2,
    maxLength: 35,
    description: 'Returns questions and options in this language (a BCP 47 tag), if the form has it.',
  }),
);

/** The submissions whose answers a summary covers. */
export const summarySample = Type.Enum(['newest', 'all'], {
  description:
    'The submissions whose answers are summarized: the newest 10,000, or all. If there are more than 100,000, `all` is a random sample of about 100,000.',
});
export type SummarySample = Static<typeof summarySample>;

// The table -----------------------------------------------------------------------------------------------

/** A person's arrangement of the table of a form. Ids are column ids; widths are in px. */
export const TableSettings = strictObject({
  order: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 2_000 }),
  hidden: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 2_000 }),
  widths: Type.Record(Type.String({ maxLength: 100 }), Type.Number({ minimum: 16, maximum: 2_000 }), {
    maxProperties: 2_000,
  }),
  /** The number of pinned columns after the first, which is always pinned. */
  pinned: Type.Integer({ minimum: 0, maximum: 20 }),
  /** Whether rows show several lines of text instead of one. */
  is_tall: Type.Boolean(),
});
export type TableSettings = Static<typeof TableSettings>;

const row = {
  id: uuidSchema,
  status: Type.Enum([...submissionStatuses]),
  version: Type.Integer({ description: 'The form version that was answered.' }),
  answers: Type.Unsafe<Answers>(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Answers by element id; files without links.' },
    ),
  ),
  reference: Type.Record(Type.String(), Type.String()),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  completed_at: orNull(timestampSchema),
  tags: Type.Array(Type.String()),
  ...assignmentProperties,
  respondent: Type.Optional(Respondent),
  hits: Type.Array(Type.String(), {
    description: 'The words that the search found, as written in this submission.',
  }),
};
export const TableRow = namedObject('SubmissionRow', row);
export type TableRow = Static<typeof TableRow>;
export const TablePage = listSchemaOf(TableRow);
export type TablePage = Static<typeof TablePage>;

const questionProperties = {
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  options: Type.Array(Type.String(), { description: 'The stored value of each option.' }),
  option_labels: Type.Record(Type.String(), Type.String(), {
    description:
      'Labels by stored value, for options whose label differs from the value. Includes previous options.',
  }),
  rows: Type.Array(Type.Object({ id: Type.String(), label: Type.String() }), {
    description: 'The rows of a matrix, previous ones last.',
  }),
  number_format: Type.Optional(
    Type.Object(
      {
        decimals: Type.Optional(Type.Integer()),
        prefix: Type.Optional(Type.String()),
        suffix: Type.Optional(Type.String()),
      },
      { description: 'How a calculation shows its results.' },
    ),
  ),
  pass_mark: Type.Optional(Type.Integer({ description: 'The points that are needed to pass a quiz.' })),
};
export const TableColumns = Type.Object({
  data: Type.Array(
    nameSchema(
      'Column',
      Type.Unsafe<Column>(
        Type.Object({
          ...questionProperties,
          inputs: Type.Array(Type.Object(questionProperties)),
          is_retired: Type.Boolean(),
        }),
      ),
    ),
  ),
});
export type TableColumns = Static<typeof TableColumns>;

export type LinkedFile = Static<typeof FileUploadShape>;

export const SubmissionDetail = namedObject('SubmissionView', {
  ...row,
  answers: Type.Unsafe<Answers>(AnswersShape),
  form_name: Type.String(),
  /** The version that was answered. */
  structure: Type.Unsafe<Form>({ 'x-component': 'Structure' }),
  is_live_version: Type.Boolean(),
  previous_id: Type.Union([uuidSchema, Type.Null()], {
    description: 'The previous submission in the view.',
  }),
  next_id: Type.Union([uuidSchema, Type.Null()], { description: 'The next submission in the view.' }),
  position: Submission.properties.position,
  etag: Type.String({ description: 'The ETag to send in If-Match when you change the submission.' }),
});
export type SubmissionDetail = Static<typeof SubmissionDetail>;

// The history ---------------------------------------------------------------------------------------------

const difference = Type.Object({
  part: Type.Enum([...differenceParts]),
  name: Type.String({
    description: "The element's id, or the name of a reference value; empty for other parts.",
  }),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});
export const TimelineEntry = nameSchema(
  'TimelineEntry',
  Type.Union([
    Type.Object({ kind: Type.Enum(['created', 'completed']), at: timestampSchema }),
    Type.Object({
      kind: Type.Enum([...changeKinds]),
      at: timestampSchema,
      by: Type.Union([Type.String(), Type.Null()], {
        description: 'The member or API key; null if it was deleted, or for a visitor with the edit link.',
      }),
      through: Type.Enum([...changeOrigins]),
      changes: Type.Array(difference),
    }),
    Type.Object(
      {
        kind: Type.Enum(['delivery', 'resend']),
        at: timestampSchema,
        event: Type.String(),
        status: Type.Enum(['Success', 'Failed', 'Retrying']),
        webhook_id: uuidSchema,
        delivery_id: uuidSchema,
        url: Type.String(),
      },
      {
        description:
          'A delivery, or a manual retry or replay of it. Shown only with permission to read webhooks.',
      },
    ),
  ]),
);
export type TimelineEntry = Static<typeof TimelineEntry>;
/** The timeline of a submission, newest first. */
export const Timeline = Type.Object({
  data: Type.Array(TimelineEntry),
  is_cut: Type.Boolean({ description: 'Whether there are more entries than listed.' }),
});
export type Timeline = Static<typeof Timeline>;

// The summary ---------------------------------------------------------------------------------------------

/** The counts in the two groups of a comparison. */
const groupCounts = (description: string) =>
  Type.Optional(
    Type.Unsafe<[number, number]>(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2, description })),
  );

const Bar = Type.Object({
  label: Type.String(),
  option: Type.Optional(
    Type.String({ description: 'The stored value of the option, if it differs from the label.' }),
  ),
  count: Type.Integer(),
  image: Type.Optional(
    Type.String({ format: 'uuid', description: 'The image of the option in the live version.' }),
  ),
  from: Type.Optional(
    Type.Union([Type.Number(), Type.String()], {
      description:
        'For numbers, dates and times: the lowest answer in the bar. If the bar is empty, `from` and `to` are absent.',
    }),
  ),
  to: Type.Optional(
    Type.Union([Type.Number(), Type.String()], { description: 'The highest answer in the bar.' }),
  ),
  places: Type.Optional(
    Type.Object(
      { capacity: Type.Integer(), left: Type.Integer() },
      {
        description:
          'For an option with a `capacity` in the live version: its capacity, and how much of it is left now, regardless of the time range.',
      },
    ),
  ),
  mean: Type.Optional(
    Type.Number({
      description: 'For a ranked option: its mean rank. `count` is how often it was ranked first.',
    }),
  ),
  groups: groupCounts('With `compare`: the count in each group.'),
});
export type Bar = Static<typeof Bar>;

const numbers = orNull(Type.Object({ min: Type.Number(), max: Type.Number(), mean: Type.Number() }));
const metric = Type.Optional(
  Type.Object(
    {
      name: Type.Enum(['nps', 'csat', 'ces', 'pass_rate']),
      value: Type.Number(),
      answers: Type.Integer({ description: 'The number of answers that count.' }),
    },
    {
      description:
        'The usual figure of a scale or a quiz score. `nps`, for 0 to 10: the percentage of 9 and 10 minus the percentage of 0 to 6, from -100 to 100. `csat`, for five levels: the percentage of the two highest. `ces`, for 1 to 7: the mean. `pass_rate`, for a quiz score: the percentage that reaches the pass mark.',
    },
  ),
);

const elementGroup = Type.Object({ answered: Type.Integer(), numbers, metric });
export type ElementGroup = Static<typeof elementGroup>;

/** The summary of the answers to one question; its content depends on the kind of question. */
export const ElementSummary = Type.Object({
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  is_retired: Type.Boolean(),
  /** The label of the question's repeatable group; rows are counted, not submissions. */
  group: orNull(Type.String()),
  answered: Type.Integer(),
  chart: Type.Enum([
    'options',
    'given',
    'levels',
    'recommendation',
    'ranking',
    'grid',
    'files',
    'histogram',
    'rows',
    'months',
    'hours',
    'texts',
    'count',
  ]),
  order: Type.Enum(['form', 'count', 'rank'], {
    description:
      'The order of the bars: `form`, as in the form or along the scale, with removed options and own texts last; `count`, most frequent first, for texts, files and lists of more than 12 options without numbers; `rank`, best mean rank first.',
  }),
  bars: Type.Array(Bar, { description: 'For text answers: those given more than once, ignoring case.' }),
  rows: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        label: Type.String(),
        answered: Type.Integer(),
        bars: Type.Array(Bar),
        groups: groupCounts('With `compare`: the number of answers in each group.'),
      }),
      { description: 'For a matrix: how often each option was chosen in each row.' },
    ),
  ),
  numbers,
  metric,
  score: Type.Optional(
    Type.Number({
      description:
        'For a scale from 0 to 10: the net promoter score, which is the percentage of answers of 9 or 10 minus the percentage of answers of 6 or less.',
    }),
  ),
  /** The latest few free texts; empty if they identify people. */
  texts: Type.Array(Type.Object({ submission_id: uuidSchema, text: Type.String() })),
  groups: Type.Optional(
    Type.Unsafe<[ElementGroup, ElementGroup]>(
      Type.Array(elementGroup, {
        minItems: 2,
        maxItems: 2,
        description: 'With `compare`: the answers in each group.',
      }),
    ),
  ),
});
export type ElementSummary = Static<typeof ElementSummary>;

export const Summary = Type.Object({
  completed: Type.Integer(),
  incomplete: Type.Integer(),
  waiting: Type.Integer({ description: 'Submissions on the waiting list.' }),
  /** From 0 to 1; null without submissions. */
  completion_rate: orNull(Type.Number()),
  days: Type.Array(
    Type.Object({
      day: Type.String(),
      completed: Type.Integer(),
      incomplete: Type.Integer(),
      waiting: Type.Optional(Type.Integer({ description: 'Present if it is above 0.' })),
    }),
    {
      description:
        'The days on which submissions were started. With `received_from` or `received_to`, the days on which they were received. Days without submissions are omitted.',
    },
  ),
  /** The number of submissions whose answers are summarized. Totals and days count every submission. */
  sampled: Type.Integer(),
  groups: groupCounts('With `compare`: the number of summarized submissions in each group.'),
  elements: Type.Array(ElementSummary),
});
export type Summary = Static<typeof Summary>;
