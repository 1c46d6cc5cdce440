import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calculateSharedBuffers, memoryNeeded } from './memory.ts';

const instance = (webProcesses: number) => ({ webProcesses, databaseUrl: undefined });

test('two processes and the embedded database fit into the 512 MB that the handbook states', () => {
  assert.equal(memoryNeeded(instance(2)), 512);
  assert.equal(memoryNeeded({ ...instance(2), databaseUrl: 'postgres://elsewhere/forms' }), 340);
});

test('the database gets 32 to 128 MB of buffers, depending on the memory limit', () => {
  assert.equal(calculateSharedBuffers(instance(2), 512), '32MB');
  assert.equal(calculateSharedBuffers(instance(2), 570), '90MB');
  assert.equal(calculateSharedBuffers(instance(1), 640), '128MB');
  assert.equal(calculateSharedBuffers(instance(2), undefined), '128MB');
  assert.equal(calculateSharedBuffers(instance(4), 512), '32MB');
});
