import { type Static, Type } from 'typebox';
import { accessModes } from '#ast/settings.ts';
import { longestMailAddress } from '#kit/outbox/address.ts';
import { namedObject, nameSchema } from '#kit/pagination.ts';
import { failedReasonSchema, orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { invitationDraftLimits, invitationImportLimits, invitationStatuses } from './draft.ts';
import { type InvitationBatchOptions, mostInvited } from './invite.ts';
import { defaultMessage, messageProperties } from './message.ts';

const moment = orNull(timestampSchema);

/** An invitation in the API and the console. */
export const InvitationShape = namedObject('Invitation', {
  id: uuidSchema,
  form_id: uuidSchema,
  email: Type.String(),
  name: Type.String({ description: 'Empty if none was given.' }),
  status: Type.Enum([...invitationStatuses]),
  reference: Type.Record(Type.String(), Type.String(), {
    description: 'Stored as reference data of the submission.',
  }),
  prefill: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
    description: 'Initial answers by element id.',
  }),
  url: Type.Union([Type.String(), Type.Null()], {
    description:
      "The personal link. Anyone who has it can answer in the person's name. `null` without the permission invitations:write.",
  }),
  expires_at: moment,
  created_at: timestampSchema,
  sent_at: moment,
  opened_at: moment,
  started_at: moment,
  completed_at: moment,
  revoked_at: moment,
  reminders: Type.Integer({ description: 'The number of reminders sent.' }),
  reminded_at: moment,
  mail_error: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the last email was not delivered.',
  }),
  is_unsubscribed: Type.Boolean({
    description: "Whether the address has unsubscribed from the workspace's emails.",
  }),
  submission_id: orNull(uuidSchema),
});

export const invitationParameters = Type.Object({ id: uuidSchema, invitation: uuidSchema });
/** The response of operations on one invitation. */
export const invitationReply = {
  status: 200,
  description: 'The invitation.',
  schema: InvitationShape,
} as const;

const InvitedPerson = nameSchema(
  'InvitedPerson',
  strictObject({
    email: Type.String({ maxLength: longestMailAddress }),
    name: Type.Optional(Type.String({ maxLength: invitationDraftLimits.name })),
    reference: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: invitationDraftLimits.entryValue })),
    ),
    prefill: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 500 })])),
    ),
  }),
);

/** The request body that invites people. */
export const InviteBody = strictObject({
  invitations: Type.Array(InvitedPerson, { minItems: 1, maxItems: mostInvited }),
  ...messageProperties,
});

/** Returns the message and options of a request, with defaults for missing ones. */
export function readInvitationBody(
  body: Omit<Static<typeof InviteBody>, 'invitations'>,
  createdBy: string | null,
): InvitationBatchOptions {
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

const timestamp = timestampSchema;

const ColumnUse = Type.Union([
  strictObject({ as: Type.Enum(['email', 'name', 'ignore']) }),
  strictObject({
    as: Type.Enum(['reference', 'prefill']),
    name: Type.String({ maxLength: invitationDraftLimits.entryName }),
  }),
]);

/** The source of an import: pasted addresses, or a CSV text with the uses of its columns. */
const importSource = {
  kind: Type.Enum(['addresses', 'csv']),
  text: Type.String({ maxLength: invitationImportLimits.characters }),
  mapping: Type.Optional(Type.Array(ColumnUse, { maxItems: 100 })),
};

export const ImportPreviewBody = strictObject(importSource);

/** The number of problems, and the first hundred of them. */
const leftOut = {
  problem_count: Type.Integer(),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
};

/** The preview of an import, with its first few people. */
export const ImportPreview = Type.Object({
  columns: Type.Array(Type.Object({ title: Type.String(), samples: Type.Array(Type.String()) })),
  mapping: Type.Array(ColumnUse),
  /** How many people will be invited. `unsubscribed` of them get no email. */
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

export const ImportBody = strictObject({ ...importSource, ...messageProperties });
export const ImportStarted = Type.Object({ batch_id: uuidSchema, total: Type.Integer(), ...leftOut });

/** The person and message of a preview. */
export const EmailPreviewBody = strictObject({
  email: Type.String({ maxLength: longestMailAddress }),
  name: Type.String({ maxLength: invitationDraftLimits.name }),
  reference: Type.Record(Type.String(), Type.String({ maxLength: invitationDraftLimits.entryValue })),
  ...messageProperties,
});

/** The subject and content of an email, without its layout. */
export const EmailPreview = Type.Object({
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
    reason: Type.String({ description: 'The small print: why the person gets this email.' }),
  }),
});

/** The data that the console shows next to the list of invitations. */
export const InvitationsOverview = Type.Object({
  /** settings.access: who can fill in the form. */
  access: Type.Enum([...accessModes]),
  counts: Type.Record(Type.Enum([...invitationStatuses]), Type.Integer()),
  /** The number of emails sent in a minute; null if the server sends none. */
  mails_per_minute: orNull(Type.Integer()),
  /** The last batches, newest first. */
  batches: Type.Array(
    Type.Object({
      id: uuidSchema,
      total: Type.Integer(),
      created: Type.Integer(),
      skipped: Type.Integer(),
      is_mailed: Type.Boolean(),
      /** The number of queued emails. */
      waiting: Type.Integer(),
      created_at: timestamp,
      created_by: orNull(Type.String()),
      failed_reason: failedReasonSchema,
    }),
  ),
  /** The message of the last batch, as a default. */
  message: Type.Object({
    subject: Type.String(),
    message: Type.String(),
    reminder_subject: orNull(Type.String()),
    reminder_message: orNull(Type.String()),
    remind_after_days: Type.Array(Type.Integer()),
  }),
  /** The names that `{{…}}` can use. */
  placeholders: Type.Record(Type.String(), Type.String()),
  /** Questions that a column can prefill. */
  questions: Type.Array(Type.Object({ id: Type.String(), label: Type.String() })),
});
export type InvitationsOverview = Static<typeof InvitationsOverview>;
