import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import type { DateOrder } from './read-moment.ts';
import { type DecimalMark, plainNumber } from './read-number.ts';
import type { Cell } from './table.ts';

/** How a column writes days and numbers. */
export type ColumnFormat = { readonly dates: DateOrder; readonly decimal: DecimalMark };

/** A cell that could be read in another way, and how it is read. */
export type Doubt = { readonly index: number; readonly message: string };

type Guess<Format> = { readonly format: Format; readonly doubt?: Doubt };

/** A day without a name of its month whose year does not come first. */
const dayInDigits = /(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)/;

/**
 * Guesses the order in which a column writes days: as those cells settle it that have only one order, else as a point
 * between the numbers does, else as people write days in the form's language.
 */
export function guessDateOrder(cells: readonly Cell[], language: string): Guess<DateOrder> {
  let open: { index: number; text: string } | undefined;
  const settled = new Set<DateOrder>();
  for (const [index, cell] of cells.entries()) {
    const [text, first, mark, second] = (typeof cell === 'string' && dayInDigits.exec(cell)) || [];
    if (text === undefined || Number(first) === Number(second)) continue;
    if (mark === '.' || Number(first) > 12) settled.add('dmy');
    else if (Number(second) > 12) settled.add('mdy');
    else open ??= { index, text };
  }
  const [only] = settled;
  if (only && settled.size === 1) return { format: only };
  const format = dateOrderOf(language);
  if (!open) return { format };
  const [read, other] = format === 'mdy' ? ['month', 'day'] : ['day', 'month'];
  const message = `"${open.text}" is read with the ${read} first. If the ${other} comes first, set "dates" to "${format === 'mdy' ? 'dmy' : 'mdy'}".`;
  return { format, doubt: { index: open.index, message } };
}

/** The order of day and month in a language or region (BCP-47). */
function dateOrderOf(language: string): 'dmy' | 'mdy' {
  const parts = new Intl.DateTimeFormat(language, { timeZone: 'UTC' })
    .formatToParts(0)
    .map(({ type }) => type);
  return parts.indexOf('month') < parts.indexOf('day') && parts.indexOf('year') > parts.indexOf('day')
    ? 'mdy'
    : 'dmy';
}

/** Guesses the mark before the decimals of a column: as those cells settle it that can be read with one mark only. */
export function guessDecimalMark(cells: readonly Cell[], language: string): Guess<DecimalMark> {
  let open: { index: number; text: string } | undefined;
  const settled = new Set<DecimalMark>();
  for (const [index, cell] of cells.entries()) {
    if (typeof cell !== 'string') continue;
    const [point, comma] = [plainNumber(cell, '.'), plainNumber(cell, ',')];
    if (point === comma) continue;
    if (point === undefined || comma === undefined) settled.add(point === undefined ? ',' : '.');
    else open ??= { index, text: cell.trim() };
  }
  const [only] = settled;
  if (only && settled.size === 1) return { format: only };
  const format = numberMarksOf(language).startsWith(',') ? ',' : '.';
  if (!open) return { format };
  const message = `"${open.text}" is read as ${plainNumber(open.text, format)}. If it means ${plainNumber(open.text, format === '.' ? ',' : '.')}, set "decimal" to "${format === '.' ? ',' : '.'}".`;
  return { format, doubt: { index: open.index, message } };
}
