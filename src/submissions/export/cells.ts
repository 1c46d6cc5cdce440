import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { factOf } from '#ast/basics/fact-of.ts';
import { own } from '#ast/basics/json.ts';
import type { ConsentAnswer, GridAnswer } from '#ast/types/rules.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { SubmissionStatus } from '../submission-rows.ts';

/*
 * A cell that holds several values: `Tea; "Cake; two pieces"` is a list, and `Name: Ada; Meals: "Tea; Cake"` the pairs of
 * a row, with the rows of a repeatable composite on lines of their own. A value is quoted only where it must be.
 */

const needsQuotes = /[;\r\n]|^["\s]|\s$|^$/;

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Writes a value so that a list of values can be read again. */
const formatValue = (text: string): string => (needsQuotes.test(text) ? quote(text) : text);

const formatList = (values: readonly string[]): string => values.map(formatValue).join('; ');

/** Writes the pairs of one row. */
const formatPairs = (pairs: readonly (readonly [label: string, value: string])[]): string =>
  pairs
    .map(([label, value]) => `${/:/.test(label) ? quote(label) : formatValue(label)}: ${formatValue(value)}`)
    .join('; ');

/** A value and where the mark after it is; undefined where a quote is not closed, or text follows one. */
type Token = { readonly text: string; readonly end: number };

function readToken(source: string, start: number, ends: RegExp): Token | undefined {
  let at = start;
  while (source[at] === ' ') at += 1;
  if (source[at] !== '"') {
    const length = source.slice(at).search(ends);
    const end = length < 0 ? source.length : at + length;
    return { text: source.slice(at, end).trim(), end };
  }
  const [quoted] = /^"(?:[^"]|"")*"/.exec(source.slice(at)) ?? [];
  if (quoted === undefined) return undefined;
  let end = at + quoted.length;
  while (source[end] === ' ') end += 1;
  if (end < source.length && !ends.test(source[end]!)) return undefined;
  return { text: quoted.slice(1, -1).replaceAll('""', '"'), end };
}

/** Reads a list, between semicolons or line breaks; undefined where its quotes do not fit. */
export function parseList(source: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; at < source.length; ) {
    const token = readToken(source, at, /[;\r\n]/);
    if (!token) return undefined;
    if (token.text !== '' || source[at] === '"') values.push(token.text);
    at = token.end + 1;
  }
  return values;
}

/** Reads rows of pairs; undefined where the text is none. */
export function parseRows(source: string): [label: string, value: string][][] | undefined {
  const rows: [string, string][][] = [[]];
  for (let at = 0; at < source.length; ) {
    const label = readToken(source, at, /[:\r\n]/);
    if (!label || source[label.end] !== ':') return undefined;
    const value = readToken(source, label.end + 1, /[;\r\n]/);
    if (!value) return undefined;
    rows.at(-1)!.push([label.text, value.text]);
    at = value.end + 1;
    if (/[\r\n]/.test(source[value.end] ?? '')) {
      if (source.startsWith('\r\n', value.end)) at += 1;
      if (at < source.length) rows.push([]);
    }
  }
  return rows.filter((row) => row.length > 0);
}

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

export const fixedHeads = ['Submission ID', 'Status', 'Created at', 'Completed at'] as const;
export const lastHead = 'Reference';
/** The first heading as a CSV for spreadsheets writes it: by its quotes an import knows that formulas are guarded. */
export const guardedHead = `"${fixedHeads[0]}"`;

/** The head of an export: labels in form order, with the id where a label alone would not be unique; one for each row of a matrix. */
export function headCells(columns: readonly Column[]): string[] {
  const withIds = new Set<string>();
  for (;;) {
    const heads = columns.map((column) => ({ column, titles: titlesOf(column, withIds.has(column.id)) }));
    const all = [...fixedHeads, lastHead, ...heads.flatMap(({ titles }) => titles)];
    const times = Map.groupBy(all, headKey);
    const repeated = heads.filter(
      ({ column, titles }) =>
        !withIds.has(column.id) && titles.some((title) => times.get(headKey(title))!.length > 1),
    );
    if (repeated.length === 0) return [...fixedHeads, ...heads.flatMap(({ titles }) => titles), lastHead];
    // A label that an id is added to may be that of another column.
    for (const { column } of repeated) withIds.add(column.id);
  }
}

/** Headings are one to an import that differ in capital letters and spaces alone. */
const headKey = (title: string): string => title.trim().replace(/\s+/g, ' ').toLowerCase();

function titlesOf({ id, label, rows }: Column, hasId: boolean): string[] {
  const title = hasId ? `${label} (${id})` : label;
  return rows.length === 0 ? [title] : rows.map((row) => `${title} [${row.label}]`);
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
 * answered. Options are written by their labels. Several choices or files are a list, rows of a repeatable composite are
 * pairs of labels and values on lines of their own (list-cell.ts), so that an import reads the same again.
 */
function answerCell(value: AnswerValue | undefined, column: Asked): Cell {
  if (value === undefined || typeof value === 'number') return value;
  if (typeof value === 'string') return optionLabel(column, value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (isGrid(value)) return rowText(value, column);
  const items: readonly (string | FileAnswer | AnswerRow)[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0) return rows.map((row) => rowText(row, column)).join('\n');
  return formatList(
    items.flatMap((item) =>
      typeof item === 'string' ? optionLabel(column, item) : isFile(item) ? item.filename : [],
    ),
  );
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
function rowText(row: AnswerRow, asked: Asked): string {
  const parts = partsOf(asked);
  return formatPairs(
    Object.entries(row).map(([id, value]) => {
      const { title, part } = parts.get(id) ?? { title: id, part: { option_labels: {}, rows: [] } };
      return [title, String(answerCell(value, part) ?? '')];
    }),
  );
}

/** What a row asks, by id, with the label of each, and its id too where another has that label. */
const partsOf = factOf(({ option_labels, rows, inputs = [] }: Asked) => {
  const parts = new Map<string, Asked & { readonly label: string }>(inputs.map((input) => [input.id, input]));
  for (const { id, label } of rows) parts.set(id, { label, option_labels, rows: [] });
  const times = Map.groupBy(parts.values(), ({ label }) => headKey(label));
  const titleOf = (id: string, label: string): string =>
    times.get(headKey(label))!.length > 1 ? `${label} (${id})` : label;
  return new Map([...parts].map(([id, part]) => [id, { title: titleOf(id, part.label), part }]));
});
