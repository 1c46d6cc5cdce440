import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { openVault } from '#kit/vault.ts';
import {
  createSubmissionKey,
  readSubmissionKey,
  signSubmissionKey,
  submissionKeyOfHeader,
} from './submission-keys.ts';

const vault = openVault('1a'.repeat(32));
const [workspaceId, form, other] = [newId(), newId(), newId()];
const ofForm = { workspaceId, id: form };

test('each page gets its own key, which contains the time when the page was served', () => {
  const before = Date.now();
  const [first, second] = [createSubmissionKey(vault, ofForm), createSubmissionKey(vault, ofForm)];
  assert.notEqual(first, second);
  const read = readSubmissionKey(vault, ofForm, first)!;
  assert.ok(read.servedAt.getTime() >= before && read.servedAt.getTime() <= Date.now());
  assert.equal(signSubmissionKey(vault, ofForm, read.key), first);
});

const good = createSubmissionKey(vault, ofForm);
const [id, signature] = good.split('.') as [string, string];
const foreign: [what: string, text: string, form?: typeof ofForm][] = [
  ['of another form', good, { workspaceId, id: other }],
  ['of a form with the same id in another workspace', good, { workspaceId: other, id: form }],
  ['signed by another instance', createSubmissionKey(openVault('2b'.repeat(32)), ofForm)],
  ['with another id', `${newId()}.${signature}`],
  ['without a signature', id],
  ['with an empty signature', `${id}.`],
  ['with something behind', `${good}.`],
  ['that is empty', ''],
  ['that was never one', 'x'.repeat(10_000)],
];

for (const [what, text, given = ofForm] of foreign) {
  test(`a key ${what} is invalid`, () => assert.equal(readSubmissionKey(vault, given, text), undefined));
}

test('an Idempotency-Key gives one key for one form, and another key for another form', () => {
  const key = submissionKeyOfHeader(form, 'order-1');
  assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(submissionKeyOfHeader(form, 'order-1'), key);
  assert.notEqual(submissionKeyOfHeader(form, 'order-2'), key);
  assert.notEqual(submissionKeyOfHeader(other, 'order-1'), key);
});

for (const given of ['', 'x'.repeat(256), 'two words', 'ümlaut', 'line\nbreak', '\u0000']) {
  test(`an Idempotency-Key ${JSON.stringify(given.slice(0, 12))} of ${given.length} characters is rejected`, () => {
    assert.throws(() => submissionKeyOfHeader(form, given), { code: 'bad_request' });
  });
}
