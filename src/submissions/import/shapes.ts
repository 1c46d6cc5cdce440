import { Type } from 'typebox';
import { failedReason } from '#kit/validation.ts';
import { importLimits } from './table.ts';

const closed = { additionalProperties: false } as const;
const name = Type.String({ minLength: 1, maxLength: 64 });

const ColumnUse = Type.Union([
  Type.Object(
    {
      as: Type.Literal('answer'),
      name,
      row: Type.Optional(
        Type.String({ maxLength: 1_024, description: 'The row of a matrix, or the part of a consent.' }),
      ),
      option: Type.Optional(
        Type.String({
          maxLength: 1_024,
          description: 'The one choice that the column is about; `_other` for another answer.',
        }),
      ),
    },
    closed,
  ),
  Type.Object({ as: Type.Literal('reference'), name }, closed),
  Type.Object(
    { as: Type.Enum(['reference_data', 'started_at', 'submitted_at', 'ignore']) },
    { ...closed, description: '`reference_data` is an object of texts in JSON, as exports have it.' },
  ),
]);
const dates = Type.Enum(['ymd', 'dmy', 'mdy']);
const decimal = Type.Enum(['.', ',']);

/** A file, and how it is meant. */
export const ImportBody = Type.Object(
  {
    kind: Type.Enum(['csv', 'xlsx']),
    text: Type.Optional(
      Type.String({ description: 'Of a CSV file: its text. The first line names the columns.' }),
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
        description: 'What each column becomes, in their order. By their headings, when left out.',
      }),
    ),
    dates: Type.Optional(
      Type.Enum(['ymd', 'dmy', 'mdy'], {
        description: 'The order of days in every column. Guessed for each column when left out.',
      }),
    ),
    decimal: Type.Optional(
      Type.Enum(['.', ','], {
        description: 'The mark before decimals in every column. Guessed for each column when left out.',
      }),
    ),
  },
  closed,
);

const place = {
  line: Type.Integer(),
  column: Type.Union([Type.String(), Type.Null()], { description: 'Its heading; null: of the whole line.' }),
  message: Type.String(),
};
const problem = Type.Object({
  ...place,
  is_left_out: Type.Boolean({ description: 'The whole line is left out, else only this cell.' }),
});
const problems = {
  problem_count: Type.Integer(),
  problems: Type.Array(problem, { description: 'The first 100.' }),
  doubts: Type.Array(Type.Object(place), {
    description:
      'What is read in one of several ways that it could be meant, such as 03/04/2000. The first 100.',
  }),
};

const named = Type.Object({ id: Type.String(), label: Type.String() });

export const ImportPreview = Type.Object({
  columns: Type.Array(Type.Object({ title: Type.String(), samples: Type.Array(Type.String()) })),
  mapping: Type.Array(ColumnUse),
  dates,
  decimal,
  total: Type.Integer({ description: 'So many submissions would be made.' }),
  entries: Type.Array(
    Type.Object({
      line: Type.Integer(),
      answers: Type.Unsafe<object>({ type: 'object' }),
      reference: Type.Record(Type.String(), Type.String()),
      started_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
      submitted_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    }),
    { description: 'The first ten.' },
  ),
  questions: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.String(),
      type: Type.String({ description: 'Its element type; each row of a matrix has a column of its own.' }),
      rows: Type.Array(named, { description: 'The rows of a matrix and the parts of a consent.' }),
      options: Type.Array(named, {
        description: 'The choices that may each have a column, where several can be chosen.',
      }),
    }),
    { description: 'What columns can answer.' },
  ),
  ...problems,
});

export const ImportStarted = Type.Object({
  id: Type.String({ format: 'uuid' }),
  total: Type.Integer({ description: 'The lines that are to become submissions.' }),
  ...problems,
});

export const ImportProgress = Type.Object({
  id: Type.String({ format: 'uuid' }),
  total: Type.Integer({ description: 'The lines of the file, also those that were left out.' }),
  created: Type.Integer({ description: 'The lines that have become submissions.' }),
  refused: Type.Integer({
    description:
      'The lines that were left out: they have a problem, were imported before, or their answer was taken.',
  }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
  requested_by: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.String({ format: 'date-time' }),
  finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  failed_reason: failedReason,
});
