import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { formLimits } from './basics/limits.ts';
import { byteLength } from './basics/text.ts';
import { chosenLabels, searchableText, subjectInputOf } from './searchable.ts';

const form = formOf(
  composite('people', [element('text', 'name'), element('file_upload', 'photo')], { repeatable: true }),
  element('email', 'mail'),
  element('text', 'title'),
  element('textarea', 'notes'),
  element('number', 'age'),
  element('date', 'day'),
  element('yes_no', 'agreed'),
  element('radio', 'colour'),
  element('multiple_choice', 'colours'),
);

const photo = { id: '1', filename: 'cat.png', size: 1, content_type: 'image/png' };
const answers = {
  people: [{ name: 'Ada', photo: [photo] }, { name: 'Grace' }],
  mail: 'ada@example.com',
  title: 'Hello',
  notes: 'Long\ntext',
  age: 36,
  day: '2026-01-31',
  agreed: true,
  colour: 'Red',
  colours: ['Green', 'Blue'],
};

test('the subject is the setting, else the id "subject", else the first text element outside rows', () => {
  const withSubject = formOf(
    element('text', 'first'),
    element('textarea', 'subject'),
    element('text', 'other'),
  );
  const headed = formOf(element('heading', 'subject'), element('email', 'mail'));
  assert.equal(subjectInputOf(withSubject, 'other')?.attrs.id, 'other');
  assert.equal(subjectInputOf(withSubject, 'gone')?.attrs.id, 'subject');
  assert.equal(subjectInputOf(form)?.attrs.id, 'title');
  assert.equal(subjectInputOf(form, 'name')?.attrs.id, 'title');
  assert.equal(subjectInputOf(headed), undefined);
});

test('the body has all other textual answers and the reference values, but no yes or no', () => {
  assert.deepEqual(searchableText(form, answers, { campaign: 'spring' }), {
    subject: 'Hello',
    body: 'Ada\ncat.png\nGrace\nada@example.com\nLong\ntext\n36\n2026-01-31\nRed\nGreen\nBlue\nspring',
  });
});

test('missing answers add nothing, not even for an id like toString', () => {
  const odd = formOf(element('text', 'toString'), element('textarea', 'valueOf'));
  assert.deepEqual(searchableText(odd, {}, {}), { subject: '', body: '' });
});

test('subject and body together stay within the limit and are cut between characters', () => {
  const text = `x${'😀'.repeat(200_000)}`;
  const long = searchableText(form, { title: text.slice(0, 1001), notes: text }, { reference: text });
  assert.equal(long.subject.length, 1001);
  assert.ok(long.body.isWellFormed());
  const total = byteLength(long.subject) + byteLength(long.body);
  assert.ok(total <= formLimits.searchBytes && total > formLimits.searchBytes - 4);
});

test('an "other" answer can be found', () => {
  const form = formOf(
    element('radio', 'one', { other: true }),
    element('multiple_choice', 'many', { other: true }),
  );
  assert.equal(searchableText(form, { one: 'Teal', many: ['Red', 'Pink'] }, {}).body, 'Teal\nRed\nPink');
});

test('an option is found by its label in the form', () => {
  const options = [{ id: 'r', label: 'Ruby red' }, 'Blue'];
  const labelled = formOf(
    element('dropdown', 'colour', { options, other: true }),
    element('multiple_choice', 'colours', { options }),
  );
  const { body } = searchableText(labelled, { colour: 'Mauve', colours: ['Blue', 'r'] }, {});
  assert.equal(body, 'Mauve\nBlue\nRuby red');
});

test('chosen labels include only those of chosen options', () => {
  const options = [{ id: 'r', label: 'Ruby red' }, 'Blue'];
  const choices = formOf(
    element('text', 'title'),
    element('radio', 'colour', { options }),
    composite('rows', [element('multiple_choice', 'colours', { options })], { repeatable: true }),
  );
  assert.deepEqual(
    chosenLabels(choices, { title: 'Hello', colour: 'r', rows: [{ colours: ['Blue', 'r'] }] }),
    new Set(['Ruby red', 'Blue']),
  );
});
