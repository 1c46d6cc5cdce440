import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryNeeded, sharedBuffers } from './memory.ts';

const instance = (webProcesses: number) => ({ webProcesses, databaseUrl: undefined });

test('two processes and the database that comes along fit into the 512 MB of the handbook', () => {
  assert.equal(memoryNeeded(instance(2)), 512);
  assert.equal(memoryNeeded({ ...instance(2), databaseUrl: 'postgres://elsewhere/forms' }), 340);
});

test('the buffers of the database are what a limit leaves, from 32 to 128 MB', () => {
  assert.equal(sharedBuffers(instance(2), 512), '32MB');
  assert.equal(sharedBuffers(instance(2), 570), '90MB');
  assert.equal(sharedBuffers(instance(1), 640), '128MB');
  assert.equal(sharedBuffers(instance(2), undefined), '128MB');
  assert.equal(sharedBuffers(instance(4), 512), '32MB');
});
