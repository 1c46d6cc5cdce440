import type { Actor } from '#kit/operation.ts';
import { throughOf } from '#workspaces/authenticate.ts';

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
