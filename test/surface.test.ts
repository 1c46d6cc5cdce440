import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { allCommands } from '#app/cli/commands.ts';
import type { OpenApi } from '#app/openapi/schemas.ts';
import { shareService } from './service.ts';
import { commandLines, documentLines } from './surface.ts';

/*
 * Asserts that the API and the command line match test/surface.txt. REWRITE=1 npm test --
 * test/surface.test.ts updates the file. Its diff then shows what changed for API and CLI clients.
 */
const file = new URL('surface.txt', import.meta.url);

test('operations, schemas and commands match test/surface.txt', async () => {
  const { url } = await shareService();
  const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApi;
  const names = (await allCommands()).map(({ name }) => name);
  const lines = [...documentLines(document), ...(await commandLines(names))];
  if (process.env['REWRITE']) await writeFile(file, `${lines.join('\n')}\n`);
  assert.deepEqual(lines, (await readFile(file, 'utf8')).trimEnd().split('\n'));
});
