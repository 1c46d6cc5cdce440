import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { findInHostsFile, resolveName } from './address-guard.ts';

const typeA = 1;
const noError = 0;
const serverFailure = 2;
const noSuchName = 3;

type Zone = Record<string, { code?: number; a?: readonly number[][] }>;

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
};

/** Starts a minimal DNS server with A records and response codes. */
async function openDnsServer(): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    while (query[at]! > 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
      at += 1 + query[at]!;
    }
    const question = query.subarray(12, at + 5);
    const entry = zone[labels.join('.')] ?? { code: noSuchName };
    const records = query.readUInt16BE(at + 1) === typeA ? (entry.a ?? []) : [];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (entry.code ?? noError), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const answers = records.map((record) =>
      Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...record]),
    );
    socket.send(Buffer.concat([head, question, ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  after(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

const server = await openDnsServer();
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
