import type { ElementType } from '#ast/form/elements.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';

const hasOrder: Readonly<Record<AnswerKind, boolean>> = {
  text: true,
  moment: true,
  choice: true,
  number: true,
  boolean: true,
  consent: true,
  choices: true,
  order: true,
  grid: false,
  files: true,
};

/** Whether submissions can be sorted by the answers to an element. A repeatable group is sorted by its number of rows. */
export const isSortableType = (type: ElementType): boolean =>
  !isInputType(type) || hasOrder[inputRules[type].kind];

/**
 * Columns in the order that a person chose. A column that is new since then follows the column that it follows in the form.
 * @param columns in the order of the form.
 * @param order ids, also of columns that are gone.
 */
export function orderColumns<Column extends { readonly id: string }>(
  columns: readonly Column[],
  order: readonly string[],
): Column[] {
  const ranks = new Map(order.map((id, index) => [id, index]));
  let last = -1;
  return columns
    .map((column) => ({ column, rank: (last = ranks.get(column.id) ?? last) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ column }) => column);
}
