import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { after } from 'node:test';

/** The answer for a name: its IPv4 addresses, a CNAME with its addresses, an error, or no answer. */
export type DnsAnswer =
  | readonly string[]
  | { cname: string; addresses: readonly string[] }
  | 'NXDOMAIN'
  | 'SERVFAIL'
  | 'silence';

export type DnsServer = {
  /** `127.0.0.1:<port>` */
  address: string;
  /** Sets the answers for a name, used in order. The last one is repeated. */
  answer(name: string, ...answers: DnsAnswer[]): void;
  /** Returns how many times the IPv4 addresses of a name were queried. */
  asked(name: string): number;
};

const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;
const ipv4 = 1;
const cname = 5;

/**
 * Starts a DNS server on the loopback interface. It sends real packets with the answers that a test chooses.
 */
export async function openDnsServer(): Promise<DnsServer> {
  const answers = new Map<string, DnsAnswer[]>();
  const counts = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (packet: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(packet);
    const known = answers.get(name) ?? ['NXDOMAIN'];
    // Each name is queried for IPv4 and IPv6. Only an IPv4 query moves to the next answer.
    const answer = type === ipv4 && known.length > 1 ? known.shift()! : known[0]!;
    if (type === ipv4) counts.set(name, (counts.get(name) ?? 0) + 1);
    if (answer === 'silence') return;
    socket.send(
      writeAnswer(packet, end, name, type === ipv4 ? answer : emptied(answer)),
      from.port,
      from.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  after(() => socket.close());
  return {
    address: `127.0.0.1:${socket.address().port}`,
    answer(name, ...next) {
      answers.set(name, next);
    },
    asked: (name) => counts.get(name) ?? 0,
  };
}

/** Errors apply to the name, addresses only to the type. */
const emptied = (answer: DnsAnswer): DnsAnswer => (typeof answer === 'string' ? answer : []);

function readQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at]!; length > 0; length = packet[at]!) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  // TTL 0: every connection queries again.
  fixed.writeUInt32BE(0, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

function writeAnswer(question: Buffer, end: number, name: string, answer: DnsAnswer): Buffer {
  const header = Buffer.alloc(12);
  question.copy(header, 0, 0, 2);
  const code = answer === 'NXDOMAIN' || answer === 'SERVFAIL' ? codes[answer] : codes.NOERROR;
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  const found = typeof answer === 'string' ? [] : 'cname' in answer ? answer.addresses : answer;
  const owner = typeof answer === 'object' && 'cname' in answer ? answer.cname : name;
  const records = found.map((address) => record(owner, ipv4, Buffer.from(address.split('.').map(Number))));
  if (owner !== name) records.unshift(record(name, cname, encodeName(owner)));
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question.subarray(12, end), ...records]);
}
