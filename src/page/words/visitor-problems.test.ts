import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { locales } from '#ast/basics/language-tags.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { parseRawAnswers } from '#ast/form/fields.ts';
import type { FormNode } from '#ast/form/tree.ts';
import { element, formOf } from '#test/ast/forms.ts';
import { readMarkup, type Tag, viewOf } from '#test/page/read-page.ts';
import { renderForm } from '../render/form.ts';
import { problemsByLocale, wordsByLocale } from './choose-locale.ts';
import { formatProblemForVisitor } from './format-problem.ts';

/** A question, its answers, and the rule that they break. */
type Case = readonly [rule: string, question: FormNode, answers?: readonly (string | File)[]];

const label = 'How do you put it?';
const ask = (type: string, attrs: object = {}): FormNode => element(type, 'it', { label, ...attrs });
const file = (name: string, type: string, size = 1): File => new File(['x'.repeat(size)], name, { type });
const types = ['application/pdf', 'image/*', 'application/x-foo+bar', '.docx'];

const cases: readonly Case[] = [
  ...['text', 'textarea', 'email', 'phone', 'url', 'number', 'date', 'time', 'datetime'].map(
    (type): Case => ['required', ask(type, { required: true })],
  ),
  ...['dropdown', 'radio', 'multiple_choice', 'yes_no', 'file_upload'].map(
    (type): Case => ['required', ask(type, { required: true })],
  ),
  ['required', element('text', 'full_name', { label, required: true })],
  ['required', ask('file_upload', { required: true, accept: ['application/pdf'] })],
  ['required', ask('file_upload', { required: true, accept: types })],
  ['once', ask('text'), ['one', 'two']],
  ['characters', ask('text'), ['a\u0000b']],
  ['bytes', ask('textarea'), ['x'.repeat(70_000)]],
  ['line', ask('text'), ['one\ntwo']],
  ['email', ask('email'), ['me']],
  ['phone', ask('phone'), ['me']],
  ['url', ask('url'), ['me and you']],
  ['number', ask('number'), ['me']],
  ['date', ask('date'), ['2026-02-30']],
  ['time', ask('time'), ['25:00']],
  ['datetime', ask('datetime'), ['me']],
  ['yes_no', ask('yes_no'), ['perhaps']],
  ['option', ask('radio'), ['none of them']],
  ['option', ask('dropdown'), ['none of them']],
  ['options', ask('multiple_choice'), ['none of them']],
  ['other', ask('radio', { other: true }), ['_other']],
  ...[1, 2, 5, 12_345].flatMap((limit): Case[] => [
    ['min_length', ask('text', { min_length: limit + 1 }), ['x'.repeat(limit)]],
    ['max_length', ask('text', { max_length: limit }), ['x'.repeat(limit + 1)]],
    [
      'max_files',
      ask('file_upload', { max_files: 1 }),
      [file('a.txt', 'text/plain'), file('b.txt', 'text/plain')],
    ],
    ['min', ask('number', { min: limit }), ['0']],
    ['max', ask('number', { max: limit * 1.5 }), ['99999']],
  ]),
  ['pattern', ask('text', { pattern: '[A-Z]{2}' }), ['x']],
  ['step', ask('number', { step: 1 }), ['1,5'.replace(',', '٫')]],
  ['step', ask('number', { step: 0.01 }), ['1٫555']],
  ['step', ask('number', { step: 2500, min: 1000 }), ['1234']],
  ['earliest', ask('date', { min: '2026-11-22' }), ['2026-01-31']],
  ['latest', ask('date', { max: 'today' }), ['2099-01-31']],
  ['earliest', ask('datetime', { min: '2026-11-22T09:30' }), ['2026-01-31T10:00']],
  ['latest', ask('datetime', { max: 'today' }), ['2099-01-31T10:00']],
  ['earliest', ask('time', { min: '09:30' }), ['08:00']],
  ['latest', ask('time', { max: '17:00' }), ['18:00']],
  ['min_choices', ask('multiple_choice', { min_choices: 2, options: ['a', 'b', 'c'] }), ['a']],
  ['max_choices', ask('multiple_choice', { max_choices: 1, options: ['a', 'b', 'c'] }), ['a', 'b']],
  ['accept', ask('file_upload', { accept: ['application/pdf'] }), [file('notes.txt', 'text/plain')]],
  ['accept', ask('file_upload', { accept: types }), [file('notes.txt', 'text/plain')]],
  ['max_file_size', ask('file_upload', { max_file_size: 2_000 }), [file('a.txt', 'text/plain', 3_000)]],
  [
    'max_file_size',
    ask('file_upload', { max_file_size: 1_500_000 }),
    [file('a.txt', 'text/plain', 1_600_000)],
  ],
  ['min_files', ask('file_upload', { min_files: 2 }), [file('a.txt', 'text/plain')]],
  ['the author’s words', ask('email', { error_message: 'We write to this address' }), ['me']],
];

/** Text that should never appear in messages to people. */
const forbidden: Readonly<Record<string, RegExp>> = {
  'an ISO date': /\d{4}-\d\d-\d\d/,
  'a time as programs write it': /\d\dT\d\d/,
  'a number of bytes': /\d{4,} *(?:B\b|bytes|Bytes|octets|بايت|バイト|字节)/,
  'a number without its groups': /(?<![\d.,])\d{5,}/,
  'a content type': /\b(?:application|image|text|audio|video)\/[\w*]/,
  'what machines speak of': /multipart|NUL|JSON|object|surrogate|\b(?:ID|id)s?\b/,
  'two marks at once': /[?؟？!.:：] ?[\u00a0 ]*[:：]/,
  'a place that nothing filled': /[{}]|undefined|NaN/,
};

function show(node: FormNode, answers: readonly (string | File)[], locale: (typeof locales)[number]): Tag[] {
  const form = formOf(node);
  const words = wordsByLocale[locale];
  const sentences = problemsByLocale[locale];
  const language = { language: locale, words, sentences, numberLocale: locale };
  const texts = answers.flatMap((answer) => (typeof answer === 'string' ? [answer] : []));
  const sent = answers.flatMap((answer) =>
    typeof answer === 'string'
      ? []
      : [{ id: answer.name, token: '', filename: answer.name, size: answer.size, content_type: answer.type }],
  );
  const id = String(node.attrs!['id']);
  const files = new Map(sent.length > 0 ? [[id, sent]] : []);
  const { raw } = parseRawAnswers(form, [
    ...texts.map((text): [string, string] => [id, text]),
    // Every language accepts the Arabic decimal mark.
    ['_numbers', locale === 'en' ? '.,' : '.'],
  ]);
  const rules = { reference: {}, today: '2026-11-22', work: createWorkBudget(), asksSingly: false };
  const result = checkAnswers(form, raw, files, rules);
  const errors = (result.ok ? [] : result.errors).map(({ field, message, problem }) => ({
    field,
    message: problem ? formatProblemForVisitor(problem, language) : message,
  }));
  return readMarkup(
    renderForm(viewOf(form, { ...language, values: raw, files, errors, today: rules.today })),
  );
}

for (const locale of locales) {
  test(`${locale}: every problem of every rule is written for people, with the label only in the summary`, () => {
    const faults: string[] = [];
    for (const [rule, node, answers = []] of cases) {
      const tags = show(node, answers, locale);
      const [problem] = tags
        .filter(({ attrs, tag }) => tag === 'div' && attrs['class'] === 'error')
        .map(({ text }) => text);
      const [summary] = tags.filter(({ tag }) => tag === 'li').map(({ text }) => text);
      assert.ok(problem && summary, `${rule}: nothing is wrong with ${JSON.stringify(answers).slice(0, 80)}`);
      for (const [what, form] of Object.entries(forbidden)) {
        for (const text of [problem, summary]) if (form.test(text)) faults.push(`${rule}, ${what}: ${text}`);
      }
      if (problem.includes(label)) faults.push(`${rule}, its label at the field: ${problem}`);
      if (!/^\u2068?How do you put it\?/.test(summary) || !summary.includes(problem))
        faults.push(`${rule}, its summary: ${summary}`);
    }
    assert.deepEqual(faults, []);
  });
}

test('error messages fit the element type and the rule', () => {
  const problemOf = (node: FormNode, ...answers: (string | File)[]): string =>
    show(node, answers, 'en').find(({ attrs, tag }) => tag === 'div' && attrs['class'] === 'error')!.text;
  assert.equal(problemOf(element('text', 'full_name', { required: true })), 'Enter your full name');
  assert.equal(
    problemOf(ask('date', { min: '2026-11-22' }), '2026-01-31'),
    'Choose a date on or after November 22, 2026',
  );
  assert.equal(problemOf(ask('file_upload', { required: true, accept: ['.pdf'] })), 'Upload a PDF');
  assert.equal(
    problemOf(ask('file_upload', { required: true, accept: ['.pdf', 'image/*', '.docx'] })),
    'Upload a PDF, an image, or a Word file',
  );
  assert.equal(problemOf(ask('text', { min_length: 2 }), 'x'), 'Use at least 2 characters');
  assert.equal(problemOf(ask('text', { max_length: 1 }), 'xx'), 'Use at most 1 character');
  assert.equal(problemOf(ask('number', { step: 1 }), '1.5'), 'Enter a whole number');
});
