import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSocketDirectory, externalDirectoryName } from './create-cluster.ts';
import { createDraftPath, draftOwnerPid } from './drafts.ts';
import { buildPostgresArguments } from './machine.ts';
import { isLivePostgres, parsePostmasterFile } from './postmaster.ts';

test('the socket is in the cluster directory if its path fits, counted in bytes', () => {
  const fits = `/${'x'.repeat(80)}`;
  assert.equal(chooseSocketDirectory(fits), fits);
  for (const long of [`/${'x'.repeat(100)}`, `/${'ł'.repeat(50)}`]) {
    assert.match(chooseSocketDirectory(long), /^\/tmp\/formloom-[0-9a-f]{8}$/);
    assert.equal(chooseSocketDirectory(long), chooseSocketDirectory(long));
    assert.notEqual(chooseSocketDirectory(long), chooseSocketDirectory(`${long}y`));
  }
});

test('a cluster outside its data directory has a readable, unique name', () => {
  assert.match(externalDirectoryName('/root/formloom/data'), /^data-[0-9a-f]{8}$/);
  assert.match(externalDirectoryName('/root/my data; rm'), /^my_data__rm-[0-9a-f]{8}$/);
  assert.notEqual(externalDirectoryName('/a/data'), externalDirectoryName('/b/data'));
});

test('the name of a draft contains its process ID and its target', () => {
  assert.equal(draftOwnerPid('/x/postgres', createDraftPath('/x/postgres').slice('/x/'.length)), process.pid);
  for (const name of [
    'postgres',
    'postgres.draft-',
    'postgres.draft-x',
    'other.draft-12-ab',
    'postgres.draft--1-ab',
  ]) {
    assert.equal(draftOwnerPid('/x/postgres', name), undefined, name);
  }
});

test("PostgreSQL's postmaster file can be read, even if half written", () => {
  const lines = ['4711', '/data/postgres', '1795261234', '5432', '/data/postgres', '', '  1234567  0'];
  assert.deepEqual(parsePostmasterFile([...lines, 'ready   ', ''].join('\n')), {
    pid: 4711,
    status: 'ready',
  });
  assert.deepEqual(parsePostmasterFile([...lines, 'stopping', ''].join('\n')), {
    pid: 4711,
    status: 'stopping',
  });
  assert.deepEqual(parsePostmasterFile([...lines, 'starting', ''].join('\n')), {
    pid: 4711,
    status: 'starting',
  });
  assert.deepEqual(parsePostmasterFile('4711\n/data'), { pid: 4711, status: 'starting' });
  for (const text of ['', '\n', '-4711\n', '0\n', '1\n', 'x'])
    assert.equal(parsePostmasterFile(text), undefined, text);
});

test('only a running process named postgres counts as a postmaster', () => {
  for (const [stat, is] of [
    ['4711 (postgres) S 1 4711 4711 0 -1', true],
    ['4711 (postgres) Z 1 4711 4711 0 -1', false],
    ['4711 (node) S 1 4711 4711 0 -1', false],
    ['4711 (my (postgres) S) S 1 4711 4711 0 -1', false],
  ] as const) {
    assert.equal(isLivePostgres(stat), is, stat);
  }
});

test('settings of the caller override the defaults, except those for connections and durability', () => {
  const args = buildPostgresArguments({
    directory: '/d',
    socketDirectory: '/a "b", c',
    durable: true,
    settings: { jit: 'on', fsync: 'off', listen_addresses: '*', work_mem: '8MB' },
  });
  assert.deepEqual(args.slice(0, 2), ['-D', '/d']);
  for (const one of ['jit=on', 'work_mem=8MB', 'fsync=on', 'synchronous_commit=on', 'full_page_writes=on']) {
    assert.ok(args.includes(one), one);
  }
  assert.ok(args.includes('listen_addresses=') && !args.includes('listen_addresses=*'));
  assert.ok(args.includes('unix_socket_directories="/a ""b"", c"'));
});
