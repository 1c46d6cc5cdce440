import { Type } from 'typebox';
import type { AnswerRow, Answers, FileAnswer } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { takesFiles } from '#ast/form/input-rules.ts';
import { FileUpload, Responses } from '#forms/payload.ts';
import { named } from '#kit/pagination.ts';

/** Specification, "Event kinds". */
export const eventKinds = ['submission.created', 'submission.updated', 'submission.deleted'] as const;
export type EventKind = (typeof eventKinds)[number];

export const isEventKind = (name: string): name is EventKind => eventKinds.some((kind) => kind === name);

/** A file of a submission, without a link: that is signed at each send. */
type SnapshotFile = {
  id: string;
  filename: string;
  size: number;
  content_type: string;
  /** In a repeatable composite: which of its rows, from 0. */
  row?: number;
};

/** What is frozen in events.snapshot: the body's `form` and `submission` (specification, "Request body"). */
export type Snapshot = {
  form: { id: string; name: string; workspace_id: string };
  submission: {
    id: string;
    submitted_at: string | null;
    status: string;
    reference_data: Readonly<Record<string, string>>;
    responses: Answers;
    file_uploads: Readonly<Record<string, readonly SnapshotFile[]>>;
  };
};

type SnapshotSource = {
  form: { id: string; name: string; workspaceId: string };
  submission: {
    id: string;
    submittedAt: Date | null;
    status: string;
    reference: Readonly<Record<string, string>>;
    answers: Answers;
  };
  /** metadata.fields of the version that was answered. */
  fields: Readonly<Record<string, FieldDescription>>;
};

/**
 * Freezes a form and one of its submissions. Files go to `file_uploads` under their element's id, those in the rows
 * of a repeatable composite with the number of the row; everything else stays in `responses`.
 */
export function snapshotOf({ form, submission, fields }: SnapshotSource): Snapshot {
  const { responses, uploads } = splitAnswers(submission.answers, fields);
  return {
    form: { id: form.id, name: form.name, workspace_id: form.workspaceId },
    submission: {
      id: submission.id,
      submitted_at: submission.submittedAt?.toISOString() ?? null,
      status: submission.status,
      reference_data: submission.reference,
      responses,
      file_uploads: Object.fromEntries(uploads),
    },
  };
}

/** The same event without anything that somebody said. */
export const blankSnapshot = ({ form, submission }: Snapshot): Snapshot => ({
  form,
  submission: { ...submission, reference_data: {}, responses: {}, file_uploads: {} },
});

function splitAnswers(
  answers: Answers,
  fields: SnapshotSource['fields'],
): { responses: Answers; uploads: Map<string, SnapshotFile[]> } {
  const uploads = new Map<string, SnapshotFile[]>();
  // Element ids may be `toString`, so objects are only asked for what is their own.
  const typeOf = (id: string): string | undefined =>
    Object.hasOwn(fields, id) ? fields[id]!.type : undefined;

  const keepFiles = (id: string, files: readonly FileAnswer[], row: number | undefined): void => {
    const known = uploads.get(id) ?? [];
    const more = files.map(({ id, filename, size, content_type }) => ({
      id,
      filename,
      size,
      content_type,
      ...(row !== undefined && { row }),
    }));
    uploads.set(id, [...known, ...more]);
  };

  const withoutFiles = (some: Answers, row?: number): Answers => {
    const kept: Answers = {};
    for (const [id, value] of Object.entries(some)) {
      const type = typeOf(id);
      if (takesFiles(type)) keepFiles(id, value as FileAnswer[], row);
      else if (type === 'composite')
        kept[id] = (value as AnswerRow[]).map((cells, at) => withoutFiles(cells, at));
      else kept[id] = value;
    }
    return kept;
  };

  return { responses: withoutFiles(answers), uploads };
}

const uuid = Type.String({ format: 'uuid' });

const EventFile = named(
  'EventFile',
  Type.Object({
    ...FileUpload.properties,
    row: Type.Optional(Type.Integer({ description: 'In a group that repeats: which row, from 0.' })),
  }),
);

/** What webhooks send and the feed lists. Specification, "Request body". */
export const Event = named(
  'Event',
  Type.Object({
    event: Type.Enum([...eventKinds]),
    timestamp: Type.String({ format: 'date-time' }),
    delivery_id: Type.String({
      format: 'uuid',
      description: 'The same in every repetition: what was seen before is skipped.',
    }),
    form: Type.Object({ id: uuid, name: Type.String(), workspace_id: uuid }),
    submission: Type.Object({
      id: uuid,
      submitted_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
      status: Type.Enum(['completed', 'incomplete']),
      reference_data: Type.Record(Type.String(), Type.String()),
      responses: Responses,
      file_uploads: Type.Record(Type.String(), Type.Array(EventFile), {
        description: 'Element id -> files.',
      }),
    }),
  }),
);
