import { sayNumber } from '#ast/say-number.ts';
import { guardFormula, readCsv, unguardFormula } from '#ast/csv.ts';
import { countCharacters } from '#ast/text.ts';
import { fixedHeads, guardedHead } from '../export/cells.ts';

/** Lines, columns and characters of one import, and the bytes of a workbook, packed. */
export const importLimits = {
  lines: 10_000,
  columns: 100,
  characters: 5_000_000,
  workbookBytes: 4_000_000,
} as const;

/** What a cell holds: what a workbook knows to be a number is one. Days and times are ISO 8601. */
export type Cell = string | number | boolean;

/** A line of a file with its number, as a person counts it. */
export type TableLine = { line: number; cells: readonly Cell[] };

/**
 * The lines of a file; `total` counts those too that are too many to be kept. `apostrophe`: the first line where nothing but
 * the other cells tells whether an apostrophe guards what looks like a formula, or belongs to the text.
 */
export type Table = {
  lines: TableLine[];
  total: number;
  apostrophe?: { readonly line: number; readonly isRemoved: boolean };
};

/** A file as it is sent: the text of a CSV file, or a workbook in base64. */
export type TableSource = { kind: 'csv'; text: string } | { kind: 'xlsx'; data: string };

/** The lines of a CSV file, or why it cannot be read. */
export function readCsvTable(text: string): Table | string {
  if (countCharacters(text) > importLimits.characters)
    return `The text is longer than ${sayNumber(importLimits.characters)} characters. Import it in parts.`;
  const csv = readCsv(text, importLimits.lines + 1);
  if (!csv.ok) return csv.problem;
  const lines = joinHeadings(csv.records);
  const total = csv.total - (csv.records.length - lines.length);
  const { isGuarded, isSure } = findGuards(text, lines);
  const first = isSure
    ? undefined
    : lines.find(({ cells }) => cells.some((cell) => unguardFormula(cell) !== cell));
  return {
    lines: isGuarded ? lines.map(({ line, cells }) => ({ line, cells: cells.map(unguardFormula) })) : lines,
    total,
    ...(first && { apostrophe: { line: first.line, isRemoved: isGuarded } }),
  };
}

type TextLine = { line: number; cells: string[] };

/**
 * Whether texts that look like formulas have an apostrophe before them. Our export for spreadsheets has, and says so by the
 * quotes around its first heading; our export for programs has none. In another file they have unless one stands bare.
 */
function findGuards(text: string, lines: readonly TextLine[]): { isGuarded: boolean; isSure: boolean } {
  if (new RegExp(`^\uFEFF?${guardedHead},`).test(text)) return { isGuarded: true, isSure: true };
  if (text.startsWith(`${fixedHeads[0]},`)) return { isGuarded: false, isSure: false };
  const isBare = (cell: string): boolean =>
    guardFormula(cell) !== cell && unguardFormula(cell) === cell && !/^[+-]?[\d.,]+$/.test(cell);
  const isGuarded = !lines.some(({ cells }) => cells.some(isBare));
  return { isGuarded, isSure: false };
}

/**
 * SurveyMonkey has two lines of headings: below a question stand its rows and choices, or `Response`. One is made of
 * them: `Meals [Cake]`.
 */
function joinHeadings(lines: readonly TextLine[]): TextLine[] {
  const [first, second, ...rest] = lines;
  if (!first || !second || first.cells[0]?.trim() !== 'Respondent ID' || second.cells[0]?.trim() !== '')
    return [...lines];
  let question = '';
  const cells = Array.from({ length: Math.max(first.cells.length, second.cells.length) }, (_, index) => {
    question = first.cells[index]?.trim() || question;
    const part = second.cells[index]?.trim() ?? '';
    return part === '' || /^(?:Open-Ended )?Response$/.test(part) ? question : `${question} [${part}]`;
  });
  return [{ line: first.line, cells }, ...rest];
}

/** What is wrong with a table as a whole; undefined when it can be used. */
export function tableProblem({ lines, total }: Table): string | undefined {
  if (lines.length < 2)
    return 'There is nothing in it: its first line names the columns, and each further one is a submission.';
  if (total - 1 > importLimits.lines)
    return `It has ${sayNumber(total - 1)} lines; at most ${sayNumber(importLimits.lines)} can be imported at once. Import it in parts.`;
  if (lines.some(({ cells }) => cells.length > importLimits.columns))
    return `There are more than ${importLimits.columns} columns.`;
  return undefined;
}
