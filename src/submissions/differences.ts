import { isDeepStrictEqual } from 'node:util';
import { getProperty } from '#ast/basics/json.ts';
import type { Actor } from '#kit/operation.ts';
import { channelByActorKind } from '#workspaces/authenticate.ts';

/** The parts of a submission whose changes are recorded. */
export const differenceParts = ['answers', 'reference', 'status', 'tags', 'stage', 'assignee'] as const;

/**
 * One difference that a change made. If the value did not exist before or no longer exists, that side is
 * absent.
 */
export type Difference = {
  part: (typeof differenceParts)[number];
  /** The element's id, or the name of a reference value; empty for other parts. */
  name: string;
  from?: unknown;
  to?: unknown;
};

/** The parts of a submission that can change. */
type Changeable = {
  status: string;
  answers: Readonly<Record<string, unknown>>;
  reference: Readonly<Record<string, unknown>>;
  tags: readonly string[];
  stage_id: string;
  assignee_id: string | null;
};

/** Returns the differences between two states of a submission, one for each value. */
export function findDifferences(before: Changeable, after: Changeable): Difference[] {
  return [
    ...partDifference('status', before.status, after.status),
    ...partDifference('stage', before.stage_id, after.stage_id),
    ...partDifference('assignee', before.assignee_id, after.assignee_id),
    ...valueDifferences('answers', before.answers, after.answers),
    ...valueDifferences('reference', before.reference, after.reference),
    ...partDifference('tags', emptyToNull(before.tags), emptyToNull(after.tags)),
  ];
}

/** An empty list of tags counts as a missing value. */
const emptyToNull = (tags: readonly string[]): readonly string[] | null => (tags.length === 0 ? null : tags);

/** Returns the difference of a part with one value. A side that is null is omitted. */
const partDifference = (part: Difference['part'], from: unknown, to: unknown): Difference[] =>
  isDeepStrictEqual(from, to)
    ? []
    : [{ part, name: '', ...(from !== null && { from }), ...(to !== null && { to }) }];

function valueDifferences(
  part: 'answers' | 'reference',
  before: Changeable['answers'],
  after: Changeable['answers'],
): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): Difference[] => {
    const [from, to] = [getProperty(before, name), getProperty(after, name)];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ part, name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}

/** The kinds of changes to a submission. */
export const changeKinds = ['edited', 'trashed', 'restored', 'note_added', 'note_deleted'] as const;

/**
 * The origin of a change: a member in the console, an API key, the operator, a visitor with the edit link, or
 * the waiting list.
 */
export const changeOrigins = ['console', 'api', 'cli', 'link', 'waiting_list'] as const;

export type ChangeOrigin = (typeof changeOrigins)[number];

/**
 * The stored author of a change. Both ids are null for a deleted account or key, and for a visitor with the
 * edit link. `bulk_id` is the bulk change that the change belongs to.
 */
export type ChangedBy = {
  changed_by: string | null;
  api_key_id: string | null;
  through: ChangeOrigin;
  bulk_id: string | null;
};

/** @param actor null for a visitor with the edit link. */
export const toChangedBy = (actor: Actor | null): ChangedBy => ({
  changed_by: actor?.kind === 'person' ? actor.id : null,
  api_key_id: actor?.kind === 'key' ? actor.id : null,
  through: actor === null ? 'link' : channelByActorKind[actor.kind],
  bulk_id: null,
});
