import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { startPreview } from './form-preview.ts';

const form = formOf(
  element('email', 'mail', { required: true }),
  composite('people', [element('text', 'who')], { repeatable: true }),
);
const now = new Date('2026-03-01T12:00:00Z');
const data = (...entries: [string, string][]): FormData => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};

test('a test submission with problems shows them as the public page does and keeps the answers', () => {
  const page = startPreview(form, {}, now).post(data(['mail', 'not a mail'], ['people[0][who]', 'Ada']));
  assert.match(page, /There is a problem/);
  assert.match(page, /value="not a mail"/);
  assert.match(page, /value="Ada"/);
});

test('a complete test submission shows the confirmation with the message of the settings', () => {
  const page = startPreview(form, { confirmation_message: 'See you' }, now).post(
    data(['mail', 'ada@example.com']),
  );
  assert.match(page, /See you/);
  assert.match(page, /not saved/);
});

test('a preview adds and removes rows', () => {
  const trial = startPreview(form, {}, now);
  const added = trial.post(data(['people[0][who]', 'Ada'], ['_row', 'people[0]'], ['_add', 'people']));
  assert.match(added, /people\[1\]\[who\]/);
  const removed = trial.post(
    data(['people[0][who]', 'Ada'], ['people[1][who]', 'Bob'], ['_remove', 'people[0]']),
  );
  assert.doesNotMatch(removed, /Ada/);
  assert.match(removed, /value="Bob"/);
});
