import { followInvitationMail } from '#invitations/sending/follow-mail.ts';
import type { MailKind } from '#kit/outbox/kinds.ts';
import type { Queryable } from '#kit/statement.ts';

/** How a mail ended, or that an attempt failed and another follows (`queued`). */
type MailNote = {
  workspaceId: string;
  mailId: string;
  state: 'queued' | 'sent' | 'failed';
  error: string | null;
};

/** Hears how mails of a kind fare, in the transaction that writes it down. */
type Follower = (client: Queryable, note: MailNote) => Promise<void>;

/** What lower rooms do when their mails have left, or never will. */
export const followers: Partial<Readonly<Record<MailKind, Follower>>> = {
  invitation: followInvitationMail,
  reminder: followInvitationMail,
};
