import { type Static, Type } from 'typebox';
import { accessModes } from '#ast/settings.ts';
import { longestAddress } from '#kit/outbox/address.ts';
import { named } from '#kit/pagination.ts';
import { failedReason } from '#kit/validation.ts';
import { draftLimits, invitationStatuses } from './draft.ts';
import { importLimits } from './import-limits.ts';
import { type Invitation, mostInvited } from './invite.ts';
import { defaultMessage, messageProperties } from './message.ts';

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

const timestamp = Type.String({ format: 'date-time' });

/** What a column of a file becomes. */
const ColumnUse = Type.Union([
  Type.Object({ as: Type.Enum(['email', 'name', 'ignore']) }, closed),
  Type.Object(
    { as: Type.Enum(['reference', 'prefill']), name: Type.String({ maxLength: draftLimits.entryName }) },
    closed,
  ),
]);

/** What is imported: pasted addresses, or the text of a CSV file with what its columns become. */
const importSource = {
  kind: Type.Enum(['addresses', 'csv']),
  text: Type.String({ maxLength: importLimits.characters }),
  mapping: Type.Optional(Type.Array(ColumnUse, { maxItems: 100 })),
};

export const PreviewBody = Type.Object(importSource, closed);

/** Of what is wrong, the first hundred. */
const leftOut = {
  problem_count: Type.Integer(),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
};

/** What an import would do; of its lines the first few. */
export const ImportPreview = Type.Object({
  columns: Type.Array(Type.Object({ title: Type.String(), samples: Type.Array(Type.String()) })),
  mapping: Type.Array(ColumnUse),
  /** How many will be invited, and how many of those get no mail because they asked for none. */
  total: Type.Integer(),
  unsubscribed: Type.Integer(),
  people: Type.Array(
    Type.Object({
      line: Type.Integer(),
      email: Type.String(),
      name: Type.String(),
      reference: Type.Record(Type.String(), Type.String()),
      prefill: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
    }),
  ),
  ...leftOut,
});

export const ImportBody = Type.Object({ ...importSource, ...messageProperties }, closed);
export const ImportStarted = Type.Object({ batch_id: uuid, total: Type.Integer(), ...leftOut });

/** One person that the preview of a mail is written to. */
export const LetterBody = Type.Object(
  {
    email: Type.String({ maxLength: longestAddress }),
    name: Type.String({ maxLength: draftLimits.name }),
    reference: Type.Record(Type.String(), Type.String({ maxLength: draftLimits.entryValue })),
    ...messageProperties,
  },
  closed,
);

/** A mail apart from how it looks, below its subject. */
export const LetterPreview = Type.Object({
  subject: Type.String(),
  letter: Type.Object({
    lang: Type.Optional(Type.String()),
    heading: Type.String(),
    blocks: Type.Array(
      Type.Union([
        Type.Object({ kind: Type.Enum(['text', 'heading']), text: Type.String() }),
        Type.Object({ kind: Type.Literal('button'), label: Type.String(), url: Type.String() }),
      ]),
    ),
    reason: Type.String({ description: 'The small print: why this person gets this mail.' }),
  }),
});

/** What stands beside the list. */
export const InvitationsOverview = Type.Object({
  /** settings.access: who may fill in the form at all. */
  access: Type.Enum([...accessModes]),
  counts: Type.Record(Type.Enum([...invitationStatuses]), Type.Integer()),
  /** How many mails leave in a minute; null where the service sends none. */
  mails_per_minute: Type.Union([Type.Integer(), Type.Null()]),
  /** The last ones, newest first. */
  batches: Type.Array(
    Type.Object({
      id: uuid,
      total: Type.Integer(),
      created: Type.Integer(),
      skipped: Type.Integer(),
      is_mailed: Type.Boolean(),
      /** Mails that have not left yet. */
      waiting: Type.Integer(),
      created_at: timestamp,
      created_by: Type.Union([Type.String(), Type.Null()]),
      failed_reason: failedReason,
    }),
  ),
  /** What was said last, to begin with. */
  message: Type.Object({
    subject: Type.String(),
    message: Type.String(),
    reminder_subject: Type.Union([Type.String(), Type.Null()]),
    reminder_message: Type.Union([Type.String(), Type.Null()]),
    remind_after_days: Type.Array(Type.Integer()),
  }),
  /** What `{{…}}` may stand for. */
  placeholders: Type.Record(Type.String(), Type.String()),
  /** Questions that a column can fill in. */
  questions: Type.Array(Type.Object({ id: Type.String(), label: Type.String() })),
});
export type InvitationsOverview = Static<typeof InvitationsOverview>;
