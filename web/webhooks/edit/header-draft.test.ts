import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyHeader, headerDrafts, headersToSend } from './header-draft.ts';

const webhook = { header_names: ['Authorization', 'X-Team'] };

test('unchanged headers are not sent', () => {
  assert.equal(headersToSend(headerDrafts(webhook), webhook), undefined);
  assert.equal(headersToSend([emptyHeader()], undefined), undefined);
});

test('a stored header keeps its value unless a new one is entered, and a removed header is left out', () => {
  const [first] = headerDrafts(webhook);
  assert.deepEqual(headersToSend([first!, { ...emptyHeader(), name: 'X-New', value: '1' }], webhook), [
    { name: 'Authorization', value: null },
    { name: 'X-New', value: '1' },
  ]);
  assert.deepEqual(headersToSend([{ ...first!, value: 'Bearer 2' }], webhook), [
    { name: 'Authorization', value: 'Bearer 2' },
  ]);
  assert.deepEqual(headersToSend([], webhook), []);
});
