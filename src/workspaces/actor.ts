import type { Database } from '#kit/database.ts';
import type { Actor, Scope } from '#kit/operation.ts';
import { only } from '#kit/statement.ts';
import { findPersonBehind } from './members/queries.ts';

/** The account of whoever asks; null for a key and the operator. */
export const personOf = (actor: Actor): string | null => (actor.kind === 'person' ? actor.id : null);

/**
 * The person behind a request: who is signed in, or who made the key. What a key makes is theirs, so that it ends with
 * their membership. Nobody is behind the operator and the keys that the operator made.
 */
export async function personBehind(
  database: Database,
  { workspaceId, actor }: Pick<Scope, 'workspaceId' | 'actor'>,
): Promise<{ id: string; name: string } | undefined> {
  const key_id = actor.kind === 'key' ? actor.id : null;
  return only(
    await findPersonBehind(database, { workspace_id: workspaceId, user_id: personOf(actor), key_id }),
  );
}
