import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { checkAnswer } from '#ast/answers/check-input.ts';
import { type AnswerContext, evaluate } from '#ast/logic/evaluate.ts';
import type { InputType } from '#ast/elements.ts';
import { answerLimits } from '#ast/limits.ts';
import { addDays, alignMoments } from '#ast/rules/moments.ts';
import { type Form, type InputElement, kindOf, listQuestions, optionsOf } from '#ast/tree.ts';
import { newWork, TooMuchWork, type Work } from '#ast/work.ts';

/** Answers that somebody might have given, and the reference data of a form that was opened with `?test=true`. */
type SampleSubmission = { answers: Answers; reference: Record<string, string> };

/**
 * A submission of this form that was never made, for the test of a webhook: every question that is shown has an
 * answer, a repeatable group has one row. The answers are those that the form itself would accept, but for patterns
 * that none of a few usual texts has, or that take more work than a sample is worth. The same form gives the same sample on the same day.
 * @param today YYYY-MM-DD, for limits such as `today+7`.
 */
export function sampleSubmission(form: Form, today = '2026-01-31'): SampleSubmission {
  const answers: Answers = {};
  const reference = { test: 'true' };
  const trial: Trial = { today, work: { left: sampleSteps, kept: new Set() } };
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (question.kind === 'input') answers[id] = sampleAnswer(question.element, trial);
    else if (question.inputs.length > 0) answers[id] = [sampleRow(question.inputs, trial)];
  }
  hideUnasked(form, answers, { reference, today, work: newWork() });
  return { answers, reference };
}

/** Conditions look at the answers, and hide some questions: nobody can have answered those. */
function hideUnasked(form: Form, answers: Answers, context: AnswerContext): void {
  const shown = evaluate(form, answers, context);
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (!shown.isShown(question.element)) delete answers[id];
    else if (question.kind === 'group' && question.inputs.length > 0) {
      const [cells] = answers[id] as AnswerRow[];
      const hidden = question.inputs.filter(
        (input) => !shown.isShown(input, { group: question.element, index: 0 }),
      );
      for (const { attrs } of hidden) delete cells![attrs.id];
    }
  }
}

const sampleRow = (inputs: readonly InputElement[], trial: Trial): AnswerRow =>
  Object.fromEntries(inputs.map((input) => [input.attrs.id, sampleAnswer(input, trial)]));

/** What suggestions are tried by: one budget for the whole sample, a quarter of that of a visitor's answers. */
type Trial = { readonly today: string; readonly work: Work };
const sampleSteps = answerLimits.workSteps / 4;

/** The first of what somebody might answer that the input accepts; else simply the first. */
function sampleAnswer(input: InputElement, trial: Trial): AnswerValue {
  // The table pairs each type with its own input, which a lookup by a union cannot express.
  const suggest = samples[input.type] as (input: InputElement, today: string) => AnswerValue[];
  const suggestions = suggest(input, trial.today);
  if (kindOf(input) === 'files') return suggestions[0]!;
  return suggestions.find((value) => isTaken(input, value, trial)) ?? suggestions[0]!;
}

function isTaken(input: InputElement, value: AnswerValue, trial: Trial): boolean {
  // To be told by each of a thousand patterns that the budget is spent would be the most of the work.
  if (trial.work.left <= 0) return false;
  try {
    return checkAnswer(input, value, trial).ok;
  } catch (error) {
    if (error instanceof TooMuchWork) return false;
    throw error;
  }
}

type InputOf<Type extends InputType> = Extract<InputElement, { type: Type }>;
type Suggestions = {
  readonly [Type in InputType]: (input: InputOf<Type>, today: string) => AnswerValue[];
};

/** Its id belongs to no file: the link in the test leads to a 404, as that of a file that was removed. */
const sampleFile: FileAnswer = {
  id: '00000000-0000-7000-8000-000000000000',
  filename: 'sample.pdf',
  size: 48_213,
  content_type: 'application/pdf',
};

/** A file of the first type that the upload accepts, no larger than it allows. */
function fileFor({ attrs }: InputOf<'file_upload'>): FileAnswer {
  const size = Math.min(sampleFile.size, attrs.max_file_size ?? sampleFile.size);
  const type = attrs.accept?.[0];
  if (type === undefined) return { ...sampleFile, size };
  if (type.startsWith('.'))
    return { ...sampleFile, size, filename: `sample${type}`, content_type: 'application/octet-stream' };
  const content_type = type.replace('*', 'sample');
  return { ...sampleFile, size, filename: 'sample', content_type };
}

/** Texts of forms that patterns often ask for: a code, numbers of usual lengths, a handle. */
const codes = [
  'A',
  'ABC',
  'AB12',
  'AB-123',
  'AB123456',
  '12',
  '1234',
  '12345',
  '123456',
  '12345678',
  'sample',
];

/** A text, with what it would be at the least and greatest length that is allowed. */
function fit(
  text: string,
  { attrs }: { attrs: { min_length?: number | undefined; max_length?: number | undefined } },
): string[] {
  const filled = text.padEnd(attrs.min_length ?? 0, ' and more');
  return [text, Array.from(filled).slice(0, attrs.max_length).join('').trimEnd(), ...codes];
}

/** A day or time, and those that its limits name. */
function within(
  usual: string,
  { type, attrs: { min, max } }: InputOf<'date' | 'time' | 'datetime'>,
  today: string,
): string[] {
  const edges = [min, max]
    .filter((edge) => edge !== undefined)
    .map((edge) => alignMoments('', edge, today)[1]);
  const complete = (edge: string): string => (type === 'datetime' ? `${edge}T14:30`.slice(0, 16) : edge);
  return [usual, ...edges.map(complete), ...(type === 'time' ? [] : [complete(addDays(today, 1))])];
}

const firstOption = (input: InputElement): string[] => [optionsOf(input)[0]!];

const samples: Suggestions = {
  text: (input) => fit(textFor(`${input.attrs.id} ${input.attrs.label}`), input),
  textarea: (input) =>
    fit(`This is a sample answer to “${input.attrs.label.slice(0, 200)}”.\nIt has two lines.`, input),
  email: () => ['ada@example.com', 'ada.lovelace@analytical-engines.example.com', 'a@b.co'],
  phone: () => ['+1 555 010 0199', '5550100', '+1 (555) 010-0199 0000'],
  url: () => ['https://example.com/ada', 'https://example.com/people/ada-lovelace', 'https://a.co'],
  number: ({ attrs: { min, max, step = 1 } }) =>
    [42, min, max, max === undefined ? undefined : max - (max % step), 0, step].filter(
      (value) => value !== undefined,
    ),
  date: (input, today) => within('2026-01-31', input, today),
  time: (input, today) => within('14:30', input, today),
  datetime: (input, today) => within('2026-01-31T14:30', input, today),
  dropdown: firstOption,
  radio: firstOption,
  multiple_choice: (input) => {
    const { min_choices: least = 1, max_choices: most = 2 } = input.attrs;
    return [optionsOf(input).slice(0, Math.max(least, Math.min(most, 2)))];
  },
  yes_no: () => [true],
  file_upload: (input) => [Array.from({ length: input.attrs.min_files ?? 1 }, () => fileFor(input))],
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
