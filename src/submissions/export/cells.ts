import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import type { ConsentAnswer, GridAnswer } from '#ast/types/rules.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { SubmissionStatus } from '../submission-rows.ts';

/*
 * The format of cells with several values: `Tea; "Cake; two pieces"` is a list, and `Name: Ada; Meals: "Tea;
 * Cake"` are the pairs of a row. Each row of a repeatable group has its own line. Values are quoted only if
 * necessary.
 */

const needsQuotes = /[;\r\n]|^["\s]|\s$|^$/;

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Formats a value so that a list of formatted values can be parsed again. */
const formatValue = (text: string): string => (needsQuotes.test(text) ? quote(text) : text);

const formatList = (values: readonly string[]): string => values.map(formatValue).join('; ');

/** Formats the pairs of one row. */
const formatPairs = (pairs: readonly (readonly [label: string, value: string])[]): string =>
  pairs
    .map(([label, value]) => `${/:/.test(label) ? quote(label) : formatValue(label)}: ${formatValue(value)}`)
    .join('; ');

/**
 * A value and the position of the separator after it; undefined if a quote is not closed or text follows it.
 */
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

/** Parses a list separated by semicolons or line breaks; undefined if its quotes do not match. */
export function parseListCell(source: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; at < source.length; ) {
    const token = readToken(source, at, /[;\r\n]/);
    if (!token) return undefined;
    if (token.text !== '' || source[at] === '"') values.push(token.text);
    at = token.end + 1;
  }
  return values;
}

/** Parses rows of pairs; undefined if the text has another format. */
export function parseRowsCell(source: string): [label: string, value: string][][] | undefined {
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

type CellQuestion = Pick<Column, 'option_labels' | 'rows'> & Partial<Pick<Column, 'inputs'>>;

/** The value of a cell in an export; undefined for an empty cell. */
export type ExportCell = string | number | Date | undefined;

/** A submission as exports read it, with its JSON as text. Times are ISO 8601 in UTC with milliseconds. */
export type ExportedSubmission = {
  id: string;
  status: SubmissionStatus;
  created_at: string;
  completed_at: string | null;
  answers: string;
  reference: string;
  respondent?: string | null;
  stage_id?: string;
  assignee_id?: string | null;
};

/** The names of stages and members by id, for the last columns of an export. */
export type AssignmentNames = { stages: ReadonlyMap<string, string>; members: ReadonlyMap<string, string> };
export const assignmentHeadings = ['Stage', 'Assignee'] as const;
export const respondentHeadings = ['Respondent email', 'Respondent name'] as const;

/** The last columns of an export: the respondent, and the stage and assignee if there are names. */
export type LastColumns = { hasRespondents?: boolean; names?: AssignmentNames | undefined };

export const lastHeadings = ({ hasRespondents, names }: LastColumns): string[] => [
  ...(hasRespondents ? respondentHeadings : []),
  ...(names ? assignmentHeadings : []),
];

/** Returns the cells of the last columns. */
export function lastCells(
  { respondent, stage_id = '', assignee_id }: ExportedSubmission,
  { hasRespondents, names }: LastColumns,
): ExportCell[] {
  const { email, name } = (respondent ? JSON.parse(respondent) : {}) as Partial<Respondent>;
  return [
    ...(hasRespondents ? [email, name] : []),
    ...(names ? [names.stages.get(stage_id), names.members.get(assignee_id ?? '')] : []),
  ];
}

export const fixedExportHeadings = ['Submission ID', 'Status', 'Created at', 'Completed at'] as const;
export const referenceHeading = 'Reference';
/** The first heading of a CSV for spreadsheets. Its quotes tell an import that formulas are escaped. */
export const spreadsheetFirstHeading = `"${fixedExportHeadings[0]}"`;

/**
 * Returns the headings of an export: labels in form order, one for each row of a matrix. The id is added if a
 * label is not unique.
 * @param last the headings after the others.
 */
export function listExportHeadings(columns: readonly Column[], last: readonly string[] = []): string[] {
  const withIds = new Set<string>();
  for (;;) {
    const heads = columns.map((column) => ({ column, titles: titlesOf(column, withIds.has(column.id)) }));
    const all = [...fixedExportHeadings, referenceHeading, ...last, ...heads.flatMap(({ titles }) => titles)];
    const times = Map.groupBy(all, headKey);
    const repeated = heads.filter(
      ({ column, titles }) =>
        !withIds.has(column.id) && titles.some((title) => times.get(headKey(title))!.length > 1),
    );
    if (repeated.length === 0)
      return [...fixedExportHeadings, ...heads.flatMap(({ titles }) => titles), referenceHeading, ...last];
    // A label with an added id can equal the label of another column.
    for (const { column } of repeated) withIds.add(column.id);
  }
}

/** Imports ignore case and repeated spaces in headings. */
const headKey = (title: string): string => title.trim().replace(/\s+/g, ' ').toLowerCase();

function titlesOf({ id, label, rows }: Column, hasId: boolean): string[] {
  const title = hasId ? `${label} (${id})` : label;
  return rows.length === 0 ? [title] : rows.map((row) => `${title} [${row.label}]`);
}

/** Returns a submission as cells, one for each heading. */
export function toExportCells(columns: readonly Column[], submission: ExportedSubmission): ExportCell[] {
  const { id, status, created_at, completed_at, reference } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  return [
    id,
    status,
    new Date(created_at),
    completed_at === null ? undefined : new Date(completed_at),
    ...columns.flatMap((column) => answerCells(getProperty(answers, column.id), column)),
    referenceCell(reference),
  ];
}

/** Returns the reference data as one cell; most submissions have none. */
export function referenceCell(reference: string): string | undefined {
  const text = reference === '{}' ? reference : JSON.stringify(JSON.parse(reference));
  return text === '{}' ? undefined : text;
}

/**
 * Returns an answer as the cells of its column: one cell for each row of a matrix. An answer without rows is
 * in the first cell.
 */
export function answerCells(value: AnswerValue | undefined, column: CellQuestion): ExportCell[] {
  const { rows } = column;
  if (rows.length === 0) return [answerCell(value, column)];
  if (!isGrid(value)) return rows.map((_, index) => (index === 0 ? answerCell(value, column) : undefined));
  const plain = withPlainText(value);
  return rows.map(({ id }) => answerCell(getProperty<AnswerValue>(plain, id), column));
}

/**
 * Returns an answer as one cell. The value decides the format, not the current type, because the element may
 * have had another type. Options are written by label. Several choices or files are written as a list. Each
 * row of a repeatable group is a line of labels and values, so that an import can read it again.
 */
function answerCell(value: AnswerValue | undefined, column: CellQuestion): ExportCell {
  if (value === undefined || typeof value === 'number') return value;
  if (typeof value === 'string') return optionLabel(column, value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (isGrid(value)) return rowText(withPlainText(value), column);
  const items: readonly (string | FileAnswer | AnswerRow)[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0) return rows.map((row) => rowText(row, column)).join('\n');
  return formatList(
    items.flatMap((item) =>
      typeof item === 'string' ? optionLabel(column, item) : isFile(item) ? item.filename : [],
    ),
  );
}

/** Files and rows are both objects, but no row has exactly the properties of a file. */
const isFile = (item: FileAnswer | AnswerRow): item is FileAnswer =>
  ['id', 'filename', 'size', 'content_type'].every((name) => Object.hasOwn(item, name));
const isRow = (item: string | FileAnswer | AnswerRow): item is AnswerRow =>
  typeof item === 'object' && !isFile(item);

/** Whether the answer is a matrix or a consent. */
const isGrid = (value: AnswerValue | undefined): value is GridAnswer | ConsentAnswer =>
  typeof value === 'object' && !Array.isArray(value);

/**
 * Removes the marks from the accepted text of a consent. Returns a matrix unchanged. Not for rows of a group,
 * which can look like a consent.
 */
const withPlainText = <Given extends object>(value: Given): Given =>
  'agreed' in value && value.agreed === true && 'text' in value && typeof value.text === 'string'
    ? { ...value, text: stripInlineMarkup(value.text) }
    : value;

/** Formats a row of a repeatable group, or a whole matrix. */
function rowText(row: AnswerRow, question: CellQuestion): string {
  const parts = partsOf(question);
  return formatPairs(
    Object.entries(row).map(([id, value]) => {
      const { title, part } = parts.get(id) ?? { title: id, part: { option_labels: {}, rows: [] } };
      return [title, String(answerCell(value, part) ?? '')];
    }),
  );
}

/** Returns the questions of a row by id with their labels; the id is added if two labels are equal. */
const partsOf = memoizeByObject(({ option_labels, rows, inputs = [] }: CellQuestion) => {
  const parts = new Map<string, CellQuestion & { readonly label: string }>(
    inputs.map((input) => [input.id, input]),
  );
  for (const { id, label } of rows) parts.set(id, { label, option_labels, rows: [] });
  const times = Map.groupBy(parts.values(), ({ label }) => headKey(label));
  const titleOf = (id: string, label: string): string =>
    times.get(headKey(label))!.length > 1 ? `${label} (${id})` : label;
  return new Map([...parts].map(([id, part]) => [id, { title: titleOf(id, part.label), part }]));
});
