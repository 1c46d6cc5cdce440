import { Type } from 'typebox';
import type { AnswerRow, Answers, FileAnswer } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { takesFiles } from '#ast/form/input-rules.ts';
import { EventAnswersShape, FileUploadShape } from '#forms/payload.ts';
import { namedObject } from '#kit/pagination.ts';
import { orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { Respondent } from '#workspaces/sign-in/respondent-shape.ts';

/** The kinds of events (specification, "Event kinds"). */
export const eventKinds = ['submission.created', 'submission.updated', 'submission.deleted'] as const;
export type EventKind = (typeof eventKinds)[number];

export const isEventKind = (name: string): name is EventKind => eventKinds.some((kind) => kind === name);

/** A file of a submission, without a link. Links are signed each time the event is sent. */
type SnapshotFile = {
  id: string;
  filename: string;
  size: number;
  content_type: string;
  /** The number of the row in a repeatable composite, counted from 0. */
  row?: number;
};

/**
 * The content of events.snapshot, which never changes: the body's `form` and `submission` (specification,
 * "Request body").
 */
export type Snapshot = {
  form: { id: string; name: string; workspace_id: string };
  submission: {
    id: string;
    submitted_at: string | null;
    status: string;
    reference_data: Readonly<Record<string, string>>;
    /** Present if the visitor signed in to answer. */
    metadata?: { respondent: Respondent };
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
    respondent?: Respondent | null | undefined;
    answers: Answers;
  };
  /** `metadata.fields` of the version that was answered. */
  fields: Readonly<Record<string, FieldDescription>>;
};

/**
 * Freezes a form and one of its submissions. Files are listed in `file_uploads` by element id; files in rows
 * of a repeatable composite also have the number of the row. Everything else stays in `responses`.
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
      ...(submission.respondent && { metadata: { respondent: submission.respondent } }),
      responses,
      file_uploads: Object.fromEntries(uploads),
    },
  };
}

/** Returns the snapshot without answers, files, reference data and respondent. */
export const blankSnapshot = ({
  form,
  submission: { metadata: _metadata, ...submission },
}: Snapshot): Snapshot => ({
  form,
  submission: { ...submission, reference_data: {}, responses: {}, file_uploads: {} },
});

function splitAnswers(
  answers: Answers,
  fields: SnapshotSource['fields'],
): { responses: Answers; uploads: Map<string, SnapshotFile[]> } {
  const uploads = new Map<string, SnapshotFile[]>();
  // An element id may be `toString`, so only own properties are read.
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
    const rest: Answers = {};
    for (const [id, value] of Object.entries(some)) {
      const type = typeOf(id);
      if (takesFiles(type)) keepFiles(id, value as FileAnswer[], row);
      else if (type === 'composite')
        rest[id] = (value as AnswerRow[]).map((cells, at) => withoutFiles(cells, at));
      else rest[id] = value;
    }
    return rest;
  };

  return { responses: withoutFiles(answers), uploads };
}

const uuid = uuidSchema;

const EventFile = namedObject('EventFile', {
  ...FileUploadShape.properties,
  row: Type.Optional(
    Type.Integer({ description: 'The zero-based number of the row in a repeatable group.' }),
  ),
});

/** An event as webhooks send it and the event feed lists it. Specification, "Request body". */
export const Event = namedObject('Event', {
  event: Type.Enum([...eventKinds]),
  timestamp: timestampSchema,
  delivery_id: Type.String({
    format: 'uuid',
    description: 'Identical in every attempt. Skip ids that you have already processed.',
  }),
  form: Type.Object({ id: uuid, name: Type.String(), workspace_id: uuid }),
  submission: Type.Object({
    id: uuid,
    submitted_at: orNull(timestampSchema),
    status: Type.Enum(['completed', 'incomplete', 'waiting']),
    reference_data: Type.Record(Type.String(), Type.String()),
    metadata: Type.Optional(Type.Object({ respondent: Respondent })),
    responses: EventAnswersShape,
    file_uploads: Type.Record(Type.String(), Type.Array(EventFile), {
      description: 'Files by element id.',
    }),
  }),
});
