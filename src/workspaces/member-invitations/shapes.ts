import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { mailStates } from '#kit/outbox.ts';
import { closed, emailText, maybe, role, timestamp, uuid } from '../shapes.ts';

/** Somebody who was asked to join. */
export const MemberInvitation = named(
  'MemberInvitation',
  Type.Object({
    id: uuid,
    email: Type.String(),
    role,
    /** The name of the member who asked; null for people who are gone, and for the operator. */
    invited_by: maybe(Type.String()),
    created_at: timestamp,
    expires_at: timestamp,
    /** How the latest mail fared; null when none was written. */
    mail_state: maybe(Type.Enum([...mailStates])),
    mail_error: maybe(Type.String()),
  }),
);
export type MemberInvitation = Static<typeof MemberInvitation>;

export const MemberInvitations = Type.Object({
  data: Type.Array(MemberInvitation),
  /** Otherwise an invitation is a link to hand over. */
  sends_mail: Type.Boolean(),
});
export const NewInvitation = Type.Object({ email: emailText, role }, closed);
/** `link` only where no mail is sent: it is handed over by hand. */
export const Invited = Type.Object({ id: uuid, link: maybe(Type.String()) });
