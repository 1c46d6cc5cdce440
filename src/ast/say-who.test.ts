import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayWho } from './say-who.ts';

const asked = [
  { id: 'topic', label: 'Topic', type: 'text' },
  { id: 'email', label: 'Email', type: 'email' },
  { id: 'first_name', label: 'First name', type: 'text' },
  { id: 'last_name', label: 'Last name', type: 'text' },
  { id: 'message', label: 'Message', type: 'textarea' },
];

test("a submission is named by its sender's name, else by its subject, else by an email address", () => {
  const email = 'ada@example.org';
  assert.equal(
    sayWho(asked, { topic: 'Looms', email, first_name: 'Ada', last_name: 'Lovelace' }),
    'Ada Lovelace',
  );
  assert.equal(sayWho(asked, { topic: 'Looms', email, last_name: 'Lovelace' }), 'Lovelace');
  assert.equal(sayWho(asked, { topic: ' Looms ', email }), 'Looms');
  assert.equal(sayWho(asked, { topic: 'Looms', message: 'Hello' }, 'message'), 'Hello');
  assert.equal(sayWho(asked, { email, message: 'Hello' }), email);
  assert.equal(sayWho(asked, { message: 'Hello' }), undefined);
  assert.equal(sayWho(asked, { topic: ' ', email }), email);
});

test('only a name that identifies the sender counts; a long name is truncated', () => {
  const named = [{ id: 'who', label: 'Who', type: 'text', autocomplete: 'name' }];
  assert.equal(sayWho([asked[0]!, ...named], { topic: 'Looms', who: 'Ada' }), 'Ada');
  const chosen = [{ id: 'name', label: 'Name of the product', type: 'dropdown' }];
  assert.equal(sayWho([...chosen, asked[0]!], { topic: 'Looms', name: 'Ada' }), 'Looms');
  assert.equal(sayWho(named, { who: 'x'.repeat(200) })?.length, 81);
  assert.equal(sayWho(named, { who: ['Ada'] }), undefined);
});
