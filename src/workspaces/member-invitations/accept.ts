import { cellOfWorkspace } from '#cells/across-cells.ts';
import { newId, now } from '#kit/clock.ts';
import { type Database, homeOf, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { only, type Queryable, statement, word } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import { setPassword } from '../accounts/password-reset.ts';
import { passwordProblems } from '../accounts/passwords.ts';
import { createUser, refuseProblems, wordsOfPerson } from '../accounts/users.ts';
import { reportPasswordChange } from '../audit/mail-news.ts';
import { deleteUser, findUserByEmail } from '../endings.ts';
import { addMember } from '../members.ts';

/** An invitation, wherever it lies. */
export type InvitationKey = { workspaceId: string; id: string };

/**
 * What holding a link proves. `confirmed`: that its holder has the address, for it was mailed there, or the operator
 * handed it over. `unconfirmed`: nothing, for a member was shown it to hand over.
 */
export type LinkProof = 'confirmed' | 'unconfirmed';

const proofs = ['confirmed', 'unconfirmed'] as const satisfies readonly LinkProof[];

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const pattern = new RegExp(`^(${uuid})\\.(${uuid})\\.([\\w-]{43})$`);

/** Links that are mailed and links that are handed over are signed differently: nobody makes one of the other. */
const partsOf = ({ workspaceId, id }: InvitationKey, proof: LinkProof): string[] => [workspaceId, id, proof];

/**
 * `<workspace>.<invitation>.<HMAC-SHA256 of both and of what the link proves>`: to whoever lacks the instance's key it
 * cannot be guessed, and it need not be stored, so that the same link can be mailed again.
 */
export const invitationToken = (vault: Vault, key: InvitationKey, proof: LinkProof): string =>
  `${key.workspaceId}.${key.id}.${vault.sign('member invitations', partsOf(key, proof))}`;

/** The invitation that a token is of; undefined when it is none of ours. Compares in constant time. */
function readInvitationToken(
  vault: Vault,
  token: string,
): (InvitationKey & { proof: LinkProof }) | undefined {
  const [, workspaceId, id, signature] = pattern.exec(token) ?? [];
  if (!workspaceId || !id || !signature) return undefined;
  const key = { workspaceId, id };
  const proof = proofs.find((each) => vault.verify('member invitations', partsOf(key, each), signature));
  return proof && { ...key, proof };
}

/** What an invitation says, while its time lasts. */
const findOpenInvitation = statement(
  'member_invitations.find_open',
  'workspace_id id now',
  ['workspace email invited_by?', { role: word<Role>() }],
  `select w.name as workspace, i.email, i.role, by.name as invited_by
     from member_invitations i
     join workspaces w on w.id = i.workspace_id and w.ends_at is null
     left join users by on by.id = i.invited_by
    where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now`,
);

/** Uses an invitation up: of two who accept at once, one gets the row. */
const claimInvitation = statement(
  'member_invitations.claim',
  'workspace_id id now',
  ['email workspace', { role: word<Role>() }],
  `delete from member_invitations i using workspaces w
    where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now and w.id = i.workspace_id and w.ends_at is null
   returning i.email, i.role, w.name as workspace`,
);

/**
 * The account with an address (in lower case, as users.ts stores it), and whether it is certain whose it is. It stays as
 * it is until the transaction ends; from a cell at a node it is only looked at.
 */
export const lockAccount = statement(
  'member_invitations.lock_account',
  'email',
  'id:text is_confirmed',
  `select id, email_verified as is_confirmed from users where email = $email for no key update`,
);

type AcceptContext = { database: Database; vault: Vault };

/**
 * How the holder of a link gets in: by choosing a password, by signing in, or by either. Only a link that was mailed
 * tells which: whoever was shown one to hand it over could ask about any address.
 */
export const waysIn = ['choose_password', 'sign_in', 'either'] as const;
type WayIn = (typeof waysIn)[number];

/** What the holder of a link is asked. */
type OpenInvitation = {
  workspace: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  way: WayIn;
};

/** @throws ApiError gone for what is no open invitation. */
export async function openInvitation(
  { database, vault }: AcceptContext,
  token: string,
): Promise<OpenInvitation> {
  const { workspaceId, id, proof } = readToken(vault, token);
  const cell = await cellOfWorkspace(database, workspaceId);
  const found = only(await findOpenInvitation(cell, { workspace_id: workspaceId, id, now: now() }));
  if (!found) throw over();
  const { workspace, email, role, invited_by: invitedBy } = found;
  const account = only(await findUserByEmail(database, { email }));
  const known: WayIn = account?.is_confirmed ? 'sign_in' : 'choose_password';
  return { workspace, email, role, invitedBy, way: proof === 'confirmed' ? known : 'either' };
}

/**
 * Joins by choosing a password: with an account that is made now, or, by a link that proves whose the address is, with
 * the one that somebody made who never proved it. Whoever that was has it no longer: its password is another, and its
 * sessions have ended.
 * @returns the address to sign in with, and who has joined what.
 * @throws ApiError gone; validation_error; conflict when there is an account that this link does not open.
 */
export async function joinByPassword(
  { database, vault }: AcceptContext,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ email: string; workspaceId: string; userId: string }> {
  const { workspaceId, id, proof } = readToken(vault, token);
  const cell = await cellOfWorkspace(database, workspaceId);
  let made: string | undefined;
  const join = async (client: Queryable) => {
    const { email, role, workspace } = await claim(client, workspaceId, id);
    const account = only(await lockAccount(homeOf(client), { email }));
    const isConfirmed = proof === 'confirmed';
    if (account && (account.is_confirmed || !isConfirmed)) {
      throw new ApiError('conflict', 'There is an account with this address. Sign in with it to join.');
    }
    if (account) await takeAccount(client, { userId: account.id, password, workspace });
    if (!account)
      made = (await createUser(client, { email, password, name, isConfirmed, words: [workspace] })).id;
    const userId = account?.id ?? made!;
    await addMember(client, { workspaceId, userId, role });
    return { email, workspaceId, userId };
  };
  try {
    return await transaction(cell, join);
  } catch (error) {
    // The account was made over another pool for a cell at a node, and would refuse the person who opens the link again.
    if (made !== undefined && homeOf(cell) !== cell) await deleteUser(homeOf(cell), { user_id: made });
    throw error;
  }
}

async function takeAccount(
  client: Queryable,
  { userId, password, workspace }: { userId: string; password: string; workspace: string },
): Promise<void> {
  const words = [...(await wordsOfPerson(client, userId)), workspace];
  refuseProblems(await passwordProblems('password', password, words));
  const secret = { account_id: newId(), password: await hashPassword(password) };
  await setPassword(homeOf(client), { user_id: userId, ...secret, now: now() });
  await reportPasswordChange(client, userId);
}

/**
 * Joins as the person who is signed in, who must be the one who was invited, and of whom it is certain that they are.
 * @throws ApiError gone; forbidden for somebody else, and for an account that was never confirmed; conflict for a member.
 */
export async function joinAsPerson(
  { database, vault }: AcceptContext,
  { token, userId }: { token: string; userId: string },
): Promise<{ workspaceId: string }> {
  const { workspaceId, id, proof } = readToken(vault, token);
  return transaction(await cellOfWorkspace(database, workspaceId), async (client) => {
    const { email, role } = await claim(client, workspaceId, id);
    const account = only(await lockAccount(homeOf(client), { email }));
    if (account?.id !== userId) {
      throw new ApiError('forbidden', `This invitation is for ${email}. Sign in with that account.`);
    }
    if (!account.is_confirmed) throw new ApiError('forbidden', sayUnconfirmed[proof]);
    await addMember(client, { workspaceId, userId, role });
    return { workspaceId };
  });
}

const unconfirmed =
  'Whether the address of this account is yours was never confirmed, so it opens no other workspace.';
const sayUnconfirmed = {
  confirmed: `${unconfirmed} Choose a new password here to confirm it.`,
  unconfirmed: `${unconfirmed} “Forgot your password?” confirms it by mail; where no mail is sent, whoever runs this server does, with a temporary password.`,
} as const;

async function claim(client: Queryable, workspaceId: string, id: string) {
  const claimed = only(await claimInvitation(client, { workspace_id: workspaceId, id, now: now() }));
  if (!claimed) throw over();
  return claimed;
}

function readToken(vault: Vault, token: string) {
  const key = readInvitationToken(vault, token);
  if (!key) throw over();
  return key;
}

const over = (): ApiError =>
  new ApiError('gone', 'This invitation was used or withdrawn, or its time is over. Ask for another.');
