import type { Column } from '../columns.ts';
import type { TableSettings } from '../shapes.ts';

/** The columns that a person has not hidden, in their order; what is new since then follows what it follows in the form. */
export function shownColumns(
  columns: readonly Column[],
  { order, hidden }: Pick<TableSettings, 'order' | 'hidden'>,
): Column[] {
  const ranks = new Map(order.map((id, index) => [id, index]));
  let last = -1;
  return columns
    .map((column) => {
      last = ranks.get(column.id) ?? last;
      return { column, rank: last };
    })
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ column }) => (hidden.includes(column.id) ? [] : column));
}
