import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { operationQuery } from '../../api/operations.ts';
import { ColumnChoices } from '../../design/column-choices.tsx';
import { Select, type SelectChoice } from '../../design/select.tsx';
import type { FormLocation } from '../queries.ts';

/** A file of submissions, with the meaning of its columns and values. */
export type SubmissionImportInput = InputOf<'startSubmissionImport'>['body'];
export type SubmissionImportPreview = ReplyOf<'previewSubmissionImport'>;
type ColumnUse = SubmissionImportPreview['mapping'][number];
export type ImportProgress = ReplyOf<'listSubmissionImports'>['data'][number];

export const submissionImportPreviewQuery = (form: FormLocation, source: SubmissionImportInput | undefined) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'previewSubmissionImport', {
      params: { id: form.id },
      body: source!,
    }),
    enabled: source !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });

/** Recent imports of a form. Polls while one is running. */
export const importsQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listSubmissionImports', { params: { id: form.id } }),
    select: ({ data }) => data,
    refetchInterval: ({ state }) =>
      state.data?.data.some(
        ({ finished_at, failed_reason }) => finished_at === null && failed_reason === null,
      )
        ? 1_000
        : false,
  });

const orders = [
  { id: 'ymd', label: 'Year first: 2026-01-31' },
  { id: 'dmy', label: 'Day first: 31.1.2026' },
  { id: 'mdy', label: 'Month first: 1/31/2026' },
] as const;
const decimals = [
  { id: '.', label: 'Point: 1,500.5' },
  { id: ',', label: 'Comma: 1.500,5' },
] as const;

type How = Pick<SubmissionImportInput, 'mapping' | 'dates' | 'decimal'>;

type ImportColumnsProps = { preview: SubmissionImportPreview; onChange: (how: How) => void };

/** Maps the columns of the file, with their first values, and sets its date and number formats. */
export function ImportColumns({ preview, onChange }: ImportColumnsProps): ReactElement {
  const { columns, mapping, questions, dates, decimal } = preview;
  const choices = choicesOf(questions);
  const choose = (index: number, id: string): void =>
    onChange({
      mapping: mapping.map((use, at) => (at === index ? columnUse(id, columns[index]!.title) : use)),
    });
  return (
    <>
      <div className="import-writing">
        <Select
          label="Date format"
          choices={orders}
          value={dates}
          onChange={(order) => onChange({ dates: order })}
        />
        <Select
          label="Decimal separator"
          choices={decimals}
          value={decimal}
          onChange={(mark) => onChange({ decimal: mark })}
        />
      </div>
      <ColumnChoices
        columns={columns}
        choices={choices}
        chosen={columns.map((_, index) => idOf(mapping[index] ?? { as: 'ignore' }))}
        onChoose={choose}
      />
    </>
  );
}

const choicesOf = (questions: SubmissionImportPreview['questions']): SelectChoice<string>[] => [
  { id: idOf({ as: 'ignore' }), label: 'Not used' },
  { id: idOf({ as: 'submitted_at' }), label: 'Submitted at' },
  { id: idOf({ as: 'started_at' }), label: 'Started at' },
  { id: idOf({ as: 'stage' }), label: 'Stage' },
  { id: idOf({ as: 'assignee' }), label: 'Assignee', description: 'By name or email' },
  { id: 'reference', label: 'Reference data', description: 'Saved with the submission' },
  {
    id: idOf({ as: 'reference_data' }),
    label: 'Reference data as JSON',
    description: 'All names and values, from an export',
  },
  ...questions.flatMap(({ id, label, type, rows, options }) => [
    ...(type !== 'matrix' ? [{ id: idOf({ as: 'answer', name: id }), label: `Answer: ${label}` }] : []),
    ...rows.map((row) => ({
      id: idOf({ as: 'answer', name: id, row: row.id }),
      label: `Answer: ${label} [${row.label}]`,
    })),
    ...options.map((option) => ({
      id: idOf({ as: 'answer', name: id, option: option.id }),
      label: `Choice: ${label} [${option.label}]`,
    })),
  ]),
];

/**
 * Returns the ID of a column's use. All reference values share one option, because they are named after their
 * columns.
 */
const idOf = (use: ColumnUse): string => {
  if (use.as === 'reference') return 'reference';
  if (use.as !== 'answer') return JSON.stringify({ as: use.as });
  const { as, name, row, option } = use;
  return JSON.stringify({ as, name, row, option });
};

const columnUse = (id: string, title: string): ColumnUse =>
  id === 'reference' ? { as: 'reference', name: title.slice(0, 64) } : (JSON.parse(id) as ColumnUse);
