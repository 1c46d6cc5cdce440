import { type Static, Type } from 'typebox';
import { formStatuses } from '#forms/queries.ts';
import { messageLimits } from '#invitations/message/message.ts';
import { closed, orNull, timestamp, uuid } from '#kit/schemas.ts';
import { holdReasons } from '#submissions/held/reasons.ts';
import { changeThroughs } from '#submissions/history/queries.ts';
import { longestNote } from '#submissions/notes/endpoints.ts';
import { submissionStatuses } from '#submissions/queries.ts';
import { TableSettings, ViewQuery } from '#submissions/shapes.ts';
import { Tags } from '#submissions/tags/tags.ts';
import { retentionChange } from '#workspaces/retention/change.ts';

const count = Type.Integer({ minimum: 0 });
const line = Type.String({ maxLength: 1_024 });
const anObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' });
const texts = Type.Record(Type.String(), Type.String());

/** How many of what a file has, or have been made of it. */
export const Counts = Type.Object(
  {
    forms: count,
    submissions: count,
    /** The spam box. */
    held: count,
    /** Those whose bytes are there. */
    files: count,
    invitations: count,
    views: count,
  },
  closed,
);
export type Counts = Static<typeof Counts>;
export const noCounts: Counts = { forms: 0, submissions: 0, held: 0, files: 0, invitations: 0, views: 0 };

/** The first entry. */
export const Workspace = Type.Object(
  {
    /** Of this shape. */
    formloom_workspace: Type.Literal(1),
    id: uuid,
    name: Type.String({ maxLength: 1_024 }),
    made_at: timestamp,
  },
  closed,
);

/** The last entry: without it a file is cut off. */
export const Ending = Type.Object(
  {
    ...Counts.properties,
    unsubscribed: Type.Array(
      Type.Object({ address_key: Type.String({ pattern: '^[0-9a-f]{64}$' }), created_at: timestamp }, closed),
    ),
  },
  closed,
);

/** What of a form its package does not say. */
export const FormState = Type.Object(
  {
    status: Type.Enum([...formStatuses]),
    updated_at: timestamp,
    published_at: orNull(timestamp),
    retention: Type.Object(retentionChange, closed),
  },
  closed,
);

const file = Type.Object(
  {
    id: uuid,
    element: Type.String({ maxLength: 64 }),
    filename: line,
    content_type: line,
    size: count,
    created_at: timestamp,
  },
  closed,
);
const answered = {
  id: uuid,
  version: Type.Integer({ minimum: 1 }),
  answers: anObject,
  reference: texts,
  language: orNull(Type.String({ maxLength: 100 })),
  /** Of the invitation that it answers. */
  invitation_id: orNull(uuid),
  created_at: timestamp,
  files: Type.Array(file),
};

/** What a line of each kind of record is; the kinds in the order in which they lie in the folder of their form. */
export const records = {
  batches: Type.Object(
    {
      id: uuid,
      subject: Type.String({ maxLength: messageLimits.subject }),
      message: Type.String({ maxLength: messageLimits.message }),
      reminder_subject: orNull(Type.String({ maxLength: messageLimits.subject })),
      reminder_message: orNull(Type.String({ maxLength: messageLimits.message })),
      remind_after_days: Type.Array(Type.Integer(), { maxItems: messageLimits.reminders }),
      is_mailed: Type.Boolean(),
      expires_at: orNull(timestamp),
      created: count,
      skipped: count,
      created_at: timestamp,
    },
    closed,
  ),
  invitations: Type.Object(
    {
      id: uuid,
      batch_id: uuid,
      email: line,
      name: line,
      reference: texts,
      prefill: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
      expires_at: orNull(timestamp),
      created_at: timestamp,
      sent_at: orNull(timestamp),
      opened_at: orNull(timestamp),
      started_at: orNull(timestamp),
      bounced_at: orNull(timestamp),
      revoked_at: orNull(timestamp),
      mail_error: orNull(Type.String()),
      reminders: count,
      reminded_at: orNull(timestamp),
    },
    closed,
  ),
  submissions: Type.Object(
    {
      ...answered,
      status: Type.Enum([...submissionStatuses]),
      tags: Tags,
      updated_at: timestamp,
      completed_at: orNull(timestamp),
      trashed_at: orNull(timestamp),
      notes: Type.Array(
        Type.Object(
          {
            id: uuid,
            text: Type.String({ maxLength: longestNote }),
            created_at: timestamp,
            updated_at: timestamp,
          },
          closed,
        ),
      ),
      changes: Type.Array(
        Type.Object(
          {
            id: uuid,
            kind: Type.Enum(['edited', 'trashed', 'restored', 'note_added', 'note_changed', 'note_deleted']),
            through: Type.Enum([...changeThroughs]),
            changed_at: timestamp,
            changes: Type.Array(anObject),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
  held: Type.Object({ ...answered, reason: Type.Enum([...holdReasons]), origin: orNull(line) }, closed),
  views: Type.Object(
    {
      id: uuid,
      name: Type.String({ minLength: 1, maxLength: 100 }),
      query: ViewQuery,
      columns: orNull(TableSettings),
      created_at: timestamp,
      updated_at: timestamp,
    },
    closed,
  ),
  visits: Type.Object({ day: Type.String({ format: 'date' }), kind: line, name: line, count }, closed),
} as const;

/** A kind of record that hangs on a form. */
export type RecordKind = keyof typeof records;
export const recordKinds = Object.keys(records) as RecordKind[];
export type RecordOf<K extends RecordKind> = Static<(typeof records)[K]>;

/** How the entries of a file are called. */
export const entryNames = {
  workspace: 'workspace.json',
  ending: 'ending.json',
  folder: (formId: string): string => `forms/${formId}/`,
  /** In the folder of its form. */
  state: 'state.json',
  records: (kind: RecordKind, part: number): string => `${kind}/${String(part).padStart(6, '0')}.ndjson`,
  file: (id: string): string => `files/${id}`,
} as const;
