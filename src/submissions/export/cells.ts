import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { own } from '#ast/json.ts';
import type { ConsentAnswer, GridAnswer } from '#ast/types/rules.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { SubmissionStatus } from '../queries.ts';

type Asked = Pick<Column, 'option_labels' | 'rows'> & Partial<Pick<Column, 'inputs'>>;

/** What a cell of an export holds; undefined is an empty cell. */
export type Cell = string | number | Date | undefined;

/** A submission as an export reads it, with its JSON as text; times are ISO 8601 in UTC with milliseconds. */
export type ExportedSubmission = {
  id: string;
  status: SubmissionStatus;
  created_at: string;
  completed_at: string | null;
  answers: string;
  reference: string;
};

const fixedHeads = ['Submission ID', 'Status', 'Created at', 'Completed at'] as const;
const lastHead = 'Reference';

/** The head of an export: labels in form order, with the id where a label alone would not be unique; one for each row of a matrix. */
export function headCells(columns: readonly Column[]): string[] {
  const labels = [...fixedHeads, lastHead, ...columns.map((column) => column.label)];
  const times = Map.groupBy(labels, (label) => label);
  const heads = columns.flatMap(({ id, label, rows }) => {
    const head = times.get(label)!.length > 1 ? `${label} (${id})` : label;
    return rows.length === 0 ? [head] : rows.map((row) => `${head} [${row.label}]`);
  });
  return [...fixedHeads, ...heads, lastHead];
}

/** A submission as cells, as many as the head has. */
export function bodyCells(columns: readonly Column[], submission: ExportedSubmission): Cell[] {
  const { id, status, created_at, completed_at, reference } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  return [
    id,
    status,
    new Date(created_at),
    completed_at === null ? undefined : new Date(completed_at),
    ...columns.flatMap((column) => answerCells(own(answers, column.id), column)),
    referenceCell(reference),
  ];
}

/** Reference data as one cell; most submissions have none. */
export function referenceCell(reference: string): string | undefined {
  const text = reference === '{}' ? reference : JSON.stringify(JSON.parse(reference));
  return text === '{}' ? undefined : text;
}

/** An answer as the cells of its column: of a matrix one for each row; what is no answer of rows stands in the first. */
export function answerCells(value: AnswerValue | undefined, column: Asked): Cell[] {
  const { rows } = column;
  if (rows.length === 0) return [answerCell(value, column)];
  return rows.map(({ id }, index) =>
    isGrid(value)
      ? answerCell(own<AnswerValue>(value, id), column)
      : index === 0
        ? answerCell(value, column)
        : undefined,
  );
}

/**
 * An answer as one cell. The value decides, not the type of today: the element may have had another one when it was
 * answered. Options are said by their labels; choices and file names are joined by "; ", the rows of a repeatable composite lie under each other.
 */
function answerCell(value: AnswerValue | undefined, column: Asked): Cell {
  if (value === undefined || typeof value === 'number') return value;
  if (typeof value === 'string') return optionLabel(column, value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (isGrid(value)) return rowText(value, column);
  const items: readonly (string | FileAnswer | AnswerRow)[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0) return rows.map((row) => rowText(row, column)).join('\n');
  return items
    .flatMap((item) =>
      typeof item === 'string' ? optionLabel(column, item) : isFile(item) ? item.filename : [],
    )
    .join('; ');
}

/** Both are objects; no row is known by exactly what a file has. */
const isFile = (item: FileAnswer | AnswerRow): item is FileAnswer =>
  ['id', 'filename', 'size', 'content_type'].every((name) => Object.hasOwn(item, name));
const isRow = (item: string | FileAnswer | AnswerRow): item is AnswerRow =>
  typeof item === 'object' && !isFile(item);

/** A matrix, or a consent. */
const isGrid = (value: AnswerValue | undefined): value is GridAnswer | ConsentAnswer =>
  typeof value === 'object' && !Array.isArray(value);

/** A row of a repeatable composite, or all of a matrix. */
function rowText(row: AnswerRow, { option_labels, rows, inputs = [] }: Asked): string {
  const known = new Map<string, Asked & { label: string }>(inputs.map((input) => [input.id, input]));
  for (const { id, label } of rows) known.set(id, { label, option_labels, rows: [] });
  return Object.entries(row)
    .map(([id, value]) => {
      const asked = known.get(id) ?? { label: id, option_labels: {}, rows: [] };
      return `${asked.label}: ${String(answerCell(value, asked) ?? '')}`;
    })
    .join('; ');
}
