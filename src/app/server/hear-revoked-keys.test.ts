import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { cellsOf, openCells } from '#cells/cells.ts';
import { createCell } from '#cells/create-cell.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { listenForRevokedKeys } from './background.ts';

test('a process that was notified of a new cell and could not read it retries without another notification', async () => {
  const { database, url: connectionString } = await testDatabase();
  const lines = new PassThrough();
  const log = openLog('warn', lines);
  const cells = await openCells(database, (of) =>
    openDatabase({ connectionString }, { ...of, pool: 2, log }),
  );
  await createCell(database, 'late', {});
  await database.query('alter table cells rename to away');
  const hearing = listenForRevokedKeys({ database, log });
  assert.match(String((await once(lines, 'data'))[0]), /could not read the list of cells/);
  assert.equal(cellsOf(database).length, 1);
  await database.query('alter table away rename to cells');
  await until('it to know the cell', async () => cellsOf(database).length === 2);
  await hearing.stop();
  await cells.close();
});
