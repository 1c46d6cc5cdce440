import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { allCommands } from '#app/cli/commands.ts';
import type { OpenApi } from '#app/openapi/schemas.ts';
import { shareService } from './service.ts';
import { commandLines, documentLines } from './surface.ts';

/*
 * The API and the command line are as test/surface.txt says. REWRITE=1 npm test -- test/surface.test.ts writes the file
 * anew: its difference in git then shows what changed for programs that use them.
 */
const file = new URL('surface.txt', import.meta.url);

test('operations, schemas and commands are those of test/surface.txt', async () => {
  const { url } = await shareService();
  const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApi;
  const names = (await allCommands()).map(({ name }) => name);
  const lines = [...documentLines(document), ...(await commandLines(names))];
  if (process.env['REWRITE']) await writeFile(file, `${lines.join('\n')}\n`);
  assert.deepEqual(lines, (await readFile(file, 'utf8')).trimEnd().split('\n'));
});
