import type { AnswerRow } from '#ast/answers/check-answers.ts';
import { type AnswerFormat, formatAnswerParts } from '#ast/answers/format-answer.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import { answerKindOf, type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { type ChatFormat, chatFormats, chatMessages } from './chat-messages.ts';
import type { EventKind, Snapshot } from './event.ts';
import { type DeliveryBodySource, formatDeliveryBody } from './signature.ts';
import { type PlaceholderValue, renderTemplate, type Template } from './template.ts';

export const webhookFormats = ['standard', ...chatFormats, 'template'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

/** Finds the version that a submission answered, or the live one if the submission is a sample or was deleted. */
const findAnsweredForm = statement('workspace_id form_id submission_id', {
  structure: effectiveFormColumn,
})`
  select v.structure from forms f
    join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
     and v.version = coalesce((select s.version from submissions s
                                where s.workspace_id = f.workspace_id and s.form_id = f.id and s.id = $submission_id), f.version)
   where f.workspace_id = $workspace_id and f.id = $form_id`;

/** Returns the form that has the questions of an event; undefined for the standard format, which needs none. */
export const findFormOfEvent = async (
  db: Queryable,
  { format, ...key }: Parameters<typeof findAnsweredForm>[1] & { format: WebhookFormat },
): Promise<Form | undefined> =>
  format === 'standard' ? undefined : onlyRow(await findAnsweredForm(db, key))?.structure;

/** How a webhook formats the body of an event. */
export type BodyFormat = {
  format: WebhookFormat;
  template: Template | null;
  /** The URL of the request. */
  url: string;
  isTest: boolean;
  form: Form | undefined;
  publicUrl: string;
};

/** The body of an event in the standard format. */
type EventBody = Snapshot & { event: EventKind };

/** Returns the text that is signed and sent. @throws if this service did not write the snapshot. */
export function formatBody(source: DeliveryBodySource, how: BodyFormat): string {
  const standard = formatDeliveryBody(source);
  if (how.format === 'standard') return standard;
  const event = JSON.parse(standard) as EventBody;
  if (how.format !== 'template') return JSON.stringify(formatMessage(how.format, event, how));
  const answers = listAnswers(event, how.form);
  return renderTemplate(how.template!, (name) => findValue(name, event, answers, how.publicUrl));
}

const headlines: Readonly<Record<EventKind, string>> = {
  'submission.created': 'New submission',
  'submission.updated': 'Submission updated',
  'submission.deleted': 'Submission deleted',
};

const headlineOf = ({ event, submission }: EventBody): string =>
  event === 'submission.created' && submission.status === 'waiting'
    ? 'New on the waiting list'
    : headlines[event];

const formatMessage = (format: ChatFormat, event: EventBody, { form, isTest, publicUrl, url }: BodyFormat) =>
  chatMessages[format]({
    headline: `${isTest ? 'Test: ' : ''}${headlineOf(event)}: ${event.form.name}`,
    answers: listAnswers(event, form),
    link: submissionUrl(event, publicUrl),
    url,
  });

/** Returns the address of a submission in the console; empty if it was deleted. */
const submissionUrl = ({ event, form, submission }: EventBody, publicUrl: string): string =>
  event === 'submission.deleted' ? '' : `${publicUrl}/app/forms/${form.id}/submissions?open=${submission.id}`;

/** `id` is the question's: rows of a group share it. */
type ListedAnswer = { id: string; label: string; text: string; isInRow: boolean };

const format: AnswerFormat = { language: 'en', numberLocale: 'en', words: { yes: 'Yes', no: 'No' } };

/** Lists the answers as people read them, in form order. A deleted submission has none. */
function listAnswers({ event, submission }: EventBody, form: Form | undefined): ListedAnswer[] {
  if (!form || event === 'submission.deleted') return [];
  const { responses, file_uploads: uploads } = submission;
  const textOf = (input: InputElement, cells: AnswerRow, row?: number): string => {
    const { id } = input.attrs;
    if (answerKindOf(input) !== 'files')
      return formatAnswerParts(input, getProperty(cells, id), format).join(', ');
    const files = getProperty(uploads, id) ?? [];
    return files.flatMap((file) => (file.row === row ? [file.filename] : [])).join(', ');
  };
  const listed = listQuestions(withPipedLabels(form)).flatMap((question): ListedAnswer[] => {
    const { id, label } = question.element.attrs;
    if (question.kind === 'input')
      return [{ id, label, text: textOf(question.element, responses), isInRow: false }];
    const rows = getProperty(responses, id);
    return (Array.isArray(rows) ? (rows as AnswerRow[]) : []).flatMap((cells, row) =>
      question.inputs.map((input) => ({
        id,
        label: `${label} ${row + 1}: ${input.attrs.label}`,
        text: textOf(input, cells, row),
        isInRow: true,
      })),
    );
  });
  return listed.filter(({ text }) => text !== '');
}

const joinAnswers = (answers: readonly ListedAnswer[]): string =>
  answers.map(({ label, text }) => `${label}: ${text}`).join('\n');

/** Returns the value of a placeholder. Names of messages and paths of the event come before ids of questions. */
function findValue(
  name: string,
  event: EventBody,
  answers: readonly ListedAnswer[],
  publicUrl: string,
): PlaceholderValue {
  const named = (text: string): PlaceholderValue => ({ json: text, text });
  if (name === 'form_name') return named(event.form.name);
  if (name === 'submission_url') return named(submissionUrl(event, publicUrl));
  if (name === 'answers') return named(joinAnswers(answers));
  const [root, ...rest] = name.split('.');
  if (Object.hasOwn(event, root!)) {
    const get = (from: unknown, key: string): unknown =>
      isRecord(from) ? getProperty(from, key) : undefined;
    const json = [root!, ...rest].reduce(get, event) ?? null;
    return { json, text: typeof json === 'string' ? json : json === null ? '' : JSON.stringify(json) };
  }
  const { responses, file_uploads: uploads } = event.submission;
  const own = answers.filter(({ id }) => id === name);
  return {
    json: own.length === 0 ? null : (getProperty(responses, name) ?? getProperty(uploads, name) ?? null),
    text: own[0]?.isInRow ? joinAnswers(own) : (own[0]?.text ?? ''),
  };
}
