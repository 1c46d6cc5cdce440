import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after } from 'node:test';

const typeA = 1;
const typeTxt = 16;
const noError = 0;
export const serverFailure = 2;
const noSuchName = 3;

/** Names with their response code, A records and TXT records. */
export type Zone = Record<string, { code?: number; a?: readonly number[][]; txt?: readonly string[] }>;

/**
 * Starts a minimal DNS server for the calling test file. A test can change the zone.
 * @returns its address and port.
 */
export async function openDnsServer(zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    while (query[at]! > 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
      at += 1 + query[at]!;
    }
    const question = query.subarray(12, at + 5);
    const entry = zone[labels.join('.').toLowerCase()] ?? { code: noSuchName };
    const type = query.readUInt16BE(at + 1);
    const texts = (entry.txt ?? []).map((text) => [text.length, ...Buffer.from(text)]);
    const records = type === typeA ? (entry.a ?? []) : type === typeTxt ? texts : [];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (entry.code ?? noError), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const answers = records.map((record) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, record.length, ...record]),
    );
    socket.send(Buffer.concat([head, question, ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  after(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}
