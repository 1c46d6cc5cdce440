import { Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { invitationStatuses } from './status.ts';

const moment = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

/** An invitation as the API and the console show it. */
export const InvitationShape = named(
  'Invitation',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    form_id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    name: Type.String({ description: 'Empty when none was given.' }),
    status: Type.Enum([...invitationStatuses]),
    reference: Type.Record(Type.String(), Type.String(), {
      description: 'Becomes part of the reference of the submission.',
    }),
    prefill: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
      description: 'First answers by element id.',
    }),
    url: Type.Union([Type.String(), Type.Null()], {
      description:
        'The personal link, with which anybody can answer in the name of the person. `null` without the permission invitations:write.',
    }),
    expires_at: moment,
    created_at: Type.String({ format: 'date-time' }),
    sent_at: moment,
    opened_at: moment,
    started_at: moment,
    completed_at: moment,
    revoked_at: moment,
    reminders: Type.Integer({ description: 'How many reminders were sent.' }),
    reminded_at: moment,
    mail_error: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the last mail was not delivered.',
    }),
    is_unsubscribed: Type.Boolean({ description: 'The address asked for no more mails of this workspace.' }),
    submission_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
  }),
);
