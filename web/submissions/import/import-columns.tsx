import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { readQuery } from '../../api/operations.ts';
import { ColumnChoices } from '../../design/column-choices.tsx';
import { type Choice, Select } from '../../design/select.tsx';
import type { FormPlace } from '../queries.ts';

/** A file of answers, and how its columns and values are meant. */
export type ImportSource = InputOf<'startSubmissionImport'>['body'];
export type ImportPreview = ReplyOf<'previewSubmissionImport'>;
type ColumnUse = ImportPreview['mapping'][number];
export type ImportProgress = ReplyOf<'listSubmissionImports'>['data'][number];

export const importPreviewQuery = (form: FormPlace, source: ImportSource | undefined) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'previewSubmissionImport', { params: { id: form.id }, body: source! }),
    enabled: source !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });

/** The last imports of a form; asked for again while one is under way. */
export const importsQuery = (form: FormPlace) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listSubmissionImports', { params: { id: form.id } }),
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
  { id: '.', label: 'A point: 1,500.5' },
  { id: ',', label: 'A comma: 1.500,5' },
] as const;

type How = Pick<ImportSource, 'mapping' | 'dates' | 'decimal'>;

/** What each column of the file becomes, beside its first values, and how the file writes days and numbers. */
export function ImportColumns({
  preview,
  onChange,
}: {
  preview: ImportPreview;
  onChange: (how: How) => void;
}): ReactElement {
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
          label="Days are written"
          choices={orders}
          value={dates}
          onChange={(order) => onChange({ dates: order })}
        />
        <Select
          label="Before decimals stands"
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

const choicesOf = (questions: ImportPreview['questions']): Choice<string>[] => [
  { id: idOf({ as: 'ignore' }), label: 'Not used' },
  { id: idOf({ as: 'submitted_at' }), label: 'Time of submission' },
  { id: idOf({ as: 'started_at' }), label: 'Start time' },
  { id: 'reference', label: 'Reference value', description: 'Kept beside the answers' },
  { id: idOf({ as: 'reference_data' }), label: 'Reference data', description: 'As JSON, from an export' },
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

/** A use as the id of a choice; every reference value is one choice, as it is called like its column. */
const idOf = (use: ColumnUse): string => {
  if (use.as === 'reference') return 'reference';
  if (use.as !== 'answer') return JSON.stringify({ as: use.as });
  const { as, name, row, option } = use;
  return JSON.stringify({ as, name, row, option });
};

const columnUse = (id: string, title: string): ColumnUse =>
  id === 'reference' ? { as: 'reference', name: title.slice(0, 64) } : (JSON.parse(id) as ColumnUse);
