import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { longestAddress } from '#kit/outbox/address.ts';
import { draftLimits } from './draft.ts';
import { type Invitation, mostInvited } from './invite.ts';
import { defaultMessage } from './message/message.ts';
import { messageProperties } from './message/message-shape.ts';
import { InvitationShape } from './invitation-shape.ts';

export const closed = { additionalProperties: false } as const;
export const uuid = Type.String({ format: 'uuid' });
/** Path parameters of one invitation. */
export const oneParameters = Type.Object({ id: uuid, invitation: uuid });
/** What an operation on one invitation answers. */
export const one = { status: 200, description: 'The invitation.', schema: InvitationShape } as const;

const InvitedPerson = named(
  'InvitedPerson',
  Type.Object(
    {
      email: Type.String({ maxLength: longestAddress }),
      name: Type.Optional(Type.String({ maxLength: draftLimits.name })),
      reference: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: draftLimits.entryValue })),
      ),
      prefill: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 500 })])),
      ),
    },
    closed,
  ),
);

/** What is sent to invite people. */
export const InviteBody = Type.Object(
  {
    invitations: Type.Array(InvitedPerson, { minItems: 1, maxItems: mostInvited }),
    ...messageProperties,
  },
  closed,
);

/** What a request says of the mails, with what is said when it does not. */
export function readInvitationBody(
  body: Omit<Static<typeof InviteBody>, 'invitations'>,
  createdBy: string | null,
): Invitation {
  return {
    subject: body.subject ?? defaultMessage.subject,
    message: body.message ?? defaultMessage.message,
    reminderSubject: body.reminder_subject ?? null,
    reminderMessage: body.reminder_message ?? null,
    remindAfterDays: body.remind_after_days ?? [],
    expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
    isMailed: body.send ?? true,
    createdBy,
  };
}
