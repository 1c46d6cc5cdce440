import type { Webhook } from '#webhooks/shapes.ts';
import {
  type ConditionGroup,
  listComparisons,
  parseConditionTree,
  takesValue,
} from '../../conditions/condition-tree.ts';

/** A filter that is being edited: a condition as stored, or null. */
export type FilterDraft = object | null;

/** Returns the reason why a filter cannot be sent yet. */
export function filterProblem(filter: FilterDraft): string | undefined {
  const group = parseConditionTree(filter);
  return group && !isComplete(group)
    ? 'A condition is incomplete. Enter a value, or remove the condition.'
    : undefined;
}

const isComplete = (group: ConditionGroup): boolean =>
  listComparisons(group).every(
    ({ subject, is, value }) => subject.name !== '' && (!takesValue(is) || value !== undefined),
  );

/** Returns the filter to send, or undefined if it did not change. */
export const filterToSend = (
  filter: FilterDraft,
  webhook: Pick<Webhook, 'filter'> | undefined,
): FilterDraft | undefined =>
  JSON.stringify(filter) === JSON.stringify(webhook?.filter ?? null) ? undefined : filter;
