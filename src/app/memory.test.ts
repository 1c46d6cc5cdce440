import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryNeeded, sharedBuffers } from './memory.ts';

const instance = (webProcesses: number) => ({ webProcesses, databaseUrl: undefined });

test('two processes and the database that comes along need what the handbook says, and no more', () => {
  assert.equal(memoryNeeded(instance(2)), 512);
  assert.equal(memoryNeeded({ ...instance(2), databaseUrl: 'postgres://elsewhere/forms' }), 360);
});

test('the buffers of the database are what a limit leaves, from 32 to 128 MB', () => {
  assert.equal(sharedBuffers(instance(2), 512), '32MB');
  assert.equal(sharedBuffers(instance(2), 560), '80MB');
  assert.equal(sharedBuffers(instance(1), 512), '128MB');
  assert.equal(sharedBuffers(instance(2), undefined), '128MB');
  assert.equal(sharedBuffers(instance(4), 512), '32MB');
});
