import { isDeepStrictEqual } from 'node:util';
import { getProperty } from '#ast/basics/json.ts';
import type { Actor } from '#kit/operation.ts';
import { channelByActorKind } from '#workspaces/authenticate.ts';

/**
 * One difference that a change made. If the value did not exist before or no longer exists, that side is
 * absent.
 */
export type Difference = {
  part: 'answers' | 'reference' | 'status' | 'tags';
  /** The element's id, or the name of a reference value; empty for status and tags. */
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
};

/** Returns the differences between two states of a submission, one for each value. */
export function findDifferences(before: Changeable, after: Changeable): Difference[] {
  return [
    ...(before.status === after.status
      ? []
      : [{ part: 'status' as const, name: '', from: before.status, to: after.status }]),
    ...valueDifferences('answers', before.answers, after.answers),
    ...valueDifferences('reference', before.reference, after.reference),
    ...(isDeepStrictEqual(before.tags, after.tags)
      ? []
      : [
          {
            part: 'tags' as const,
            name: '',
            ...omitEmptyTags('from', before.tags),
            ...omitEmptyTags('to', after.tags),
          },
        ]),
  ];
}

/** Omits an empty list of tags, as if the value were missing. */
const omitEmptyTags = (key: 'from' | 'to', tags: readonly string[]): object =>
  tags.length === 0 ? {} : { [key]: tags };

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
 * The origin of a change: a member in the console, an API key, the operator, or a visitor with the edit link.
 */
export const changeOrigins = ['console', 'api', 'cli', 'link'] as const;

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
