import { type Static, Type } from 'typebox';
import type { AnswerRow, Answers as AnswersOf, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { Answers } from '#forms/payload.ts';
import { now } from '#kit/clock.ts';
import { mapWithYields } from '#kit/concurrency.ts';
import { type JsonText, markJsonText } from '#kit/http.ts';
import { namedObject } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { SubmissionStatus } from './submission-rows.ts';
import type { VerifiedAddresses } from './verified.ts';

export const submissionStatuses = [
  'completed',
  'incomplete',
  'waiting',
] as const satisfies SubmissionStatus[];

/** An answer in which a search found words. */
const Hit = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description:
      'The path: `answers`, the element and, in a group, the row number and the element in the row; or `reference` and a name.',
  }),
  words: Type.Array(Type.String(), { description: 'The words as they appear there, longest first.' }),
  excerpt: Type.String({ description: 'The text around the first word.' }),
});
export type Hit = Static<typeof Hit>;

const stage_id = Type.String({ description: 'The stage of the workspace. Absent for the first stage.' });
const assignee_id = Type.String({ description: 'The assigned member. Absent if there is none.' });

/** The stage and the assignee, where they are never absent (docs/decisions/0111-stages-and-assignees.md). */
export const assignmentProperties = {
  stage_id: Type.String({ description: 'The stage of the workspace.' }),
  assignee_id: Type.Union([Type.String(), Type.Null()], { description: 'The assigned member.' }),
};

/** A submission as the REST API returns it. Specification, "Submission (REST representation)". */
export const Submission = namedObject('Submission', {
  id: uuidSchema,
  form_id: uuidSchema,
  status: Type.Enum([...submissionStatuses]),
  answers: Answers,
  metadata: Type.Object({
    fields: Type.Record(
      Type.String(),
      Type.Object({
        label: Type.String(),
        type: Type.String(),
        required: Type.Boolean(),
        verified_at: Type.Optional(
          Type.String({
            format: 'date-time',
            description: 'When the visitor verified this email address by a code.',
          }),
        ),
      }),
    ),
    form_name: Type.String(),
    reference: Type.Record(Type.String(), Type.String()),
    language: Type.Optional(
      Type.String({
        description:
          'The language in which the visitor read the form, as a BCP 47 tag. Present if the form has languages.',
      }),
    ),
    respondent: Type.Optional(Respondent),
  }),
  completed_at: orNull(timestampSchema),
  created_at: timestampSchema,
  stage_id: Type.Optional(stage_id),
  assignee_id: Type.Optional(assignee_id),
  position: Type.Optional(
    Type.Integer({
      description:
        'The position on the waiting list, counted from 1. Present for a single submission that is waiting.',
    }),
  ),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'Present with `include=tags`.' })),
  hits: Type.Optional(Type.Array(Hit, { description: 'Present in a search with `include=hits`.' })),
});

/** A row of a list; all columns are null if a left join found no submission. */
type SubmissionRow = {
  id: string | null;
  workspace_id: string | null;
  form_id: string | null;
  status: SubmissionStatus | null;
  answers: string | null;
  reference: string | null;
  respondent: string | null;
  language: string | null;
  fields: string | null;
  verified: string | null;
  form_name: string | null;
  has_files: boolean | null;
  created_at: Date | null;
  completed_at: Date | null;
  stage_id: string | null;
  first_stage_id: string | null;
  assignee_id: string | null;
};

/**
 * Formats a row as JSON text. It is written by hand because its largest parts are already JSON: passing them
 * on unparsed makes lists 1.5 times as fast. All other parts go through JSON.stringify.
 * @param more further properties, for responses that have more than the specification.
 */
export function submissionJson<More extends object>(
  row: SubmissionRow,
  links: FileLinks,
  more?: More,
): JsonText<Static<typeof Submission> & More> {
  const answers = row.has_files ? withLinks(row, links) : row.answers;
  return markJsonText(
    `{"id":"${row.id}","form_id":"${row.form_id}","status":"${row.status}","answers":${answers},` +
      `"metadata":{"fields":${fieldsOf(row)},"form_name":${JSON.stringify(row.form_name)},"reference":${row.reference}${languageOf(row)}${respondentOf(row)}},` +
      `"completed_at":${JSON.stringify(row.completed_at)},"created_at":${JSON.stringify(row.created_at)}` +
      (more && 'stage_id' in more ? '' : assignmentOf(row)) +
      (more && Object.keys(more).length > 0 ? `,${JSON.stringify(more).slice(1)}` : '}'),
  );
}

/** Returns the fields of the version, with the time at which each address was verified. */
function fieldsOf({ fields, verified }: SubmissionRow): string | null {
  if (verified === null) return fields;
  const times = JSON.parse(verified) as VerifiedAddresses;
  const all = Object.entries(JSON.parse(fields!) as Fields);
  return JSON.stringify(
    Object.fromEntries(
      all.map(([id, field]) => [id, Object.hasOwn(times, id) ? { ...field, verified_at: times[id] } : field]),
    ),
  );
}

/** As in the specification, unless the workspace has moved or assigned the submission. */
const assignmentOf = ({ stage_id, first_stage_id, assignee_id }: SubmissionRow): string =>
  (stage_id === first_stage_id ? '' : `,"stage_id":${JSON.stringify(stage_id)}`) +
  (assignee_id === null ? '' : `,"assignee_id":${JSON.stringify(assignee_id)}`);

const languageOf = ({ language }: SubmissionRow): string =>
  language === null ? '' : `,"language":${JSON.stringify(language)}`;

const respondentOf = ({ respondent }: SubmissionRow): string =>
  respondent === null ? '' : `,"respondent":${respondent}`;

/** Formats rows as JSON. Parsing answers to add file links yields to the event loop. */
export const formatSubmissions = (rows: readonly SubmissionRow[], links: FileLinks) =>
  mapWithYields(
    rows,
    (row) => (row.has_files ? row.answers!.length : 0),
    (row) => submissionJson(row, links),
  );

/** Returns the answers with a fresh link for each file (docs/rules.md 10). */
function withLinks(row: SubmissionRow, links: FileLinks): string {
  const answers = JSON.parse(row.answers!) as AnswersOf;
  const fields = JSON.parse(row.fields!) as Fields;
  return JSON.stringify(
    mapFiles(answers, fields, (file) => ({
      ...file,
      url: links.sign({ workspaceId: row.workspace_id!, formId: row.form_id!, id: file.id }),
    })),
  );
}

type Fields = Readonly<Record<string, FieldDescription>>;

/**
 * Maps every file in the answers. The fields of the version that was answered show which answers are files.
 */
export const mapFiles = (
  answers: AnswersOf,
  fields: Fields,
  change: (file: FileAnswer) => FileAnswer,
): AnswersOf => mapAnswersOfKind('files', answers, fields, (value) => (value as FileAnswer[]).map(change));

/**
 * Maps all answers of a kind, including those in rows. The fields of the version that was answered show the
 * kind of each answer.
 */
export function mapAnswersOfKind(
  kind: AnswerKind,
  answers: AnswersOf,
  fields: Fields,
  change: (value: AnswerValue) => AnswerValue,
): AnswersOf {
  return Object.fromEntries(
    Object.entries(answers).map(([id, value]) => {
      const type = fields[id]?.type;
      if (type !== undefined && isInputType(type) && inputRules[type].kind === kind)
        return [id, change(value)];
      if (type === 'composite')
        return [id, (value as AnswerRow[]).map((row) => mapAnswersOfKind(kind, row, fields, change))];
      return [id, value];
    }),
  );
}

/** How long a response with file links may be reused: its links stay valid at least this long. */
const linksKeptMs = 1_800_000;

/**
 * Returns the ETag of a submission. It also changes every half hour if it has files, because file links expire.
 * A deleted stage, an assignee who leaves and another position change it without changing the submission.
 */
export const submissionEtag = ({
  updated_at,
  has_files,
  stage_id,
  first_stage_id,
  assignee_id,
  position,
}: Pick<SubmissionRow, 'has_files' | 'stage_id' | 'first_stage_id' | 'assignee_id'> & {
  updated_at: Date;
  position?: number | undefined;
}): string => {
  const links = has_files ? Math.floor(now().getTime() / linksKeptMs) : null;
  const seen = [links, stage_id === first_stage_id ? null : stage_id, assignee_id, position];
  return formatEtag(updated_at, seen.filter((part) => part != null).join('.') || undefined);
};
