import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSecretChoice, secretChoices, secretToSend } from './header-draft.ts';

const ids = (has: boolean | undefined, isAllowed: boolean): string[] =>
  secretChoices(has === undefined ? undefined : { has_secret: has }, isAllowed).map(({ id }) => id);

test('a webhook without a secret gets a generated one, one that the person enters, or none', () => {
  assert.deepEqual(ids(undefined, true), ['generate', 'enter', 'none']);
  assert.deepEqual(ids(false, true), ['generate', 'enter', 'none']);
});

test('a new webhook gets a generated secret if the plan allows it, and an existing one keeps what it has', () => {
  assert.equal(firstSecretChoice(undefined, true), 'generate');
  assert.equal(firstSecretChoice(undefined, false), 'none');
  assert.equal(firstSecretChoice({ has_secret: false }, true), 'none');
  assert.equal(firstSecretChoice({ has_secret: true }, true), 'keep');
  assert.equal(firstSecretChoice({ has_secret: true }, false), 'keep');
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
