import type { Database } from '#kit/database.ts';
import type { Actor, Scope } from '#kit/operation.ts';
import { only, statement } from '#kit/statement.ts';

/** The person behind a request: who is signed in, or who made the key; nobody for the operator's keys. */
const findPersonBehind = statement(
  'workspaces.find_person_behind',
  'workspace_id user_id? key_id?',
  'id:text name',
  `select u.id, u.name from users u
    where u.id = coalesce(
      $user_id, (select k.created_by from api_keys k where k.workspace_id = $workspace_id and k.id = $key_id))`,
);

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
