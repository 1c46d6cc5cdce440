import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#kit/config.ts';
import type { AuditPolicy } from '#kit/operation.ts';
import type { SessionServices } from '#workspaces/sign-in/require-person.ts';
import { declaredRoutes } from './cli/operation-commands.ts';
import { consoleRoutes, findReadOperationName } from './operations/operations.ts';

const own = consoleRoutes({ config: readConfig({}) } as SessionServices);
const all = [...declaredRoutes(), ...own];

const hasEntry = (audit: AuditPolicy | undefined): boolean =>
  audit !== undefined && !(typeof audit === 'object' && 'none' in audit);
const withoutEntry = (routes: typeof all): string[] =>
  routes.filter(({ operation }) => !hasEntry(operation.audit)).map(({ path }) => path);

test('every operation that changes something declares what the audit log records, or why it records nothing', () => {
  const undeclared = all.filter(({ method, operation: { audit } }) => {
    const isReasoned = typeof audit !== 'object' || !('none' in audit) || audit.none.length > 10;
    return method !== 'GET' && !(audit && isReasoned);
  });
  assert.ok(all.length > 150);
  assert.deepEqual(
    undeclared.map(({ path }) => path),
    [],
  );
});

test('the audit log records exports, deletions, and reads of a submission by a member', () => {
  const exports = all.filter(({ method, path }) => method === 'GET' && /\/(export|package)$/.test(path));
  assert.ok(exports.length >= 5);
  assert.deepEqual(withoutEntry(exports), []);
  const reads = all.filter(
    ({ method, path }) => method === 'GET' && /^\/submissions\/:id(\/view)?$/.test(path),
  );
  assert.equal(reads.length, 2);
  assert.deepEqual(withoutEntry(reads), []);
  assert.deepEqual(withoutEntry(all.filter(({ method }) => method === 'DELETE')), []);
});

test('an operation whose changes are recorded names the operation that reads the resource', () => {
  const named = declaredRoutes().filter(({ operation }) => findReadOperationName(operation) !== undefined);
  assert.ok(named.length > 15);
  assert.ok(named.every(({ reader }) => reader?.permission.endsWith(':read')));
});
