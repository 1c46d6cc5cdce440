import { test } from 'node:test';
import { readWhileOthersWrite } from '#test/read-all.ts';
import { openService } from '#test/service.ts';

/*
 * npm run test:long -- lists
 *
 * Reads 100,000 submissions by cursor while others submit and delete.
 */
const service = await openService();

test('100,000 submissions are read by cursor while others write: no gap, no repeat', () =>
  readWhileOthersWrite(service, 100_000));
