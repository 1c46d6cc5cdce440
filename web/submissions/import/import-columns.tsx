import type { ReactElement } from 'react';
import { ColumnChoices } from '../../design/column-choices.tsx';
import { type Choice, Select } from '../../design/select.tsx';
import type { ColumnUse, ImportPreview, ImportSource } from './import-query.ts';

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
  const change = (how: How): void => onChange({ mapping, dates, decimal, ...how });
  const choose = (index: number, id: string): void =>
    change({
      mapping: mapping.map((use, at) => (at === index ? columnUse(id, columns[index]!.title) : use)),
    });
  return (
    <>
      <div className="import-writing">
        <Select
          label="Days are written"
          choices={orders}
          value={dates}
          onChange={(order) => change({ dates: order })}
        />
        <Select
          label="Before decimals stands"
          choices={decimals}
          value={decimal}
          onChange={(mark) => change({ decimal: mark })}
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
  { id: idOf({ as: 'submitted_at' }), label: 'Moment of the submission' },
  { id: 'reference', label: 'Reference data', description: 'Kept beside the answers' },
  ...questions.flatMap(({ id, label, rows }) =>
    rows.length === 0
      ? [{ id: idOf({ as: 'answer', name: id }), label: `Answer: ${label}` }]
      : rows.map((row) => ({
          id: idOf({ as: 'answer', name: id, row: row.id }),
          label: `Answer: ${label} [${row.label}]`,
        })),
  ),
];

/** A use as the id of a choice; every reference value is one choice, as it is called like its column. */
const idOf = (use: ColumnUse): string => (use.as === 'reference' ? 'reference' : JSON.stringify(use));

const columnUse = (id: string, title: string): ColumnUse =>
  id === 'reference' ? { as: 'reference', name: title.slice(0, 64) } : (JSON.parse(id) as ColumnUse);
