import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { findAccount } from '#kit/embedded-postgres/account.ts';
import { runAs, runProgram } from '#kit/embedded-postgres/program.ts';
import { permissionNames } from '#rules/permissions.ts';
import { publishForm, sendVisitors, submitEntry } from '../crowd.ts';
import { direct, readCommands } from '../page-commands.ts';
import { type Environment, makeInstance, queryOnce } from '../process.ts';
import { openReceiver } from '../receiver.ts';
import { callApi, freePort, until } from '../service.ts';
import { slowness } from '../slowness.ts';

/* npm run test:cells: a cell goes from one PostgreSQL to another, and back from a dump, as docs/operating/cells.md says. Needs Debian's postgresql-15: the one that comes along has neither psql nor pg_dump. */

const exec = promisify(execFile);
const programs = '/usr/lib/postgresql/15/bin';
const account = await findAccount();
const home = await mkdtemp('/tmp/formloom-moved-');
if (account) await chown(home, account.uid, account.gid);

/** A server with an empty database, which the role of the service owns. @returns its address as another role. */
async function openPostgres(name: string): Promise<(role: string, database?: string) => string> {
  const data = join(home, name);
  const port = await freePort();
  const initdb = ['-D', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  await runProgram(join(programs, 'initdb'), initdb, { account, purpose: 'make a server' });
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${home}`];
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...[...settings, 'fsync=off', 'wal_level=logical'].flatMap((each) => ['-c', each])],
    { ...runAs(account), stdio: 'ignore' },
  );
  ends.push(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGQUIT');
    await exited;
  });
  const urlOf = (role: string, database = 'formloom'): string =>
    `postgres://${role}@127.0.0.1:${port}/${database}`;
  await until(`${name} to answer`, () =>
    queryOnce(urlOf('postgres', 'postgres'), 'select').catch(() => false),
  );
  await queryOnce(urlOf('postgres', 'postgres'), 'create role formloom login');
  await queryOnce(urlOf('postgres', 'postgres'), 'create database formloom owner formloom');
  return urlOf;
}

const ends: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of ends) await end();
  await rm(home, { recursive: true });
});

const page = 'docs/operating/cells.md';

/** Runs what a page says, with the servers that there are here in place of those that it names. */
async function follow(
  blocks: readonly string[],
  environment: Environment,
  servers: Readonly<Record<string, string>>,
): Promise<void> {
  let script = blocks.map(direct).join('\n');
  for (const [named, url] of Object.entries(servers)) {
    assert.ok(script.includes(named), named);
    script = script.replaceAll(named, url);
  }
  const { stderr } = await exec('sh', ['-euc', script], {
    cwd: home,
    env: { ...process.env, ...environment },
  });
  assert.doesNotMatch(stderr, /error/i);
}

test('a cell goes to another server as the handbook says, amid submits: nothing acknowledged is lost, all of it is delivered, and other cells miss nothing; its dump has all of it', async () => {
  const [first, from, to] = [
    await openPostgres('first'),
    await openPostgres('old'),
    await openPostgres('new'),
  ];
  const instance = await makeInstance({ DATABASE_URL: first('formloom') });
  const server = await instance.start();
  const receiver = await openReceiver();
  const elsewhere = await publishForm(instance);
  await instance.cli('cell create', 'third', '--server', from('formloom'));
  await instance.query("update cells set created_at = created_at - interval '1 minute'");
  const { id: workspace } = await instance.cli<{ id: string }>(
    'workspace create',
    'Moves',
    '--cell',
    'third',
  );
  const { key } = await instance.cli<{ key: string }>(
    `key create --name Moves --permissions ${permissionNames.join(',')} --workspace`,
    workspace,
  );
  const call = (method: string, path: string, body?: object) =>
    callApi(instance.url, key, method, path, body);
  const { structure } = (await elsewhere.call('GET', `/forms/${elsewhere.id}`)).body;
  const { id, public_url: publicUrl } = (await call('POST', '/forms', { structure, publish: true })).body;
  const hook = { url: `${receiver.url}/moves`, events: ['submission.created'] };
  assert.equal((await call('POST', `/forms/${id}/webhooks`, hook)).status, 201);

  assert.ok('id' in (await submitEntry(publicUrl, 'Beforehand')));
  const visitors = sendVisitors(publicUrl, { count: 3, name: 'moves', pauseMs: 20 });
  const others = sendVisitors(elsewhere.publicUrl, { count: 1, name: 'stays', pauseMs: 50 });
  await until('some to be there before', async () => visitors.acknowledged.size >= 50);
  const still = { since: performance.now(), acknowledged: 0, ms: 0 };
  const watch = setInterval(() => {
    if (visitors.acknowledged.size === still.acknowledged) return;
    still.ms = Math.max(still.ms, performance.now() - still.since);
    Object.assign(still, { since: performance.now(), acknowledged: visitors.acknowledged.size });
  }, 20);
  const servers = {
    'postgres://postgres:password@db2.example.org/formloom': from('postgres'),
    'postgres://postgres:password@db3.example.org/formloom': to('postgres'),
    'postgres://formloom:password@db3.example.org/formloom': to('formloom'),
  };
  const [names, copy, wait, goOver, afterwards] = await readCommands(page, 'move');
  const move = (...blocks: (string | undefined)[]) =>
    follow([names!, ...blocks.map(String)], instance.environment, servers);
  await move(copy, wait);
  // As if the delivery log had begun a day meanwhile.
  const parts = join(home, 'parts-before');
  const before = await readFile(parts, 'utf8');
  await writeFile(parts, `${before}1||\n`);
  await assert.rejects(move(goOver), { code: 1 });
  await queryOnce(from('postgres'), 'alter role formloom login');
  const stayed = visitors.acknowledged.size;
  await until('more to be acknowledged where it was', async () => visitors.acknowledged.size > stayed);
  await writeFile(parts, before);
  await move(goOver, afterwards);
  const moved = visitors.acknowledged.size;
  await until('more to be acknowledged there', async () => visitors.acknowledged.size >= moved + 50);
  clearInterval(watch);
  process.stdout.write(`The cell stood still for ${(still.ms / 1000).toFixed(1)} s.\n`);
  assert.ok(still.ms < 10_000 * slowness());
  await Promise.all([visitors.leave(), others.leave()]);
  assert.ok('id' in (await submitEntry(publicUrl, 'Afterwards')));

  assert.deepEqual([...new Set(visitors.failures)], ['503']);
  assert.deepEqual(others.failures, []);
  const sql = "select answers ->> 'entry' as entry, id from cell_third.submissions";
  const kept = new Map(
    (await queryOnce<{ entry: string; id: string }>(to('formloom'), sql)).map((row) => [row.entry, row.id]),
  );
  assert.deepEqual(
    [...visitors.acknowledged].filter(([entry, submission]) => kept.get(entry) !== submission),
    [],
  );
  const { body } = await call('GET', `/forms/${id}/submissions`);
  assert.equal(body.pagination.total_count, kept.size);
  await until('all of them to be delivered', async () => {
    const heard = new Set(
      receiver.requests.map(
        ({ body: sent }) => JSON.parse(String(sent)).submission.responses.entry as string,
      ),
    );
    return [...visitors.acknowledged.keys()].every((entry) => heard.has(entry));
  });
  for (const entry of ['Beforehand', 'Afterwards'])
    await until(`${entry} to be found`, async () => {
      const found = await call('GET', `/submissions/search?q=${entry}`);
      return found.body.data.length === 1;
    });
  assert.deepEqual(
    await queryOnce(from('postgres'), "select nspname from pg_namespace where nspname like '%third'"),
    [],
  );

  const [save, bring] = await readCommands(page, 'save');
  const again = { ...instance.environment, DATABASE_URL: first('formloom', 'again') };
  await follow([save!], instance.environment, {
    'postgres://formloom@db2.example.org/formloom': to('formloom'),
  });
  await server.terminate();
  await queryOnce(first('postgres'), 'create database again owner formloom');
  await queryOnce(to('postgres'), 'create database again owner formloom');
  await follow([bring!], again, {
    'postgres://formloom@db3.example.org/formloom': to('formloom', 'again'),
  });
  await instance.start(again);
  const restored = await call('GET', `/forms/${id}/submissions`);
  assert.equal(restored.body.pagination.total_count, kept.size);
  assert.ok('id' in (await submitEntry(publicUrl, 'Restored')));
  assert.equal(
    (await queryOnce(to('formloom', 'again'), `${sql} where answers ->> 'entry' = 'Restored'`)).length,
    1,
  );
});
