import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Form } from '#ast/form/tree.ts';
import { element, stepsOf } from '#test/ast/forms.ts';
import { inputTypes, viewOf } from '#test/page/read-page.ts';
import { problemsByLocale, wordsByLocale } from '../words/choose-locale.ts';
import { selectProblemSentences } from '../words/format-problem.ts';
import { renderForm } from './form.ts';
import { type ScriptData, scriptWords } from './view.ts';

/** The budget of a page with its styles, gzipped, in bytes; its script may have 8 KB more (issue 4). */
const budget = 12 * 1024;

const subjects = [
  'your visit',
  'the food',
  'our staff',
  'the room',
  'the way here',
  'next time',
  'the price',
];

/** As an author would write them: each element has a different label and help text. */
const twenty = Array.from({ length: 20 }, (_, index) =>
  element(inputTypes[index % inputTypes.length]!, `question_${index}`, {
    label: `What do you think of ${subjects[index % subjects.length]}?`,
    help_text: `Question ${index}: tell us as much as you like about ${subjects[(index * 3) % subjects.length]}.`,
    required: index % 3 === 0,
  }),
);

test('the first page of a form of 20 elements, with its styles and script data, is at most 12 KB', () => {
  const form = stepsOf({ title: 'One' }, twenty.slice(0, 10), { title: 'Two' }, twenty.slice(10)) as Form;
  const data: ScriptData = {
    form,
    sentences: selectProblemSentences(form, problemsByLocale.en, false),
    words: scriptWords(wordsByLocale.en),
    numberLocale: 'en',
    today: '2026-01-31',
    reference: {},
    limits: { fileBytes: 10_485_760, filesPerElement: 10 },
    step: 0,
    upload: '/f/01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1/files',
  };
  const page = renderForm(viewOf(form, { script: { source: '/f/assets/page-abcdefgh.js', data } }));
  const bytes = gzipSync(page).length;
  console.info(`A page of 20 elements is ${bytes} bytes gzipped, of at most ${budget}.`);
  assert.ok(bytes <= budget, `${bytes} bytes`);
});
