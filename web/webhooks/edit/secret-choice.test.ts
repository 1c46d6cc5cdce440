import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretChoices, secretToSend } from './header-draft.ts';

const ids = (has: boolean | undefined, isAllowed: boolean): string[] =>
  secretChoices(has === undefined ? undefined : { has_secret: has }, isAllowed).map(({ id }) => id);

test('a new webhook has no secret, a generated one, or one that the person enters', () => {
  assert.deepEqual(ids(undefined, true), ['none', 'generate', 'enter']);
  assert.deepEqual(ids(false, true), ['none', 'generate', 'enter']);
});

test('a secret is kept, replaced or removed', () => {
  assert.deepEqual(ids(true, true), ['keep', 'generate', 'enter', 'none']);
});

test('the free plan offers no secret, but an existing one can be kept or removed', () => {
  assert.deepEqual(ids(undefined, false), ['none']);
  assert.deepEqual(ids(true, false), ['keep', 'none']);
});

test('only a change of the secret is sent', () => {
  assert.equal(secretToSend('keep', '', true), undefined);
  assert.equal(secretToSend('none', '', false), undefined);
  assert.equal(secretToSend('none', '', true), null);
  assert.equal(secretToSend('generate', '', false), 'generate');
  assert.equal(secretToSend('enter', 'a secret of my own', true), 'a secret of my own');
});
