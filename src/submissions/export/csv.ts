import type { Answers } from '#ast/answers.ts';
import { own } from '#ast/json.ts';
import type { Column } from '../columns.ts';
import { answerCells, type Cell, type ExportedSubmission, referenceCell } from './cells.ts';

/**
 * Texts that a spreadsheet could take for a formula: those that begin with = + - @, their full-width and small
 * forms, a control character (a tab, a line break, ESC), also behind spaces and quotes (docs/rules.md T17, C57).
 */
const formulaStart =
  /^(?:\p{Cc}|[\s\p{Cf}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/u;

/** Most texts begin like this, and are no formula: so much is told in a tenth of the time. */
const plainStart = /^[A-Za-z0-9]/;

/**
 * A text that no spreadsheet calculates: an apostrophe goes before what could be a formula. It goes before a text
 * that begins with one as well, so that a reader who takes one leading apostrophe away always has the original.
 */
export const guardFormula = (text: string): string =>
  !plainStart.test(text) && (formulaStart.test(text) || text.startsWith("'")) ? `'${text}` : text;

/** What a text becomes in a file: guarded for a spreadsheet, as it is for a program. */
type TextWriter = (text: string) => string;
export const asItIs: TextWriter = (text) => text;

/**
 * One record of RFC 4180, for a spreadsheet unless it is said. Numbers are written as they are: a number is no formula,
 * also when it is negative.
 */
export function csvRecord(cells: readonly Cell[], write: TextWriter = guardFormula): string {
  return `${cells.map((cell) => csvField(cell, write)).join(',')}\r\n`;
}

/**
 * The record of a submission: what `csvRecord` makes of its `bodyCells`, in half of the time. Its id, its status and
 * its times are neither formulas nor quoted, and no list is made of the cells.
 */
export function csvSubmission(
  columns: readonly Column[],
  submission: ExportedSubmission,
  write: TextWriter = guardFormula,
): string {
  const { id, status, created_at, completed_at, reference } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  let record = `${id},${status},${created_at},${completed_at ?? ''},`;
  for (const column of columns)
    for (const cell of answerCells(own(answers, column.id), column)) record += `${csvField(cell, write)},`;
  return `${record}${csvField(referenceCell(reference), write)}\r\n`;
}

/** Not within the function: it would be made anew for each field. */
const quoted = /[",\r\n]/;

function csvField(cell: Cell, write: TextWriter): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = typeof cell === 'string' ? write(cell) : cell.toISOString();
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
