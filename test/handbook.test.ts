import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isSlice } from './cases.ts';
import { command, runHere } from './command-line.ts';
import { testDatabase } from './database.ts';
import { readCommands } from './page-commands.ts';
import { callApi, openService } from './service.ts';

/*
 * Runs commands of the operators' pages as written. test/flows/tour.test.ts runs most of
 * docs/operating/README.md.
 */

const folder = await mkdtemp(join(tmpdir(), 'formloom-handbook-'));
after(() => rm(folder, { recursive: true }));

type Environment = Readonly<Record<string, string>>;

/** Runs the commands of a block with real values for the names on the page. */
async function follow(block: string, environment: Environment, names: Environment = {}): Promise<void> {
  for (const line of block.trim().split('\n')) {
    const [, words] = /^npm run -s formloom -- (.*?)(?: +#.*)?$/.exec(line)!;
    const here = Object.entries(names).reduce((text, [name, own]) => text.replace(name, own), words!);
    const { code, complaint } = await runHere(environment, here.split(' '));
    assert.equal(code, 0, `${line}\n${complaint}`);
  }
}

const workspaces = async (environment: Environment): Promise<string[]> => {
  const { answer, complaint } = await command(environment, 'workspace', 'list');
  assert.equal(complaint, '');
  return (answer as { data: { name: string }[] }).data.map(({ name }) => name);
};

test('docs/backups.md saves, restores and moves everything, members who cannot sign in get help, and docs/secrets.md changes the key', {
  skip: isSlice,
}, async () => {
  const instance = async (name: string) => ({
    DATABASE_URL: (await testDatabase({ isEmpty: true })).url,
    DATA_DIR: join(folder, name),
  });
  const [source, other, last] = [await instance('source'), await instance('other'), await instance('other')];
  await command(source, 'workspace', 'create', 'Acme');
  await writeFile(join(folder, 'passphrase.txt'), 'correct horse battery\n');
  const [backup, others, restore, check, move] = await readCommands('docs/backups.md', 'run');
  const names = { '/backups/': `${folder}/`, 'passphrase.txt': join(folder, 'passphrase.txt') };
  await follow(backup!, source, names);
  await follow(others!, source, names);
  assert.equal((await readdir(folder)).filter((name) => name.endsWith('.backup')).length, 3);
  await follow(restore!, other, names);
  assert.deepEqual(await workspaces(other), ['Acme']);
  await follow(check!, other, names);
  await follow(move!, other, { 'postgres://formloom:secret@db.example.com/formloom': last.DATABASE_URL });
  assert.deepEqual(await workspaces(last), ['Acme']);
  await command(last, 'user', 'create', '--email', 'ada@example.org', '--password', 'correct horse battery');
  const [people] = await readCommands('docs/operating/README.md', 'people');
  await follow(people!, last);
  const key = () => readFile(join(last.DATA_DIR, 'secret.key'), 'utf8');
  const before = await key();
  const [anotherKey] = await readCommands('docs/secrets.md', 'run');
  await follow(anotherKey!, last);
  assert.notEqual(await key(), before);
  assert.ok(!(await key()).includes(before.trim()), 'the former one is gone');
  assert.deepEqual(await workspaces(last), ['Acme']);
});

test('docs/operating/domains.md verifies a domain without a TXT record', async () => {
  const service = await openService();
  const tenant = await service.makeTenant();
  const [verify] = await readCommands('docs/operating/domains.md', 'run');
  for (const _ of [1, 2]) await follow(verify!, service.environment, { '<workspace>': tenant.workspaceId });
  const { body } = await callApi(service.url, await tenant.makeFullKey(), 'GET', '/domains');
  assert.partialDeepStrictEqual(body.data, [{ domain: 'forms.example.com', status: 'verified' }]);
});

test('docs/operating/cells.md creates a cell beside the running service', async () => {
  const { environment, services } = await openService({}, { cells: 1 });
  const cells = async () => {
    const { answer } = await command(environment, 'cell', 'list');
    return (answer as { data: { name: string; workspaces: number }[] }).data.map(
      ({ name, workspaces: count }) => `${name} ${count}`,
    );
  };
  const [here] = await readCommands('docs/operating/cells.md', 'run');
  const [create, ...rest] = here!.split(/^/m);
  await follow(create!, environment);
  // As if the 15 seconds had passed.
  await services.database.query("update cells set created_at = created_at - interval '1 minute'");
  await follow(rest.join(''), environment);
  assert.deepEqual(await cells(), ['default 0', 'second 1']);
});
