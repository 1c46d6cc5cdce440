import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkBudget } from '#ast/basics/work.ts';
import { type FormNode, walkElements } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { checkSettings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { everyType, inBlocks, withLogic } from '#test/fixtures/formbricks.ts';
import { convertForm, detectFormSource } from './convert.ts';

type Document = Readonly<Record<string, unknown>>;

function converted(document: Document) {
  assert.equal(detectFormSource(document), 'formbricks');
  const result = convertForm(document, 'formbricks');
  const checked = validateStructure(result.structure);
  assert.ok(checked.ok, JSON.stringify(checked));
  assert.ok(checkSettings(result.settings, checked.form).ok);
  const elements = [...walkElements(checked.form)].map(({ element }) => element as FormNode);
  const attrsOf = (id: string) => elements.find(({ attrs }) => attrs?.['id'] === id)?.attrs ?? {};
  const reported = result.report.flatMap(({ outcome, path }) => (outcome === 'mapped' ? [] : [path]));
  return { ...result, form: checked.form, elements, attrsOf, reported };
}

test('each question of a survey becomes an element, and a part without an equivalent is reported', () => {
  const { elements, attrsOf, reported, settings } = converted(everyType);
  const expected = `hidden text textarea number email radio multiple_choice scale rich_text rating rating consent
    picture_choice date file_upload matrix composite paragraph text text text composite text text email phone ranking`;
  assert.deepEqual(
    elements.map(({ type }) => type),
    expected.split(/\s+/),
  );
  assert.deepEqual(attrsOf('name'), {
    id: 'name',
    label: 'Your name',
    placeholder: 'Ada Lovelace',
    required: true,
    min_length: 2,
    max_length: 60,
  });
  assert.equal(attrsOf('why')['max_length'], undefined, 'a limit that is turned off');
  assert.equal(attrsOf('age')['min'], 18);
  assert.deepEqual([attrsOf('day')['options'], attrsOf('day')['other']], [['Friday', 'Saturday'], true]);
  assert.equal(attrsOf('meals')['max_choices'], 2);
  assert.deepEqual([attrsOf('room')['levels'], attrsOf('room')['symbol']], [7, 'numbers']);
  assert.equal(attrsOf('terms')['help_text'], 'They are on our page.');
  assert.deepEqual(attrsOf('ticket')['accept'], ['.pdf', '.png']);
  assert.deepEqual(attrsOf('like')['rows'], ['Tea', 'Cake']);
  assert.equal(attrsOf('address_city')['required'], true, 'a required address without a required field');
  assert.equal(attrsOf('contact_phone')['required'], undefined);
  assert.equal(settings.theme?.confirmation_title, 'Thank you');
  for (const path of [
    'welcomeCard',
    'questions[1].charLimit.max',
    'questions[9].scale',
    'questions[11].choices[0].imageUrl',
    'questions[12]',
    'questions[16].country',
  ])
    assert.ok(reported.includes(path), path);
});

test('a survey keeps its languages, answers in texts, jumps, score and endings', () => {
  const { form, attrsOf, settings, reported } = converted(withLogic);
  assert.deepEqual(form.attrs.languages, ['en', 'de']);
  assert.equal(attrsOf('kind')['label'], 'Hello {{name}}, who comes?');
  assert.deepEqual(attrsOf('kind')['translations'], {
    de: {
      label: 'Hallo {{name}}, wer kommt?',
      options: { 'A person': 'Eine Person', 'A company': 'Eine Firma' },
    },
  });
  assert.deepEqual(
    form.children[1]!.attrs!.jumps?.map(({ to }) => to),
    ['step_3', 'end', 'step_4'],
  );
  assert.equal(attrsOf('score')['formula'], '1 + if(({kind} = "A company"), 3, 0)');
  const isCompany = { element: 'kind', is: 'equals', value: 'A company' };
  assert.deepEqual(attrsOf('vat')['require_when'], isCompany);
  assert.deepEqual(
    settings.confirmations?.map(({ message, redirect_url, translations }) => [
      message ?? redirect_url,
      translations,
    ]),
    [
      ['A pity', { de: { message: 'Schade' } }],
      ['https://example.org/hungry', undefined],
    ],
  );
  assert.equal(settings.confirmation_message, 'See you.');
  assert.equal(settings.translations?.['de']?.['theme.confirmation_title'], 'Danke');
  assert.equal(settings.max_submissions, 200);
  assert.equal(settings.closes_at, '2026-12-24T17:00:00.000Z');
  for (const path of ['variables[1]', 'pin', 'questions[3].logic[1]', 'questions[3].logic[2].actions[0]'])
    assert.ok(reported.includes(path), path);
});

test('the score of a survey is computed, and jumps use it', () => {
  const { form } = converted(withLogic);
  const run = (answers: Readonly<Record<string, unknown>>) =>
    evaluateVisibility(form, answers, { reference: {}, today: '2026-11-28', work: createWorkBudget() });
  const last = form.children.at(-1)!.children[0] as never;
  const company = { name: 'Ada', kind: 'A company', vat: 'x', meals: ['Lunch', 'Dinner'] };
  assert.equal(run(company).isShown(last), false, 'a score of 4 leads to the end');
  assert.equal(run({ ...company, kind: 'A person' }).isShown(last), true);
  assert.equal(run({ ...company, kind: 'Someone else' }).isShown(last), false);
});

test('blocks of elements become steps, with conditions on rows of a matrix', () => {
  const { form, attrsOf, settings, reported } = converted(inBlocks);
  assert.deepEqual(
    form.children.map(({ children }) => children.map(({ type }) => type)),
    [['dropdown', 'matrix'], ['text'], ['text']],
  );
  assert.equal(attrsOf('level')['label'], 'Wie erfahren?');
  assert.equal(settings.locale, 'de');
  assert.deepEqual(form.children[0]!.attrs!.jumps, [
    {
      when: {
        all: [
          { element: 'level', is: 'equals', value: 'Gar nicht' },
          { element: 'skills', is: 'equals', value: 'Ja', row: 'Spinnen' },
        ],
      },
      to: 'step_3',
    },
  ]);
  assert.equal(attrsOf('loom')['pattern'], '(?:[A-Z]+).*');
  assert.ok(reported.includes('data.blocks[1].elements[0].validation.rules[1]'));
});
