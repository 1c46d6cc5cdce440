import { Type } from 'typebox';
import { defaultMessage, messageLimits } from './message.ts';
import { placeholders } from './placeholders.ts';

/** What is said to those who are invited at once; the console sends the same. */
export const messageProperties = {
  subject: Type.Optional(Type.String({ maxLength: messageLimits.subject, default: defaultMessage.subject })),
  message: Type.Optional(
    Type.String({
      maxLength: messageLimits.message,
      description: `Plain text with placeholders: ${Object.keys(placeholders)
        .map((name) => `{{${name}}}`)
        .join(
          ', ',
        )} and the names of reference values; {{name|friend}} says what stands there without a value.`,
      default: defaultMessage.message,
    }),
  ),
  reminder_subject: Type.Optional(Type.String({ maxLength: messageLimits.subject })),
  reminder_message: Type.Optional(Type.String({ maxLength: messageLimits.message })),
  remind_after_days: Type.Optional(
    Type.Array(Type.Integer(), {
      description: 'On which days after the invitation was sent.',
      maxItems: messageLimits.reminders,
    }),
  ),
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  send: Type.Optional(
    Type.Boolean({ description: 'Whether mails are sent; if not, hand out the links.', default: true }),
  ),
};
