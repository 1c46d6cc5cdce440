import { type Static, Type } from 'typebox';
import { longestMailAddress } from '#kit/outbox/address.ts';
import { type MailKind, type MailState, mailPaces, mailStates } from '#kit/outbox.ts';
import { listParameters, listSchemaOf, namedObject } from '#kit/pagination.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';

export type { MailKind, MailState };

/** An entry of the email log. */
export const LoggedMail = namedObject('Mail', {
  id: uuidSchema,
  kind: Type.Enum(Object.keys(mailPaces) as MailKind[]),
  form_id: orNull(uuidSchema),
  form_name: orNull(Type.String()),
  recipient: Type.String(),
  subject: Type.String(),
  state: Type.Enum([...mailStates]),
  attempts: Type.Integer(),
  /** The error message of the last attempt. */
  error: orNull(Type.String()),
  created_at: timestampSchema,
  settled_at: orNull(timestampSchema),
  next_attempt_at: orNull(timestampSchema),
});
export type LoggedMail = Static<typeof LoggedMail>;

export const MailLog = listSchemaOf(LoggedMail);

export const MailQuery = strictObject({
  ...listParameters,
  state: Type.Optional(Type.Enum([...mailStates])),
});

/** Whether the server sends email, and how many emails are in each state. */
export const MailStatus = Type.Object({
  is_on: Type.Boolean(),
  /** The sender address; null if the server sends no email. */
  from: orNull(Type.String()),
  per_minute: Type.Integer(),
  counts: Type.Record(Type.Enum([...mailStates]), Type.Integer()),
});
export type MailStatus = Static<typeof MailStatus>;

export const TestMailRequest = strictObject({ to: Type.String({ maxLength: longestMailAddress }) });
/** The result of a test and the mail server's response. */
export const TestMailResult = Type.Object({ sent: Type.Boolean(), result: Type.String() });
