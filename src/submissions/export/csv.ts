import type { Answers } from '#ast/answers.ts';
import { csvCell, guardFormula } from '#ast/csv.ts';
import { own } from '#ast/json.ts';
import type { Column } from '../columns.ts';
import { answerCells, type Cell, type ExportedSubmission, referenceCell } from './cells.ts';

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

function csvField(cell: Cell, write: TextWriter): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  return csvCell(typeof cell === 'string' ? write(cell) : cell.toISOString());
}
