import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, urlProblem } from './url-problem.ts';

const judged: Readonly<Record<string, RegExp | undefined>> = {
  '': undefined,
  'https://example.com/hook?a=1': undefined,
  'HTTPS://example.com': undefined,
  'http://example.com': /Plain http/,
  'example.com': /begins with https/,
  'javascript:alert(1)': /begins with https/,
  'https://': /not complete/,
  'https://exa mple.com': /no spaces/,
  'https://me:secret@example.com': /user name or password/,
};
for (const [text, expected] of Object.entries(judged)) {
  test(`${text || 'nothing'} is ${expected ? 'refused while it is typed' : 'fine'}`, () => {
    const problem = urlProblem(text);
    if (expected) assert.match(problem ?? '', expected);
    else assert.equal(problem, undefined);
  });
}

test('the host of an address, or what there is of one', () => {
  assert.equal(hostOf('https://example.com:8443/hook'), 'example.com:8443');
  assert.equal(hostOf('not yet'), 'not yet');
});
