import { type Static, Type } from 'typebox';
import type { AnswerRow, Answers as AnswersOf, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { Answers } from '#forms/payload.ts';
import { now } from '#kit/clock.ts';
import { mapInTurns } from '#kit/concurrency.ts';
import { type JsonText, jsonText } from '#kit/http.ts';
import { named } from '#kit/pagination.ts';
import { tagOf } from '#kit/replies/tag-of.ts';
import type { SubmissionStatus } from './submission-rows.ts';

export const submissionStatuses = ['completed', 'incomplete'] as const satisfies SubmissionStatus[];

/** Where a search found words in a submission. */
const Hit = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description:
      'The way to it: `answers`, the element, in a group the number of the row and its element; or `reference` and a name.',
  }),
  words: Type.Array(Type.String(), { description: 'As they are written there, the longest first.' }),
  excerpt: Type.String({ description: 'The text around the first of them.' }),
});
export type Hit = Static<typeof Hit>;

/** The REST representation. Specification, "Submission (REST representation)". */
export const Submission = named(
  'Submission',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    form_id: Type.String({ format: 'uuid' }),
    status: Type.Enum([...submissionStatuses]),
    answers: Answers,
    metadata: Type.Object({
      fields: Type.Record(
        Type.String(),
        Type.Object({ label: Type.String(), type: Type.String(), required: Type.Boolean() }),
      ),
      form_name: Type.String(),
      reference: Type.Record(Type.String(), Type.String()),
      language: Type.Optional(
        Type.String({
          description:
            'In which the form was read, as a BCP-47 tag; there when the form names its languages.',
        }),
      ),
    }),
    completed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    created_at: Type.String({ format: 'date-time' }),
    tags: Type.Optional(
      Type.Array(Type.String(), { description: 'There when it is asked for by `include=tags`.' }),
    ),
    hits: Type.Optional(
      Type.Array(Hit, { description: 'There when a search is asked for it by `include=hits`.' }),
    ),
  }),
);

/** A row of queries.ts; every column is null where a left join found no submission. */
type SubmissionRow = {
  id: string | null;
  workspace_id: string | null;
  form_id: string | null;
  status: SubmissionStatus | null;
  answers: string | null;
  reference: string | null;
  language: string | null;
  fields: string | null;
  form_name: string | null;
  has_files: boolean | null;
  created_at: Date | null;
  completed_at: Date | null;
};

/**
 * A row as JSON text. Written by hand because its largest parts are JSON already: passing them on unparsed is
 * worth 1.5 times the list rate. Everything that is not JSON yet goes through JSON.stringify.
 * @param more what else it has, in answers that say more than the specification.
 */
export function submissionJson<More extends object>(
  row: SubmissionRow,
  links: FileLinks,
  more?: More,
): JsonText<Static<typeof Submission> & More> {
  const answers = row.has_files ? withLinks(row, links) : row.answers;
  return jsonText(
    `{"id":"${row.id}","form_id":"${row.form_id}","status":"${row.status}","answers":${answers},` +
      `"metadata":{"fields":${row.fields},"form_name":${JSON.stringify(row.form_name)},"reference":${row.reference}${languageOf(row)}},` +
      `"completed_at":${JSON.stringify(row.completed_at)},"created_at":${JSON.stringify(row.created_at)}` +
      (more ? `,${JSON.stringify(more).slice(1)}` : '}'),
  );
}

const languageOf = ({ language }: SubmissionRow): string =>
  language === null ? '' : `,"language":${JSON.stringify(language)}`;

/** Rows as JSON texts; answers that are read for their links take turns. */
export const submissionTexts = (rows: readonly SubmissionRow[], links: FileLinks) =>
  mapInTurns(
    rows,
    (row) => (row.has_files ? row.answers!.length : 0),
    (row) => submissionJson(row, links),
  );

/** The answers with a fresh link in each file (docs/rules.md 10). */
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

/** The answers with every file changed; the fields of the version that was answered say which answers are files. */
export const mapFiles = (
  answers: AnswersOf,
  fields: Fields,
  change: (file: FileAnswer) => FileAnswer,
): AnswersOf => mapKind('files', answers, fields, (value) => (value as FileAnswer[]).map(change));

/** The answers with those of a kind changed, in rows too; the fields of the version that was answered say which they are. */
export function mapKind(
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
        return [id, (value as AnswerRow[]).map((row) => mapKind(kind, row, fields, change))];
      return [id, value];
    }),
  );
}

/** So long a link of a file lives at least, whoever has the reading that it came with already. */
const linksKeptMs = 1_800_000;

/** The ETag of a submission. What has files is another reading each half hour, as their links end. */
export const submissionTag = ({
  updated_at,
  has_files,
}: {
  updated_at: Date;
  has_files: boolean | null;
}): string => tagOf(updated_at, has_files ? Math.floor(now().getTime() / linksKeptMs) : undefined);
