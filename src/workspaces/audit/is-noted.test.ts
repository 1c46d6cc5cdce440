import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNoted } from './is-noted.ts';

const routes: readonly (readonly [
  method: string,
  path: string,
  permission:
    | 'forms:read'
    | 'forms:write'
    | 'submissions:read'
    | 'submissions:write'
    | 'files:write'
    | 'keys:write',
  isDestructive: boolean,
  noted: boolean,
])[] = [
  ['POST', '/forms', 'forms:write', false, true],
  ['DELETE', '/forms/:id', 'forms:write', true, true],
  ['PUT', '/forms/:id/draft', 'forms:write', false, false],
  ['GET', '/forms', 'forms:read', false, false],
  ['GET', '/forms/:id/replies', 'forms:write', false, false],
  ['POST', '/forms/validate', 'forms:read', false, false],
  ['GET', '/forms/:id/submissions/export', 'submissions:read', false, true],
  ['PATCH', '/submissions/:id', 'submissions:write', false, false],
  ['DELETE', '/submissions/:id', 'submissions:write', true, true],
  ['POST', '/files', 'files:write', false, false],
  ['POST', '/keys', 'keys:write', false, true],
];

for (const [method, path, permission, isDestructive, noted] of routes) {
  test(`${method} ${path} is ${noted ? '' : 'not '}noted in the audit log`, () => {
    assert.equal(isNoted({ method, path, operation: { permission, isDestructive } }), noted);
  });
}
