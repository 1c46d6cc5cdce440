import { type Static, Type } from 'typebox';
import { accessModes } from '#ast/settings.ts';
import type { Letter } from '#kit/outbox/letter.ts';
import { pageParameters, Pagination } from '#kit/pagination.ts';
import { importLimits } from '#invitations/import/limits.ts';
import { InvitationShape } from '#invitations/invitation-shape.ts';
import { messageProperties } from '#invitations/message/message-shape.ts';
import { type InvitationStatus, invitationStatuses } from '#invitations/status.ts';

const uuid = Type.String({ format: 'uuid' });
const timestamp = Type.String({ format: 'date-time' });
const closed = { additionalProperties: false } as const;

export type { InvitationStatus };

/** Path parameters below `/workspaces/:workspace/forms/:form/invitations`. */
export const InvitationsPath = Type.Object({ form: uuid });
export const InvitationPath = Type.Object({ form: uuid, invitation: uuid });

export const InvitationsQuery = Type.Object(
  {
    ...pageParameters,
    status: Type.Optional(Type.Enum([...invitationStatuses])),
    q: Type.Optional(Type.String({ maxLength: 254 })),
  },
  closed,
);

/** An invitation; viewers are not told its link. */
export const InvitationRow = Type.Object({
  ...InvitationShape.properties,
  url: Type.Union([Type.String(), Type.Null()]),
});
export type InvitationRow = Static<typeof InvitationRow>;

export const InvitationsPage = Type.Object({ data: Type.Array(InvitationRow), pagination: Pagination });
export type InvitationsPage = Static<typeof InvitationsPage>;

/** What a column of a file becomes. */
const ColumnUse = Type.Union([
  Type.Object({ as: Type.Enum(['email', 'name', 'ignore']) }, closed),
  Type.Object({ as: Type.Enum(['reference', 'prefill']), name: Type.String({ maxLength: 200 }) }, closed),
]);
export type ColumnUse = Static<typeof ColumnUse>;

/** What is imported: pasted addresses, or the text of a CSV file with what its columns become. */
const ImportSource = Type.Object(
  {
    kind: Type.Enum(['addresses', 'csv']),
    text: Type.String({ maxLength: importLimits.characters }),
    mapping: Type.Optional(Type.Array(ColumnUse, { maxItems: 100 })),
  },
  closed,
);
export type ImportSource = Static<typeof ImportSource>;

export const PreviewBody = Type.Object({ source: ImportSource }, closed);

/** What an import would do; of its lines the first few, and of what is wrong the first hundred. */
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
  problem_count: Type.Integer(),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
});
export type ImportPreview = Static<typeof ImportPreview>;

const message = Type.Object(messageProperties, closed);
export type MessageBody = Static<typeof message>;

export const ImportBody = Type.Object({ source: ImportSource, ...messageProperties }, closed);
export const ImportStarted = Type.Object({ batch_id: uuid, total: Type.Integer() });
export type ImportStarted = Static<typeof ImportStarted>;

/** One person that the preview of a mail is written to. */
export const LetterBody = Type.Object(
  {
    email: Type.String({ maxLength: 500 }),
    name: Type.String({ maxLength: 200 }),
    reference: Type.Record(Type.String(), Type.String()),
    ...messageProperties,
  },
  closed,
);
export const LetterPreview = Type.Object({
  subject: Type.String(),
  letter: Type.Unsafe<Letter>(Type.Object({})),
});
export type LetterPreview = Static<typeof LetterPreview>;

export const ReminderBody = Type.Object(
  { ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: 1_000, uniqueItems: true })) },
  closed,
);
export const Reminded = Type.Object({ count: Type.Integer() });
export type Reminded = Static<typeof Reminded>;

/** What the tab shows beside the list. */
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
