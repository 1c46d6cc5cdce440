import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getSubmissionTitle } from './submission-title.ts';

const questions = [
  { id: 'topic', label: 'Topic', type: 'text' },
  { id: 'email', label: 'Email', type: 'email' },
  { id: 'first_name', label: 'First name', type: 'text' },
  { id: 'last_name', label: 'Last name', type: 'text' },
  { id: 'message', label: 'Message', type: 'textarea' },
];

test("a submission is named by its sender's name, else by its subject, else by an email address", () => {
  const email = 'ada@example.org';
  assert.equal(
    getSubmissionTitle(questions, { topic: 'Looms', email, first_name: 'Ada', last_name: 'Lovelace' }),
    'Ada Lovelace',
  );
  assert.equal(getSubmissionTitle(questions, { topic: 'Looms', email, last_name: 'Lovelace' }), 'Lovelace');
  assert.equal(getSubmissionTitle(questions, { topic: ' Looms ', email }), 'Looms');
  assert.equal(getSubmissionTitle(questions, { topic: 'Looms', message: 'Hello' }, 'message'), 'Hello');
  assert.equal(getSubmissionTitle(questions, { email, message: 'Hello' }), email);
  assert.equal(getSubmissionTitle(questions, { message: 'Hello' }), undefined);
  assert.equal(getSubmissionTitle(questions, { topic: ' ', email }), email);
});

test('only a name that identifies the sender counts; a long name is truncated', () => {
  const named = [{ id: 'who', label: 'Who', type: 'text', autocomplete: 'name' }];
  assert.equal(getSubmissionTitle([questions[0]!, ...named], { topic: 'Looms', who: 'Ada' }), 'Ada');
  const chosen = [{ id: 'name', label: 'Name of the product', type: 'dropdown' }];
  assert.equal(getSubmissionTitle([...chosen, questions[0]!], { topic: 'Looms', name: 'Ada' }), 'Looms');
  assert.equal(getSubmissionTitle(named, { who: 'x'.repeat(200) })?.length, 81);
  assert.equal(getSubmissionTitle(named, { who: ['Ada'] }), undefined);
});
