import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerProblems } from './webhook-problems.ts';

const refused = [
  'Host',
  'content-type',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'X-Service-Signature',
  'X-Service-Anything',
  'webhook-id',
  'User-Agent',
  'Proxy-Authorization',
  'X-Forwarded-For',
  'TE',
  'two words',
  'colon:',
  '',
  'n'.repeat(65),
];
for (const name of refused) {
  test(`the header ${JSON.stringify(name)} is refused`, () => {
    assert.equal(headerProblems([{ name, value: 'x' }]).length, 1);
  });
}

for (const value of ['', ' ', 'a\r\nX-Evil: 1', 'a\nb', 'é', '\0', ' a', 'x'.repeat(1_025)]) {
  test(`the value ${JSON.stringify(value.slice(0, 20))} is refused`, () => {
    assert.equal(headerProblems([{ name: 'X-Team', value }]).length, 1);
  });
}

test('ten headers are accepted and eleven refused, names must differ, and only a stored value can be kept', () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ name: `X-${at}`, value: 'a b' }));
  assert.deepEqual(headerProblems(some(10)), []);
  assert.equal(headerProblems(some(11)).length, 1);
  assert.equal(headerProblems([...some(1), { name: 'x-0', value: 'b' }]).length, 1);
  assert.deepEqual(headerProblems([{ name: 'authorization', value: null }], ['Authorization']), []);
  assert.equal(headerProblems([{ name: 'Authorization', value: null }]).length, 1);
});
