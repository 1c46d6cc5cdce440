import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryNeeded, sharedBuffers } from './memory.ts';

const instance = (webProcesses: number) => ({ webProcesses, databaseUrl: undefined });

test('two processes and the database that comes along fit into the 512 MB of the handbook', () => {
  assert.equal(memoryNeeded(instance(2), true), 512);
  assert.equal(memoryNeeded({ ...instance(2), databaseUrl: 'postgres://elsewhere/forms' }, true), 340);
});

test('where no compiled code is kept, each of several processes and their primary need 12 MB more', () => {
  assert.equal(memoryNeeded(instance(2), false), 548);
  assert.equal(memoryNeeded(instance(1), false), memoryNeeded(instance(1), true));
});

test('the buffers of the database are what a limit leaves, from 32 to 128 MB', () => {
  assert.equal(sharedBuffers(instance(2), 512, true), '32MB');
  assert.equal(sharedBuffers(instance(2), 570, true), '90MB');
  assert.equal(sharedBuffers(instance(1), 640, true), '128MB');
  assert.equal(sharedBuffers(instance(2), undefined, true), '128MB');
  assert.equal(sharedBuffers(instance(4), 512, true), '32MB');
});
