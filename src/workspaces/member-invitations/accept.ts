import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { addMember } from '../members.ts';
import type { Role } from '../roles.ts';
import { createUser } from '../users.ts';
import { claimInvitation, findOpenInvitation } from './queries.ts';
import { type InvitationKey, readInvitationToken } from './token.ts';

type AcceptContext = { database: Database; vault: Vault };

/** What the holder of a link is asked. */
export type OpenInvitation = {
  workspace: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  /** Whether there is an account with the address, to sign in with; else one is made. */
  hasAccount: boolean;
};

/** @throws ApiError gone for what is no open invitation. */
export async function openInvitation(
  { database, vault }: AcceptContext,
  token: string,
): Promise<OpenInvitation> {
  const key = readToken(vault, token);
  const found = only(
    await findOpenInvitation(database, { workspace_id: key.workspaceId, id: key.id, now: now() }),
  );
  if (!found) throw over();
  const { workspace, email, role } = found;
  return { workspace, email, role, invitedBy: found.invited_by, hasAccount: found.user_id !== null };
}

/**
 * Joins with an account that is made now. Whoever holds the link reads the mails of the address.
 * @returns the address to sign in with.
 * @throws ApiError gone; validation_error; conflict when the address has an account by now.
 */
export function joinAsNewPerson(
  { database, vault }: AcceptContext,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ email: string }> {
  const { workspaceId, id } = readToken(vault, token);
  return transaction(database, async (client) => {
    const claimed = only(await claimInvitation(client, { workspace_id: workspaceId, id, now: now() }));
    if (!claimed) throw over();
    const user = await createUser(client, { email: claimed.email, password, name });
    await addMember(client, { workspaceId, userId: user.id, role: claimed.role });
    return { email: claimed.email };
  });
}

/**
 * Joins as the person who is signed in, who must be the one who was invited.
 * @throws ApiError gone; forbidden for somebody else; conflict for a member.
 */
export function joinAsPerson(
  { database, vault }: AcceptContext,
  { token, user }: { token: string; user: { id: string; email: string } },
): Promise<{ workspaceId: string }> {
  const { workspaceId, id } = readToken(vault, token);
  return transaction(database, async (client) => {
    const claimed = only(await claimInvitation(client, { workspace_id: workspaceId, id, now: now() }));
    if (!claimed) throw over();
    if (claimed.email !== user.email.toLowerCase()) {
      throw new ApiError('forbidden', `This invitation is for ${claimed.email}. Sign in with that account.`);
    }
    await addMember(client, { workspaceId, userId: user.id, role: claimed.role });
    return { workspaceId };
  });
}

function readToken(vault: Vault, token: string): InvitationKey {
  const key = readInvitationToken(vault, token);
  if (!key) throw over();
  return key;
}

const over = (): ApiError =>
  new ApiError('gone', 'This invitation was used or withdrawn, or its time is over. Ask for another.');
