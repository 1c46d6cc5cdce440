import { cellOfWorkspace } from '#cells/across-cells.ts';
import { newId, now } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { onlyRow, type Queryable, statement, textEnum } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import { deleteUser, findUserByEmail } from '../account-deletion.ts';
import { setPasswordByReset } from '../accounts/password-reset.ts';
import { passwordProblems } from '../accounts/passwords.ts';
import { createUser, listForbiddenPasswordWords, throwProblems } from '../accounts/users.ts';
import { enqueuePasswordChangeEmail } from '../audit/email-events.ts';
import { addMember } from '../members.ts';

/** Identifies an invitation in any cell. */
export type MemberInvitationId = { workspaceId: string; id: string };

/**
 * What a link proves about its holder. `confirmed`: the address is theirs, because the link was emailed there
 * or handed over by the operator. `unconfirmed`: nothing, because a member received the link to hand it over.
 */
export type LinkProof = 'confirmed' | 'unconfirmed';

const proofs = ['confirmed', 'unconfirmed'] as const satisfies readonly LinkProof[];

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const pattern = new RegExp(`^(${uuid})\\.(${uuid})\\.([\\w-]{43})$`);

/**
 * Returns the values that a token's signature covers. Emailed and handed-over links are signed differently,
 * so neither can be turned into the other.
 */
const partsOf = ({ workspaceId, id }: MemberInvitationId, proof: LinkProof): string[] => [
  workspaceId,
  id,
  proof,
];

/**
 * Returns `<workspace>.<invitation>.<HMAC-SHA256 of both and of what the link proves>`. It can't be guessed
 * without the instance key. It need not be stored, so the link can be emailed again.
 */
export const signMemberInvitationToken = (vault: Vault, key: MemberInvitationId, proof: LinkProof): string =>
  `${key.workspaceId}.${key.id}.${vault.sign('member invitations', partsOf(key, proof))}`;

/** Returns the invitation of a token; undefined if the token is not ours. Compares in constant time. */
function readInvitationToken(
  vault: Vault,
  token: string,
): (MemberInvitationId & { proof: LinkProof }) | undefined {
  const [, workspaceId, id, signature] = pattern.exec(token) ?? [];
  if (!workspaceId || !id || !signature) return undefined;
  const key = { workspaceId, id };
  const proof = proofs.find((each) => vault.verify('member invitations', partsOf(key, each), signature));
  return proof && { ...key, proof };
}

const findOpenInvitation = statement('workspace_id id now', [
  'workspace email invited_by?',
  { role: textEnum<Role>() },
])`
  select w.name as workspace, i.email, i.role, by.name as invited_by
    from member_invitations i
    join workspaces w on w.id = i.workspace_id and w.ends_at is null
    left join users by on by.id = i.invited_by
   where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now`;

/** Deletes an invitation when it is accepted: of two parallel requests, one gets the row. */
const claimInvitation = statement('workspace_id id now', ['email workspace', { role: textEnum<Role>() }])`
  delete from member_invitations i using workspaces w
   where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now and w.id = i.workspace_id and w.ends_at is null
  returning i.email, i.role, w.name as workspace`;

/**
 * Locks the account with an address (in lower case, as users.ts stores it) until the transaction ends, and
 * returns whether the address is confirmed. In a transaction of a cell on another node, the account is read
 * but not kept locked.
 */
export const lockAccount = statement('email', 'id:text is_confirmed')`
  select id, email_verified as is_confirmed from users where email = $email for no key update`;

type AcceptServices = { database: Database; vault: Vault };

/**
 * How the holder of a link can join: by choosing a password, by signing in, or either. Only an emailed link
 * shows which one applies. Otherwise a member could find out whether an address has an account.
 */
export const joinMethods = ['choose_password', 'sign_in', 'either'] as const;
type JoinMethod = (typeof joinMethods)[number];

/** The data that the page of an invitation shows to the holder of its link. */
type OpenInvitation = {
  workspace: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  way: JoinMethod;
};

/** Returns an open invitation. @throws ApiError gone if there is none. */
export async function requireOpenInvitation(
  { database, vault }: AcceptServices,
  token: string,
): Promise<OpenInvitation> {
  const { workspaceId, id, proof } = readToken(vault, token);
  const cell = await cellOfWorkspace(database, workspaceId);
  const found = onlyRow(await findOpenInvitation(cell, { workspace_id: workspaceId, id, now: now() }));
  if (!found) throw invitationGoneError();
  const { workspace, email, role, invited_by: invitedBy } = found;
  const account = onlyRow(await findUserByEmail(database, { email }));
  const known: JoinMethod = account?.is_confirmed ? 'sign_in' : 'choose_password';
  return { workspace, email, role, invitedBy, way: proof === 'confirmed' ? known : 'either' };
}

/**
 * Joins with a new account. If the link proves the address, it can also claim an unconfirmed account. The
 * password of that account is then replaced, and its sessions end.
 * @returns the address to sign in with, and who joined which workspace.
 * @throws ApiError gone; validation_error; conflict if an account exists that this link can't claim.
 */
export async function joinWithNewAccount(
  { database, vault }: AcceptServices,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ email: string; workspaceId: string; userId: string }> {
  const { workspaceId, id, proof } = readToken(vault, token);
  const cell = await cellOfWorkspace(database, workspaceId);
  let createdId: string | undefined;
  const join = async (client: Queryable) => {
    const { email, role, workspace } = await claim(client, workspaceId, id);
    const account = onlyRow(await lockAccount(sharedDatabaseOf(client), { email }));
    const isConfirmed = proof === 'confirmed';
    if (account && (account.is_confirmed || !isConfirmed))
      throw new ApiError(
        'conflict',
        'An account with this email address already exists. Sign in with it to join.',
      );
    if (account) await claimAccount(client, { userId: account.id, password, workspace });
    if (!account)
      createdId = (await createUser(client, { email, password, name, isConfirmed, words: [workspace] })).id;
    const userId = account?.id ?? createdId!;
    await addMember(client, { workspaceId, userId, role });
    return { email, workspaceId, userId };
  };
  try {
    return await transaction(cell, join);
  } catch (error) {
    // For a cell on another node, the account was created in a separate transaction. If it stayed, the person
    // could not join when they open the link again.
    if (createdId !== undefined && sharedDatabaseOf(cell) !== cell)
      await deleteUser(sharedDatabaseOf(cell), { user_id: createdId });
    throw error;
  }
}

async function claimAccount(
  client: Queryable,
  { userId, password, workspace }: { userId: string; password: string; workspace: string },
): Promise<void> {
  const words = [...(await listForbiddenPasswordWords(client, userId)), workspace];
  throwProblems(await passwordProblems('password', password, words));
  const secret = { account_id: newId(), password: await hashPassword(password) };
  await setPasswordByReset(sharedDatabaseOf(client), { user_id: userId, ...secret, now: now() });
  await enqueuePasswordChangeEmail(client, userId);
}

/**
 * Joins as the signed-in person, who must be the invited one and have a confirmed address.
 * @throws ApiError gone; forbidden for another person or an unconfirmed account; conflict if they are already
 * a member.
 */
export async function joinAsSignedInPerson(
  { database, vault }: AcceptServices,
  { token, userId }: { token: string; userId: string },
): Promise<{ workspaceId: string }> {
  const { workspaceId, id, proof } = readToken(vault, token);
  return transaction(await cellOfWorkspace(database, workspaceId), async (client) => {
    const { email, role } = await claim(client, workspaceId, id);
    const account = onlyRow(await lockAccount(sharedDatabaseOf(client), { email }));
    if (account?.id !== userId)
      throw new ApiError('forbidden', `This invitation is for ${email}. Sign in with that account.`);
    if (!account.is_confirmed) throw new ApiError('forbidden', unconfirmedMessages[proof]);
    await addMember(client, { workspaceId, userId, role });
    return { workspaceId };
  });
}

const unconfirmed =
  "The email address of this account was never confirmed, so the account can't join other workspaces.";
const unconfirmedMessages = {
  confirmed: `${unconfirmed} Choose a new password here to confirm it.`,
  unconfirmed: `${unconfirmed} Use “Forgot your password?” to confirm it by email. If this server sends no email, ask its operator for a temporary password.`,
} as const;

async function claim(client: Queryable, workspaceId: string, id: string) {
  const claimed = onlyRow(await claimInvitation(client, { workspace_id: workspaceId, id, now: now() }));
  if (!claimed) throw invitationGoneError();
  return claimed;
}

function readToken(vault: Vault, token: string) {
  const key = readInvitationToken(vault, token);
  if (!key) throw invitationGoneError();
  return key;
}

const invitationGoneError = (): ApiError =>
  new ApiError('gone', 'This invitation was used or revoked, or it has expired. Ask for a new one.');
