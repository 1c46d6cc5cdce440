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

/** Returns whether submissions can be sorted by an element. Groups sort by their number of rows. */
export const isSortableType = (type: ElementType): boolean =>
  !isInputType(type) || hasOrder[inputRules[type].kind];

/**
 * Sorts columns in the order that a person chose. New columns follow their predecessor in the form.
 * @param columns the columns in form order.
 * @param order IDs of columns, which may include deleted ones.
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

/** The colors of stages. The console draws each as the chip of a tone. */
export const stageColors = ['gray', 'blue', 'green', 'yellow', 'red'] as const;
export type StageColor = (typeof stageColors)[number];

/** The most stages of a workspace, and the most characters of the name of one. */
export const mostStages = 20;
export const longestStageName = 50;

/** The kinds of bulk changes of submissions that can be undone. */
export const undoableKinds = ['trash', 'tag', 'status', 'stage', 'assign'] as const;

/** The columns of what the workspace does with submissions. Conditions name them like elements. */
export const assignmentColumns = { stage: '$stage', assignee: '$assignee' } as const;

export const isAssignmentColumn = (id: string): boolean =>
  id === assignmentColumns.stage || id === assignmentColumns.assignee;
