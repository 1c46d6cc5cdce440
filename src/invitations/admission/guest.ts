import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { hashOfToken } from '#kit/personal-link.ts';
import type { Queryable } from '#kit/statement.ts';
import { findByHash, noteOpened, noteStarted } from './queries.ts';

/** Somebody who came by an invitation's link. */
export type Guest = {
  readonly workspaceId: string;
  /** The id of the invitation: the key of its submission, under which there can only be one. */
  readonly invitationId: string;
  /** What the link carried, to be carried on. */
  readonly token: string;
  readonly reference: Readonly<Record<string, string>>;
  readonly prefill: Readonly<Record<string, string | readonly string[]>>;
  /** Answers that the person saved and can go on with. */
  readonly savedId: string | undefined;
};

/** A guest; or the link was `used`, by this guest; or it is `void`: revoked, run out, of another form, or invented. */
export type Arrival = { kind: 'open' | 'used'; guest: Guest } | { kind: 'void' };

/** Who comes with a link. Found by the token's SHA-256, so that the time it takes tells nothing of other tokens. */
export async function receiveGuest(
  database: Database,
  { formId, token }: { formId: string; token: string },
): Promise<Arrival> {
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

/** The guest sees the form. */
export async function noteArrival(db: Queryable, { workspaceId, invitationId }: Guest): Promise<void> {
  await noteOpened(db, { workspace_id: workspaceId, id: invitationId, now: now() });
}

/** The guest sent something: a step, a file, answers. */
export async function noteBeginning(db: Queryable, { workspaceId, invitationId }: Guest): Promise<void> {
  await noteStarted(db, { workspace_id: workspaceId, id: invitationId, now: now() });
}
