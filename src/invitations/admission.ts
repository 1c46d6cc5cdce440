import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { jsonb, type Queryable, statement } from '#kit/statement.ts';
import { hashOfToken, type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';

/**
 * Finds the invitation behind a link to this form; the form's id identifies its workspace. `saved_id` is the
 * person's incomplete submission, while its resume link is valid. `is_used` also counts submissions in the
 * spam box.
 */
const findByHash = statement('form_id hash now', [
  'workspace_id id is_open is_used saved_id?',
  { reference: jsonb<Record<string, string>>(), prefill: jsonb<Record<string, string | string[]>>() },
])`
  select i.workspace_id, i.id, i.reference, i.prefill,
         i.revoked_at is null and (i.expires_at is null or i.expires_at > $now) as is_open,
         s.completed_at is not null or exists (
           select from held_submissions h where h.workspace_id = i.workspace_id and h.key = i.id) as is_used,
         (select l.submission_id from submission_links l
           where l.workspace_id = i.workspace_id and l.submission_id = s.id and s.completed_at is null
             and s.trashed_at is null and l.purpose = 'resume' and l.expires_at > $now) as saved_id
    from form_lookup f
    join invitations i on i.workspace_id = f.workspace_id and i.hash = $hash and i.form_id = f.form_id
    left join submissions s on s.workspace_id = i.workspace_id and s.key = i.id
   where f.form_id = $form_id`;

/** Records when the link was first opened. */
const markInvitationOpened = statement('workspace_id id now', '')`
  update invitations set opened_at = $now where workspace_id = $workspace_id and id = $id and opened_at is null`;

/** Records when something was first sent from the page of the link. */
const markInvitationStarted = statement('workspace_id id now', '')`
  update invitations set started_at = $now, opened_at = coalesce(opened_at, $now)
   where workspace_id = $workspace_id and id = $id and started_at is null`;

/** A visitor who opened an invitation link. */
export type Guest = {
  readonly workspaceId: string;
  /** The id of the invitation. It is also the key of its submission, which allows only one. */
  readonly invitationId: string;
  /** The token of the link, which the page passes on. */
  readonly token: string;
  readonly reference: Readonly<Record<string, string>>;
  readonly prefill: Readonly<Record<string, string | readonly string[]>>;
  /** The submission of saved answers that the visitor can resume. */
  readonly savedId: string | undefined;
};

/**
 * The result of opening a link: `open`; `used` if the guest has answered; `void` if the link is revoked,
 * expired, unknown or for another form.
 */
export type InvitationLinkResult = { kind: 'open' | 'used'; guest: Guest } | { kind: 'void' };

/**
 * Finds the guest behind a link. The lookup uses the token's SHA-256, so that its timing reveals nothing
 * about other tokens.
 */
export async function findGuest(
  database: Database,
  { formId, token }: { formId: string; token: string },
): Promise<InvitationLinkResult> {
  const [found] = await findByHash(database, { form_id: formId, hash: hashOfToken(token), now: now() });
  if (!found || (!found.is_open && !found.is_used)) return { kind: 'void' };
  const guest: Guest = {
    workspaceId: found.workspace_id,
    invitationId: found.id,
    token,
    reference: found.reference,
    prefill: found.prefill,
    savedId: found.saved_id ?? undefined,
  };
  return { kind: found.is_used ? 'used' : 'open', guest };
}

/** Records that the guest has opened the form. */
export async function recordInvitationOpened(
  db: Queryable,
  { workspaceId, invitationId }: Guest,
): Promise<void> {
  await markInvitationOpened(db, { workspace_id: workspaceId, id: invitationId, now: now() });
}

/** Records that the guest has sent something: a step, a file or answers. */
export async function recordInvitationStarted(
  db: Queryable,
  { workspaceId, invitationId }: Guest,
): Promise<void> {
  await markInvitationStarted(db, { workspace_id: workspaceId, id: invitationId, now: now() });
}

/** The URL parameter that carries the token of an invitation. */
export const invitationParameter = '_invitation';

/**
 * Returns the token of an invitation's link. It can be generated again, so reminders and the file of links
 * contain the same link. The database stores only its SHA-256.
 */
export const signInvitationToken = (vault: Vault, invitation: LinkTarget): string =>
  signLink(vault, 'invitations', invitation);

/** Returns the URL at which the invited person fills in the form. */
export const invitationUrl = (
  { vault, formUrl }: { vault: Vault; formUrl: string },
  invitation: LinkTarget,
): string => `${formUrl}?${invitationParameter}=${signInvitationToken(vault, invitation)}`;

/**
 * Returns the URL at which the invited person unsubscribes: by a visit, or by a POST (RFC 8058). Mail
 * programs and scanners see this URL. Its token, `<invitation>.<signature>`, therefore has a purpose of its
 * own and cannot be used to answer the form.
 */
export const unsubscribeUrl = (
  { vault, formUrl }: { vault: Vault; formUrl: string },
  invitation: LinkTarget,
): string => `${formUrl}/unsubscribe/${invitation.id}.${signLink(vault, 'unsubscribe links', invitation)}`;

/**
 * Reads the token of an unsubscribe link; its signature is not checked yet. Undefined if the token is
 * malformed.
 */
export function readUnsubscribeToken(token: string): { id: string; signature: string } | undefined {
  const [, id, signature] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/.exec(token) ?? [];
  return id && signature ? { id, signature } : undefined;
}

/** Returns whether the signature of an unsubscribe link belongs to this invitation. */
export const verifyUnsubscribeSignature = (
  vault: Vault,
  signature: string,
  invitation: LinkTarget,
): boolean => verifyLink(vault, 'unsubscribe links', signature, invitation);
