import assert from 'node:assert/strict';
import dns from 'node:dns';
import { test } from 'node:test';
import { openDnsServer, serverFailure, type Zone } from '#test/dns-server.ts';
import { findInHostsFile, resolveName } from './address-guard.ts';
import { normalizeDomain, resolveTexts } from './hosts.ts';

const zone: Zone = {
  'one.test': { a: [[192, 0, 2, 1]] },
  'two.test': {
    a: [
      [192, 0, 2, 1],
      [10, 0, 0, 1],
    ],
  },
  'empty.test': {},
  'broken.test': { code: serverFailure },
  'texts.test': { txt: ['v=spf1', 'formloom'] },
};

const server = await openDnsServer(zone);
const rejectsWith = (name: string, code: string): Promise<void> =>
  assert.rejects(resolveName(name, [server]), { code });

test('a name gets every address that DNS returns', async () => {
  assert.deepEqual(await resolveName('one.test', [server]), ['192.0.2.1']);
  assert.deepEqual((await resolveName('TWO.test.', [server])).sort(), ['10.0.0.1', '192.0.2.1']);
});

test('an unknown name, a name without addresses and a failing DNS server are distinguished', async () => {
  await rejectsWith('absent.test', 'ENOTFOUND');
  await rejectsWith('empty.test', 'ENODATA');
  await rejectsWith('broken.test', 'ESERVFAIL');
});

test('localhost is always this machine, whatever DNS says', async () => {
  for (const address of await resolveName('localhost', [server])) assert.match(address, /^(127\.|::1$)/);
});

test('a name in the hosts file has the addresses of its lines', () => {
  const hosts =
    '# 10.0.0.9 receiver.test\n127.0.0.1\tlocalhost receiver.test # here\n::1 Receiver.test\r\n\n10.0.0.2 other.test';
  assert.deepEqual(findInHostsFile(hosts, 'receiver.test'), ['127.0.0.1', '::1']);
  assert.deepEqual(findInHostsFile(hosts, 'absent.test'), []);
});

test('the TXT records of a name are read from DNS', async () => {
  dns.setServers([server]);
  assert.deepEqual(await resolveTexts('texts.test'), ['v=spf1', 'formloom']);
  assert.deepEqual(await resolveTexts('empty.test'), []);
  assert.deepEqual(await resolveTexts('unknown.test'), []);
  assert.equal(await resolveTexts('broken.test'), undefined);
});

test('a domain is normalized, and other texts are not domains', () => {
  assert.deepEqual(['Forms.Example.COM.', ' bücher.de '].map(normalizeDomain), [
    'forms.example.com',
    'xn--bcher-kva.de',
  ]);
  const wrong = [
    '',
    'localhost',
    'com',
    'https://a.com',
    'a.com/x',
    'a.com:80',
    'a b.com',
    '*.a.com',
    'a_b.com',
  ];
  for (const text of [
    ...wrong,
    '1.2.3.4',
    '[::1]',
    'a..com',
    '-a.com',
    'ex%41mple.com',
    `${'a.'.repeat(130)}com`,
  ])
    assert.equal(normalizeDomain(text), undefined, text);
});
