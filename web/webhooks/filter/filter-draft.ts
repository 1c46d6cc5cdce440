import type { Webhook } from '#webhooks/shapes.ts';
import { type Group, leavesOf, readCondition, takesValue } from '../../conditions/condition-tree.ts';

/** A filter that is being edited: a condition as stored, or null. */
export type FilterDraft = object | null;

/** Returns why a filter cannot be sent yet. */
export function filterProblem(filter: FilterDraft): string | undefined {
  const group = readCondition(filter);
  return group && !isComplete(group)
    ? 'A condition is incomplete. Enter a value, or remove the condition.'
    : undefined;
}

const isComplete = (group: Group): boolean =>
  leavesOf(group).every(
    ({ subject, is, value }) => subject.name !== '' && (!takesValue(is) || value !== undefined),
  );

/** Returns the filter to send, or undefined if it did not change. */
export const changedFilter = (
  filter: FilterDraft,
  webhook: Pick<Webhook, 'filter'> | undefined,
): FilterDraft | undefined =>
  JSON.stringify(filter) === JSON.stringify(webhook?.filter ?? null) ? undefined : filter;
