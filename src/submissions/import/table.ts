import { sayNumber } from '#ast/say-number.ts';
import { readCsv, unguardFormula } from '#ast/csv.ts';
import { countCharacters } from '#ast/text.ts';

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

/** The lines of a file; `total` counts those too that are too many to be kept. */
export type Table = { lines: TableLine[]; total: number };

/** A file as it is sent: the text of a CSV file, or a workbook in base64. */
export type TableSource = { kind: 'csv'; text: string } | { kind: 'xlsx'; data: string };

/** The lines of a CSV file, or why it cannot be read. */
export function readCsvTable(text: string): Table | string {
  if (countCharacters(text) > importLimits.characters)
    return `The text is longer than ${sayNumber(importLimits.characters)} characters. Import it in parts.`;
  const csv = readCsv(text, importLimits.lines + 1);
  if (!csv.ok) return csv.problem;
  return {
    lines: csv.records.map(({ line, cells }) => ({ line, cells: cells.map(unguardFormula) })),
    total: csv.total,
  };
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
