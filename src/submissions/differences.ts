import { isDeepStrictEqual } from 'node:util';
import { own } from '#ast/json.ts';
import type { Actor } from '#kit/operation.ts';
import { throughOf } from '#workspaces/authenticate.ts';

/** One thing that a change of a submission changed; what was not there before, or is not any more, is absent. */
export type Difference = {
  part: 'answers' | 'reference' | 'status' | 'tags';
  /** The element's id, or the name of a reference value; empty for the status and the tags. */
  name: string;
  from?: unknown;
  to?: unknown;
};

/** What can change of a submission. */
type Changeable = {
  status: string;
  answers: Readonly<Record<string, unknown>>;
  reference: Readonly<Record<string, unknown>>;
  tags: readonly string[];
};

/** What differs between two states of a submission, value by value. */
export function differencesOf(before: Changeable, after: Changeable): Difference[] {
  return [
    ...(before.status === after.status
      ? []
      : [{ part: 'status' as const, name: '', from: before.status, to: after.status }]),
    ...valueDifferences('answers', before.answers, after.answers),
    ...valueDifferences('reference', before.reference, after.reference),
    ...(isDeepStrictEqual(before.tags, after.tags)
      ? []
      : [{ part: 'tags' as const, name: '', ...someOf('from', before.tags), ...someOf('to', after.tags) }]),
  ];
}

/** No tags are as good as none of before. */
const someOf = (key: 'from' | 'to', tags: readonly string[]): object =>
  tags.length === 0 ? {} : { [key]: tags };

function valueDifferences(
  part: 'answers' | 'reference',
  before: Changeable['answers'],
  after: Changeable['answers'],
): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): Difference[] => {
    const [from, to] = [own(before, name), own(after, name)];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ part, name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}

/** What a change of a submission was. */
export const changeKinds = ['edited', 'trashed', 'restored', 'note_added', 'note_deleted'] as const;

/** By which way it was changed: by a member, by a key, by the operator, or by whoever has the submission's own link. */
export const changeThroughs = ['console', 'api', 'cli', 'link'] as const;

export type ChangeThrough = (typeof changeThroughs)[number];

/**
 * Who changed something, as it is stored: neither a member nor a key is somebody who is gone, or who has a link. `bulk_id`:
 * the change of many that it is a part of.
 */
export type ChangedBy = {
  changed_by: string | null;
  api_key_id: string | null;
  through: ChangeThrough;
  bulk_id: string | null;
};

/** @param actor null: whoever has the submission's own link. */
export const changedBy = (actor: Actor | null): ChangedBy => ({
  changed_by: actor?.kind === 'person' ? actor.id : null,
  api_key_id: actor?.kind === 'key' ? actor.id : null,
  through: actor === null ? 'link' : throughOf[actor.kind],
  bulk_id: null,
});
