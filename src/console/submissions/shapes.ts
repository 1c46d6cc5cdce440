import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers.ts';
import type { Form } from '#ast/tree.ts';
import type { Column } from '#submissions/columns.ts';
import { pageParameters, Pagination } from '#kit/pagination.ts';
import { exportFormats } from '#submissions/export/formats.ts';
import type { Difference } from '#submissions/history/differences.ts';
import type { ChangeKind, ChangeThrough } from '#submissions/history/queries.ts';
import { formFilterParameters } from '#submissions/filter/read-filter.ts';
import { submissionStatuses } from '#submissions/queries.ts';

export type { Column, Difference };

const uuid = Type.String({ format: 'uuid' });
const timestamp = Type.String({ format: 'date-time' });
const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);
const Status = Type.Enum([...submissionStatuses]);
const closed = { additionalProperties: false } as const;

// Paths ---------------------------------------------------------------------------------------------------

export const FormPath = Type.Object({ form: uuid });
export const SubmissionPath = Type.Object({ form: uuid, submission: uuid });
export const FilePath = Type.Object({ form: uuid, submission: uuid, file: uuid });

// Questions -----------------------------------------------------------------------------------------------

const viewParameters = {
  ...formFilterParameters,
  /** Words, as in the search of the API. */
  q: Type.Optional(Type.String()),
};

/** Which submissions of a form are looked at; everything is optional. */
export const ViewQuery = Type.Object(viewParameters, closed);
export type ViewQuery = Static<typeof ViewQuery>;

export const TableQuery = Type.Object({ ...viewParameters, ...pageParameters }, closed);

export const ExportQuery = Type.Object(
  {
    ...viewParameters,
    format: Type.Enum([...exportFormats]),
    /** What a CSV is for: a spreadsheet gets a byte order mark, and no text that it could calculate. */
    for: Type.Optional(Type.Enum(['programs', 'spreadsheets'])),
    /** `shown`: only the columns that the person sees in their table, in their order. */
    columns: Type.Optional(Type.Enum(['all', 'shown'])),
  },
  closed,
);

export const SummaryQuery = Type.Object(
  {
    created_from: Type.Optional(timestamp),
    created_to: Type.Optional(timestamp),
    /** The zone whose days are counted, like Europe/Berlin. */
    time_zone: Type.String({ minLength: 1, maxLength: 64 }),
    /** From which of the submissions answers are added up: the newest few by themselves, all when a person asks. */
    sample: Type.Optional(Type.Enum(['newest', 'all'])),
  },
  closed,
);
export type SummarySample = NonNullable<Static<typeof SummaryQuery>['sample']>;

// Arrangement ---------------------------------------------------------------------------------------------

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

// Answers -------------------------------------------------------------------------------------------------

export const TableRow = Type.Object({
  id: uuid,
  status: Status,
  version: Type.Integer(),
  answers: Type.Unsafe<Answers>(Type.Object({})),
  reference: Type.Record(Type.String(), Type.String()),
  created_at: timestamp,
  updated_at: timestamp,
  completed_at: orNull(timestamp),
  tags: Type.Array(Type.String()),
  /** The words that the search found, as they are written in this submission. */
  hits: Type.Array(Type.String()),
});
export type TableRow = Static<typeof TableRow>;

export const TablePage = Type.Object({ data: Type.Array(TableRow), pagination: Pagination });
export type TablePage = Static<typeof TablePage>;

export const TableColumns = Type.Object({ data: Type.Array(Type.Unsafe<Column>(Type.Object({}))) });
export type TableColumns = Static<typeof TableColumns>;

/** A file of a submission; images of a kind that is safe to show have a `preview_url`. */
export type LinkedFile = {
  id: string;
  filename: string;
  size: number;
  content_type: string;
  url: string;
  preview_url?: string;
};

export const SubmissionDetail = Type.Object({
  ...TableRow.properties,
  form_name: Type.String(),
  /** The version that was answered; files in `answers` are of the type LinkedFile. */
  structure: Type.Unsafe<Form>(Type.Object({})),
  is_live_version: Type.Boolean(),
  /** In the view that was asked for. */
  previous_id: orNull(uuid),
  next_id: orNull(uuid),
  /** For If-Match of what changes it. */
  etag: Type.String(),
});
export type SubmissionDetail = Static<typeof SubmissionDetail>;

/** Something that happened to a submission. */
export type TimelineEntry = { at: string } & (
  | { kind: 'created' | 'completed' }
  | {
      kind: ChangeKind;
      /** The member who did it; null for somebody who is gone, or through the submission's own link. */
      by: string | null;
      through: ChangeThrough;
      changes: Difference[];
    }
  | {
      /** A delivery began, or was sent again by hand. */
      kind: 'delivery' | 'resend';
      event: string;
      status: 'Success' | 'Failed' | 'Retrying';
      webhook_id: string;
      delivery_id: string;
      url: string;
    }
);
/** Newest first. */
export type Timeline = { data: TimelineEntry[] };

const Bar = Type.Object({ label: Type.String(), count: Type.Integer() });
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
  chart: Type.Enum(['options', 'files', 'histogram', 'rows', 'months', 'hours', 'texts', 'count']),
  bars: Type.Array(Bar),
  numbers: orNull(Type.Object({ min: Type.Number(), max: Type.Number(), mean: Type.Number() })),
  /** The latest few answers that are free text. */
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
