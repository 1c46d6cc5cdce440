import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerFiles, type Answers, checkAnswers, type FileAnswer } from '#ast/answers/check-answers.ts';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { fieldName } from '#ast/form/fields.ts';
import { answerKindOf, type Form, listQuestions } from '#ast/form/tree.ts';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import { sampleSubmission } from './samples.ts';

const types = Object.keys(elementDefinitions) as ElementType[];
const inputTypes = types.filter((type) => elementDefinitions[type].group === 'input');

/** Returns the problems that the form finds. It takes files separately from the other answers. */
function problemsOf(form: Form, answers: Answers): unknown {
  const raw = structuredClone(answers) as Record<string, unknown>;
  const files = new Map<string, readonly FileAnswer[]>();
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    const inputs = question.kind === 'group' ? question.inputs : [question.element];
    const cells = question.kind === 'group' ? (raw[id] as Record<string, unknown>[])[0]! : raw;
    const row = question.kind === 'group' ? { group: question.element, index: 0 } : undefined;
    for (const input of inputs.filter((input) => answerKindOf(input) === 'files')) {
      files.set(fieldName(input, row), cells[input.attrs.id] as FileAnswer[]);
      delete cells[input.attrs.id];
    }
  }
  const checked = checkAnswers(form, raw, files satisfies AnswerFiles, context);
  return checked.ok ? [] : checked.errors;
}

for (const type of inputTypes) {
  test(`a sample answers a required ${type} in a way that the form accepts`, () => {
    const form = formOf(element(type, 'field', { required: true }));
    const { answers } = sampleSubmission(form);
    assert.deepEqual(Object.keys(answers), ['field']);
    assert.deepEqual(problemsOf(form, answers), []);
  });
}

test('a sample of a form with every element is accepted, in groups and in rows', () => {
  const all = (prefix: string) =>
    inputTypes.map((type) => element(type, `${prefix}_${type}`, { required: true }));
  const form = formOf(
    ...all('top'),
    element('heading', 'title'),
    composite('plain', all('inner')),
    composite('rows', [element('paragraph', 'note'), ...all('cell').filter(({ type }) => type !== 'score')], {
      repeatable: true,
    }),
  );
  const { answers, reference } = sampleSubmission(form);
  assert.deepEqual(problemsOf(form, answers), []);
  assert.deepEqual((answers['rows'] as object[]).length, 1);
  assert.equal('plain' in answers, false);
  assert.deepEqual(reference, { test: 'true' });
});

test('a repeatable group without questions gets no row', () => {
  const form = formOf(
    composite('rows', [element('paragraph', 'note')], { repeatable: true }),
    element('text', 'a'),
  );
  assert.deepEqual(Object.keys(sampleSubmission(form).answers), ['a']);
});

test('the same form always gives the same sample', () => {
  const form = formOf(...inputTypes.map((type) => element(type, type)));
  assert.deepEqual(sampleSubmission(form), sampleSubmission(form));
});

const texts: Readonly<Record<string, [id: string, label: string, answer: string]>> = {
  'a name': ['full_name', 'Your name', 'Ada Lovelace'],
  'a first name': ['firstName', 'First', 'Ada'],
  'a city': ['q4', 'City', 'London'],
  'a username, which is no name': ['username', 'Login', 'Sample answer'],
  'anything else': ['q7', 'Favourite colour', 'Sample answer'],
};
for (const [what, [id, label, answer]] of Object.entries(texts)) {
  test(`a short text for ${what} is answered with ${answer}`, () => {
    assert.deepEqual(sampleSubmission(formOf(element('text', id, { label }))).answers, { [id]: answer });
  });
}

test('labels and options of maximum length give valid sample answers', () => {
  const label = '😀'.repeat(256);
  const form = formOf(element('textarea', 'long', { label }), element('radio', 'pick', { options: [label] }));
  assert.deepEqual(problemsOf(form, sampleSubmission(form).answers), []);
});

const rules: Readonly<Record<string, [type: string, attrs: Record<string, unknown>]>> = {
  'a shortest length': ['text', { min_length: 40 }],
  'a longest length': ['textarea', { max_length: 5 }],
  'a pattern that is usual': ['text', { pattern: '[A-Z]{2}\\d{6}' }],
  'a most of a number': ['number', { max: 5 }],
  'a least and a step': ['number', { min: 50, step: 25 }],
  'a day in the future': ['date', { min: 'today+7' }],
  'a day in the past': ['date', { max: 'today-6570' }],
  'a moment by its day': ['datetime', { min: 'today+1' }],
  'opening hours': ['time', { min: '16:00', max: '18:00' }],
  'three choices': ['multiple_choice', { min_choices: 3 }],
  'one choice': ['multiple_choice', { max_choices: 1 }],
  'pictures only': ['file_upload', { accept: ['image/*'], max_file_size: 1_000 }],
  'two files of an ending': ['file_upload', { accept: ['.csv'], min_files: 2 }],
};
for (const [what, [type, attrs]] of Object.entries(rules)) {
  test(`a sample follows the rule of ${what}`, () => {
    const form = formOf(element(type, 'field', { required: true, ...attrs }));
    assert.deepEqual(problemsOf(form, sampleSubmission(form, context.today).answers), []);
  });
}

test('a sample tries no further answers when its work budget is spent', () => {
  const slow = { pattern: '(?:(?:a|a)*){40}b' };
  const form = formOf(...Array.from({ length: 990 }, (_, index) => element('text', `t${index}`, slow)));
  let looks = 0;
  for (const { element: input } of listQuestions(form)) {
    const { type } = input;
    Object.defineProperty(input, 'type', { get: () => ((looks += 1), type) });
  }
  assert.equal(sampleSubmission(form).answers['t989'], 'Sample answer');
  // Checking each of the thirteen possible answers would read the type several times.
  assert.ok(looks < 990 * 20, `${looks} looks`);
});

test('a sample does not answer questions that its other answers hide, including those in rows', () => {
  const hidden = { show_when: { element: 'yes', is: 'equals', value: false } };
  const form = formOf(
    element('yes_no', 'yes'),
    element('text', 'reason', hidden),
    composite('rows', [element('text', 'a'), element('text', 'b', hidden)], { repeatable: true }),
  );
  assert.deepEqual(sampleSubmission(form).answers, { yes: true, rows: [{ a: 'Sample answer' }] });
});
