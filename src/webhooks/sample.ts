import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers.ts';
import type { InputType } from '#ast/elements.ts';
import { type Form, type InputElement, listQuestions, optionsOf } from '#ast/tree.ts';

/** Answers that somebody might have given, and the reference data of a form that was opened with `?test=true`. */
export type SampleSubmission = { answers: Answers; reference: Record<string, string> };

/**
 * A submission of this form that was never made, for the test of a webhook: every question has an answer that the
 * form itself would accept, a repeatable group has one row. The same form always gives the same sample.
 */
export function sampleSubmission(form: Form): SampleSubmission {
  const answers: Answers = {};
  for (const question of listQuestions(form)) {
    if (question.kind === 'input') answers[question.element.attrs.id] = sampleAnswer(question.element);
    else if (question.inputs.length > 0) answers[question.element.attrs.id] = [sampleRow(question.inputs)];
  }
  return { answers, reference: { test: 'true' } };
}

const sampleRow = (inputs: readonly InputElement[]): AnswerRow =>
  Object.fromEntries(inputs.map((input) => [input.attrs.id, sampleAnswer(input)]));

const sampleAnswer = (input: InputElement): AnswerValue => samples[input.type](input);

/** Its id belongs to no file: the link in the test leads to a 404, as that of a file that was removed. */
const sampleFile: FileAnswer = {
  id: '00000000-0000-7000-8000-000000000000',
  filename: 'sample.pdf',
  size: 48_213,
  content_type: 'application/pdf',
};

const firstOption = (input: InputElement): string => optionsOf(input)[0]!;

const samples: Readonly<Record<InputType, (input: InputElement) => AnswerValue>> = {
  text: ({ attrs }) => textFor(`${attrs.id} ${attrs.label}`),
  textarea: ({ attrs }) => `This is a sample answer to “${attrs.label.slice(0, 200)}”.\nIt has two lines.`,
  email: () => 'ada@example.com',
  phone: () => '+1 555 010 0199',
  url: () => 'https://example.com/ada',
  number: () => 42,
  date: () => '2026-01-31',
  time: () => '14:30',
  datetime: () => '2026-01-31T14:30',
  dropdown: firstOption,
  radio: firstOption,
  multiple_choice: (input) => optionsOf(input).slice(0, 2),
  yes_no: () => true,
  file_upload: () => [sampleFile],
};

/** What a short text is likely to be about, by words of its id and label; the first that matches. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/\b(first|given)[ _-]?name\b/i, 'Ada'],
  [/\b(last|family|sur)[ _-]?name\b/i, 'Lovelace'],
  [/\b(company|organi[sz]ation|employer)\b/i, 'Analytical Engines'],
  [/\b(name|who)\b/i, 'Ada Lovelace'],
  [/\b(city|town)\b/i, 'London'],
  [/\bcountry\b/i, 'United Kingdom'],
  [/\b(zip|post(al)?[ _-]?code|postcode)\b/i, 'SW1Y 4JH'],
  [/\b(street|address)\b/i, '12 St James’s Square'],
  [/\b(subject|topic|title)\b/i, 'A question about your service'],
];

/** Ids are often written with underscores or in camelCase, which hide where words begin. */
function textFor(words: string): string {
  const spaced = words.replaceAll('_', ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return topics.find(([pattern]) => pattern.test(spaced))?.[1] ?? 'Sample answer';
}
