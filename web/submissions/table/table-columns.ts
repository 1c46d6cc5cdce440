import { elements } from '#ast/elements.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import { isSortableType } from '#rules/columns.ts';
import type { Column } from '#submissions/shapes.ts';

/** A column of the table. Element ids begin with a letter, so `$` marks our own. */
export type TableColumn = { id: string; title: string } & (
  | { kind: 'received' | 'found' | 'status' | 'tags' | 'reference' }
  | { kind: 'answer'; column: Column }
);

/** The first column: it names its row, leads to it, and stays in place. */
export const receivedColumn: TableColumn = { id: '$received', title: 'Received', kind: 'received' };

/** Where a search found its words; it is there while there is a search. */
export const foundColumn: TableColumn = { id: '$found', title: 'Found in', kind: 'found' };

/** These two stand first, and stay. */
export const isFixedColumn = ({ kind }: TableColumn): boolean => kind === 'received' || kind === 'found';

/** Whether the service orders submissions by it. */
export const isSortable = (column: TableColumn): boolean =>
  column.kind !== 'found' && (column.kind !== 'answer' || isSortableType(column.column.type));

/**
 * Every other column that a form's table can have, in the form's order; labels that occur twice carry the id.
 * @param isWide whether there is room for the status in front of the answers.
 */
export function allColumns(columns: readonly Column[], isWide: boolean): TableColumn[] {
  const times = Map.groupBy(columns, (column) => column.label);
  const status: TableColumn = { id: '$status', title: 'Status', kind: 'status' };
  const answers = columns.map(
    (column): TableColumn => ({
      id: column.id,
      title: times.get(column.label)!.length > 1 ? `${column.label} (${column.id})` : column.label,
      kind: 'answer',
      column,
    }),
  );
  const reference: TableColumn = { id: '$reference', title: 'Reference', kind: 'reference' };
  const tags: TableColumn = { id: '$tags', title: 'Tags', kind: 'tags' };
  return isWide ? [status, ...answers, tags, reference] : [...answers, status, tags, reference];
}

/** The order after a column was put before or behind another one. */
export function moveColumn(
  order: readonly string[],
  id: string,
  target: string,
  place: 'before' | 'after',
): string[] {
  const rest = order.filter((other) => other !== id);
  const at = rest.indexOf(target);
  if (at < 0) return [...order];
  rest.splice(place === 'before' ? at : at + 1, 0, id);
  return rest;
}

/** Widths in px. */
export const columnWidth = { least: 96, most: 720, step: 64 } as const;

/** How wide a column is as long as nobody changed it. */
export function usualWidth(column: TableColumn): number {
  if (column.kind === 'answer') {
    const { columnWidth = 208 }: ElementDefinition = elements[column.column.type];
    return columnWidth;
  }
  return { received: 152, found: 320, status: 140, tags: 200, reference: 240 }[column.kind];
}
