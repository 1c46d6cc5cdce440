import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers.ts';
import type { Form } from '#ast/tree.ts';
import { Answers as AnswersShape, type FileUpload } from '#forms/payload.ts';
import { listOf, named } from '#kit/pagination.ts';
import { closed, orNull, timestamp, uuid } from '#kit/validation.ts';
import type { Column as ColumnOf } from './columns.ts';
import { createdParameters } from './created-span.ts';
import { changeKinds, changeThroughs, type Difference } from './differences.ts';
import { submissionStatuses } from './present.ts';

export type { Difference };
export type Column = ColumnOf;

// Queries -----------------------------------------------------------------------------------------------

/** The language in which a reader of answers sees questions and options. */
export const languageParameter = Type.Optional(
  Type.String({
    minLength: 2,
    maxLength: 35,
    description:
      'Calls questions and options as the form does in this language (a BCP-47 tag), where it is written in it.',
  }),
);

export const SummaryQuery = Type.Object(
  {
    ...createdParameters,
    time_zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The zone whose days are counted, like Europe/Berlin; UTC when it is left out.',
      }),
    ),
    language: languageParameter,
    sample: Type.Optional(
      Type.Enum(['newest', 'all'], {
        description: 'From which submissions answers are added up: the newest 10,000, or all.',
      }),
    ),
  },
  closed,
);
export type SummarySample = NonNullable<Static<typeof SummaryQuery>['sample']>;

// The table -----------------------------------------------------------------------------------------------

/** How a person has arranged the table of a form. Ids are those of columns; widths are in px. */
export const TableSettings = Type.Object(
  {
    order: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 2_000 }),
    hidden: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 2_000 }),
    widths: Type.Record(Type.String({ maxLength: 100 }), Type.Number({ minimum: 16, maximum: 2_000 }), {
      maxProperties: 2_000,
    }),
    /** How many columns behind the first stay in place with it. */
    pinned: Type.Integer({ minimum: 0, maximum: 20 }),
    /** Several lines of text in a row, instead of one. */
    is_tall: Type.Boolean(),
  },
  closed,
);
export type TableSettings = Static<typeof TableSettings>;

const row = {
  id: uuid,
  status: Type.Enum([...submissionStatuses]),
  version: Type.Integer({ description: 'Of the form, which was answered.' }),
  answers: Type.Unsafe<Answers>(
    Type.Object({}, { additionalProperties: true, description: 'By element id; files without a link.' }),
  ),
  reference: Type.Record(Type.String(), Type.String()),
  created_at: timestamp,
  updated_at: timestamp,
  completed_at: orNull(timestamp),
  tags: Type.Array(Type.String()),
  hits: Type.Array(Type.String(), {
    description: 'The words that the search found, as they are written in this submission.',
  }),
};
export const TableRow = named('SubmissionRow', Type.Object(row));
export type TableRow = Static<typeof TableRow>;
export const TablePage = listOf(TableRow);
export type TablePage = Static<typeof TablePage>;

const asked = {
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  options: Type.Array(Type.String(), { description: 'What answers keep of each option.' }),
  option_labels: Type.Record(Type.String(), Type.String(), {
    description:
      'What people read of an option, where that is another text than what answers keep; of former options too.',
  }),
  rows: Type.Array(Type.Object({ id: Type.String(), label: Type.String() }), {
    description: 'The rows of a matrix, former ones last.',
  }),
};
export const TableColumns = Type.Object({
  data: Type.Array(
    named(
      'Column',
      Type.Unsafe<Column>(
        Type.Object({ ...asked, inputs: Type.Array(Type.Object(asked)), is_retired: Type.Boolean() }),
      ),
    ),
  ),
});
export type TableColumns = Static<typeof TableColumns>;

export type LinkedFile = Static<typeof FileUpload>;

export const SubmissionDetail = named(
  'SubmissionView',
  Type.Object({
    ...row,
    answers: Type.Unsafe<Answers>(AnswersShape),
    form_name: Type.String(),
    /** The version that was answered. */
    structure: Type.Unsafe<Form>({ 'x-component': 'Structure' }),
    is_live_version: Type.Boolean(),
    previous_id: Type.Union([uuid, Type.Null()], { description: 'What stands above it in the view.' }),
    next_id: Type.Union([uuid, Type.Null()], { description: 'What stands below it in the view.' }),
    etag: Type.String({ description: 'For If-Match of what changes it.' }),
  }),
);
export type SubmissionDetail = Static<typeof SubmissionDetail>;

// The history ---------------------------------------------------------------------------------------------

const difference = Type.Object({
  part: Type.Enum(['answers', 'reference', 'status', 'tags']),
  name: Type.String({
    description: "The element's id, or the name of a reference value; empty for the status and the tags.",
  }),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});
export const TimelineEntry = named(
  'TimelineEntry',
  Type.Union([
    Type.Object({ kind: Type.Enum(['created', 'completed']), at: timestamp }),
    Type.Object({
      kind: Type.Enum([...changeKinds]),
      at: timestamp,
      by: Type.Union([Type.String(), Type.Null()], {
        description:
          "The member who did it; null for somebody who is gone, or through the submission's own link.",
      }),
      through: Type.Enum([...changeThroughs]),
      changes: Type.Array(difference),
    }),
    Type.Object(
      {
        kind: Type.Enum(['delivery', 'resend']),
        at: timestamp,
        event: Type.String(),
        status: Type.Enum(['Success', 'Failed', 'Retrying']),
        webhook_id: uuid,
        delivery_id: uuid,
        url: Type.String(),
      },
      { description: 'A delivery began, or was sent again by hand. Shown to who may read webhooks.' },
    ),
  ]),
);
export type TimelineEntry = Static<typeof TimelineEntry>;
/** Newest first. */
export const Timeline = Type.Object({
  data: Type.Array(TimelineEntry),
  is_cut: Type.Boolean({ description: 'More happened than is listed.' }),
});
export type Timeline = Static<typeof Timeline>;

// The summary ---------------------------------------------------------------------------------------------

const Bar = Type.Object({
  label: Type.String(),
  option: Type.Optional(
    Type.String({
      description: 'What answers keep of the option, where that is another text than its label.',
    }),
  ),
  count: Type.Integer(),
  image: Type.Optional(
    Type.String({ format: 'uuid', description: 'Of an option that the live version shows as a picture.' }),
  ),
  from: Type.Optional(
    Type.Union([Type.Number(), Type.String()], {
      description:
        'Of numbers, dates and times, the least answer that is counted here; absent where none is, as is `to`.',
    }),
  ),
  to: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'The greatest of them.' })),
  places: Type.Optional(
    Type.Object(
      { capacity: Type.Integer(), left: Type.Integer() },
      {
        description:
          'Of an option with a `capacity` in the live version: how many places it has, and how many of them are left now, whatever span is asked for.',
      },
    ),
  ),
  mean: Type.Optional(
    Type.Number({ description: 'Of a ranked option, its mean place; `count` is how many put it first.' }),
  ),
});
export type Bar = Static<typeof Bar>;

/** The answers to one question, as far as its kind lets them be added up. */
export const ElementSummary = Type.Object({
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  is_retired: Type.Boolean(),
  /** The label of the repeatable composite that the question is asked in; its rows are counted, not submissions. */
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
  bars: Type.Array(Bar, {
    description: 'Of texts, those that were written more than once, whatever their case.',
  }),
  rows: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        label: Type.String(),
        answered: Type.Integer(),
        bars: Type.Array(Bar),
      }),
      { description: 'Of a matrix: how often each option was chosen in each of its rows.' },
    ),
  ),
  numbers: orNull(Type.Object({ min: Type.Number(), max: Type.Number(), mean: Type.Number() })),
  score: Type.Optional(
    Type.Number({
      description:
        'Of a scale from 0 to 10: the percent who chose 9 or 10 less those who chose 6 or less (the net promoter score).',
    }),
  ),
  /** The latest few answers that are free text, unless they tell who somebody is. */
  texts: Type.Array(Type.Object({ submission_id: uuid, text: Type.String() })),
});
export type ElementSummary = Static<typeof ElementSummary>;

export const Summary = Type.Object({
  completed: Type.Integer(),
  incomplete: Type.Integer(),
  /** From 0 to 1; null without submissions. */
  completion_rate: orNull(Type.Number()),
  /** Days without submissions are left out. */
  days: Type.Array(
    Type.Object({ day: Type.String(), completed: Type.Integer(), incomplete: Type.Integer() }),
  ),
  /** How many of the newest submissions the elements were added up from; everything else counts all. */
  sampled: Type.Integer(),
  elements: Type.Array(ElementSummary),
});
export type Summary = Static<typeof Summary>;
