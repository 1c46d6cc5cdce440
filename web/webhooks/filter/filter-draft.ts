import type { Webhook } from '#webhooks/shapes.ts';
import {
  type AskedNode,
  type FindAsked,
  type Group,
  leavesOf,
  readCondition,
  takesValue,
  textOf,
} from '../../conditions/condition-tree.ts';

/** A filter as it is entered: a condition as it is stored, or none. */
export type FilterDraft = object | null;

export const findIn =
  (questions: readonly AskedNode[]): FindAsked =>
  (id) =>
    questions.find((node) => textOf(node, 'id') === id);

/** What keeps a filter from being sent, before the service says so. */
export function filterProblem(filter: FilterDraft): string | undefined {
  const group = readCondition(filter);
  return group && !isComplete(group)
    ? 'A comparison is not complete. Enter what it compares with, or remove it.'
    : undefined;
}

const isComplete = (group: Group): boolean =>
  leavesOf(group).every(
    ({ subject, is, value }) => subject.name !== '' && (!takesValue(is) || value !== undefined),
  );

/** What is sent for a filter; undefined when it is as it was. */
export const changedFilter = (
  filter: FilterDraft,
  webhook: Pick<Webhook, 'filter'> | undefined,
): FilterDraft | undefined =>
  JSON.stringify(filter) === JSON.stringify(webhook?.filter ?? null) ? undefined : filter;
