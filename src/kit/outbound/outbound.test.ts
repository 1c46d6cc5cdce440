import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { certificate, openReceiver } from '#test/receiver.ts';
import { closedPort, until } from '#test/service.ts';
import {
  findTargetUrlProblem,
  type OutboundOptions,
  type OutboundResult,
  openOutboundSender,
} from './outbound.ts';

// NODE_EXTRA_CA_CERTS, which test/run.ts sets, makes the test authority trusted.
const timeoutMs = 400;

function open(more: Partial<OutboundOptions> = {}): ReturnType<typeof openOutboundSender> {
  const outbound = openOutboundSender({ allowNetworks: ['127.0.0.0/8'], timeoutMs, ...more });
  after(() => outbound.close());
  return outbound;
}

const outbound = open();
/** A deadline that a busy machine meets, for tests that expect an answer. */
const patientMs = 20_000;
const patient = open({ timeoutMs: patientMs });
const receiver = await openReceiver();
const body = Buffer.from('{"text":"é"}');
const unaborted = new AbortController().signal;

const send = (url: string, by = outbound): Promise<OutboundResult> =>
  by.sendRequest({ url, headers: { 'content-type': 'application/json' }, body, signal: unaborted });

/** Starts a server that runs `onSocket` for each connection, with or without TLS. */
async function serve(onSocket: (socket: Socket) => void, secure = true): Promise<string> {
  const sockets = new Set<Socket>();
  const welcome = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  };
  const server: Server = secure ? createTlsServer(certificate('receiver'), welcome) : createServer(welcome);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Replies to the first bytes of a request with this text. */
const answerWith =
  (bytes: string) =>
  (socket: Socket): void => {
    socket.once('data', () => socket.write(bytes));
  };

test('the bytes, headers and status arrive, and so does the head of the answer', async () => {
  receiver.replyWith({ status: 418, body: `short and stout\0${'.'.repeat(9_000)}` });
  const result = await send(receiver.url, patient);
  const seen = receiver.requests.at(-1)!;
  assert.equal(seen.method, 'POST');
  assert.equal(seen.headers['content-type'], 'application/json');
  assert.equal(seen.headers['content-length'], String(body.length));
  assert.deepEqual(seen.body, body);
  assert.ok(result.kind === 'answer' && result.ms < patientMs);
  assert.equal(result.status, 418);
  assert.equal(result.bodyHead.length, 4 * 1_024);
  assert.ok(result.bodyHead.startsWith('short and stout\uFFFD...'));
});

test('connections are reused for later requests', async () => {
  receiver.replyWith(200);
  const ports = new Set<number>();
  const url = await serve((socket) => {
    ports.add(socket.remotePort!);
    socket.on('data', (chunk) => {
      if (chunk.includes('}')) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  for (let count = 0; count < 10; count += 1) assert.equal((await send(url, patient)).kind, 'answer');
  // The pool may open a second connection while the first is still closing.
  assert.ok(ports.size <= 2, `${ports.size} connections`);
});

test('a connection that closes while idle fails no request: unsent requests use a new connection', async () => {
  let opened = 0;
  const url = await serve((socket) => {
    opened += 1;
    socket.on('data', (chunk) => {
      if (chunk.includes('}')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  for (let count = 1; count <= 20; count += 1) {
    const result = await send(url, patient);
    assert.equal(result.kind, 'answer', JSON.stringify(result));
  }
  assert.equal(opened, 20);
});

const timeouts: Record<string, () => Promise<string>> = {
  'is never answered': async () => (receiver.replyWith('hang'), receiver.url),
  'drips its headers': async () => (receiver.replyWith('drip headers'), receiver.url),
  'drips its body': async () => (receiver.replyWith('drip body'), receiver.url),
  'is accepted and never read': () => serve((socket) => socket.pause(), false),
  'gets a flood of 1xx': () =>
    serve((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    }),
};
for (const [what, prepare] of Object.entries(timeouts)) {
  test(`a request that ${what} fails at the deadline`, async () => {
    const began = performance.now();
    const result = await send(await prepare());
    const took = performance.now() - began;
    assert.ok(result.kind === 'failure');
    assert.equal(result.reason, 'No complete response within 0.4 seconds.');
    assert.ok(took >= timeoutMs - 5 && took < timeoutMs + 5_000, `took ${took} ms`);
  });
}

const faults: Record<string, [RegExp, () => Promise<string>]> = {
  'a reset before the answer': [/closed before/, async () => (receiver.replyWith('reset'), receiver.url)],
  'a reset within the answer': [
    /closed before/,
    async () => (receiver.replyWith('reset midway'), receiver.url),
  ],
  'an answer without a status line': [/not valid HTTP/, () => serve(answerWith('<html>hello</html>'))],
  'headers of 1 MB': [
    /not valid HTTP/,
    () => serve(answerWith(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1e6)}\r\n\r\n`)),
  ],
  'a closed port': [/refused/, async () => `https://127.0.0.1:${closedPort}/`],
  'a server without TLS': [
    /secure connection/,
    () => serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), false),
  ],
  'an expired certificate': [/has expired/, async () => (await openReceiver({ certificate: 'expired' })).url],
  'a certificate that is not valid yet': [
    /not valid yet/,
    async () => (await openReceiver({ certificate: 'future' })).url,
  ],
  'a self-signed certificate': [
    /unknown authority.*WEBHOOK_CA_FILE/,
    async () => (await openReceiver({ certificate: 'selfsigned' })).url,
  ],
  'a certificate for another name': [
    /issued for a different host name/,
    async () => (await openReceiver({ certificate: 'elsewhere' })).url,
  ],
};
for (const [what, [reason, prepare]] of Object.entries(faults)) {
  test(`${what} is a failure`, async () => {
    const result = await send(await prepare(), patient);
    assert.equal(result.kind, 'failure');
    assert.match((result as { reason: string }).reason, reason);
  });
}

test('an endless response counts by its status, and is cut off', async () => {
  receiver.replyWith('endless');
  const result = await send(receiver.url, patient);
  assert.ok(result.kind === 'answer' && result.status === 200);
  // The test server stops sending when it notices the cut, which takes a while on a busy machine.
  let sent = -1;
  await until('no more bytes to be taken', async () => {
    const before = sent;
    sent = receiver.bytesSent();
    await sleep(50);
    return receiver.bytesSent() === sent && before === sent;
  });
  // Socket buffers on both sides add to the 64 KB.
  assert.ok(sent < 8 * 2 ** 20, `${sent} bytes`);
});

test('a compressed response is never decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  receiver.replyWith({ status: 200, headers: { 'Content-Encoding': 'gzip' }, body: bomb });
  const before = process.memoryUsage().rss;
  const result = await send(receiver.url, patient);
  assert.ok(result.kind === 'answer' && result.status === 200);
  assert.ok(process.memoryUsage().rss - before < 40_000_000);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a ${status} redirect counts as the response and is not followed`, async () => {
    const canary = await openReceiver();
    receiver.replyWith({ status, headers: { Location: canary.url } });
    const result = await send(receiver.url, patient);
    assert.ok(result.kind === 'answer' && result.status === status);
    assert.equal(canary.requests.length, 0);
  });
}

test('an abort ends the request immediately with its reason, in every phase', async () => {
  receiver.replyWith('hang');
  const accepted = Promise.withResolvers<void>();
  const waits = {
    answer: { url: receiver.url, reached: receiver.waitFor(receiver.requests.length + 1), by: patient },
    'secure connection': {
      url: await serve(() => accepted.resolve(), false),
      reached: accepted.promise,
      by: patient,
    },
    name: {
      url: 'https://receiver.test/',
      reached: Promise.resolve(),
      by: open({ timeoutMs: patientMs, resolve: () => new Promise<string[]>(() => {}) }),
    },
  };
  for (const { url, reached, by } of Object.values(waits)) {
    const stop = new AbortController();
    const sending = by.sendRequest({ url, headers: {}, body, signal: stop.signal });
    await reached;
    const aborted = performance.now();
    stop.abort(new Error('stopping'));
    await assert.rejects(sending, /stopping/);
    assert.ok(performance.now() - aborted < patientMs / 2);
  }
});

const blocked = 'This URL is not allowed: a receiver must be publicly reachable.';
const notUrl = 'This is not a valid URL. Enter one like https://example.com/path.';
const notHttps = 'The URL must begin with https://.';
const unwelcome: readonly (readonly [problem: string, ...urls: string[]])[] = [
  [notUrl, 'https://', 'https://:443/', 'https://example.com:99999/'],
  [
    'The URL must not contain spaces.',
    'https://exa mple.com',
    ' https://example.com',
    'https://example.com/\n',
  ],
  [
    notHttps,
    '',
    'example.com/hook',
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'gopher://example.com/',
    'javascript:alert(1)',
  ],
  [
    'The URL must not contain a user name or password.',
    'https://user:password@example.com/',
    'https://user@example.com/',
  ],
  [blocked, ...['0', '22', '25', '6379'].map((port) => `https://93.184.215.14:${port}/`)],
  [
    blocked,
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '0',
      '0.0.0.0',
      '127.0.0.1.',
      '１２７.0.0.1',
      '⑫7.0.0.1',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:0:7f00:1::]',
      '[fe80::1]',
      '[fc00::1]',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '192.168.257',
      '169.254.169.254',
      '100.64.0.1',
      '100.100.100.200',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      'localhost',
      'LOCALHOST',
      'localhost.',
    ].map((host) => `https://${host}/`), // prettier-ignore
  ],
]; // prettier-ignore
const nothingAllowed = { allowNetworks: [] };
const strict = open({ ...nothingAllowed, timeoutMs: patientMs });
for (const [problem, ...urls] of unwelcome) {
  for (const url of urls) {
    test(`${JSON.stringify(url)} is rejected when it is saved and when a request is sent`, async () => {
      assert.equal(await findTargetUrlProblem(url, nothingAllowed), problem);
      const result = await send(url, strict);
      assert.ok(result.kind === 'refusal');
      assert.equal(result.reason, problem);
    });
  }
}

test('a public address is accepted', async () => {
  for (const url of ['https://93.184.215.14/hook', 'https://[2606:4700::1111]:8443/?a=b']) {
    assert.equal(await findTargetUrlProblem(url, nothingAllowed), undefined, url);
  }
});

/** Returns a resolver that gives these answers in order. */
const resolving = (...answers: (string[] | string)[]): Partial<OutboundOptions> => ({
  resolve: async () => {
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
    return answer;
  },
});

test('a name with any private address is rejected, whatever its other addresses are', async () => {
  for (const addresses of [
    ['10.0.0.1'],
    ['93.184.215.14', '10.0.0.1'],
    ['2606:4700::1111', '::ffff:127.0.0.1'],
  ]) {
    const options = { allowNetworks: [], ...resolving(addresses) };
    assert.equal(await findTargetUrlProblem('https://receiver.test/', options), blocked);
    assert.equal((await send('https://receiver.test/', open(options))).kind, 'refusal');
  }
});

test('a name that becomes private after it was saved is not connected to', async () => {
  const before = receiver.requests.length;
  const options = { allowNetworks: [], ...resolving(['93.184.215.14'], ['127.0.0.1']) };
  const url = receiver.url.replace('127.0.0.1', 'receiver.test');
  assert.equal(await findTargetUrlProblem(url, options), undefined);
  assert.equal((await send(url, open(options))).kind, 'refusal');
  assert.equal(receiver.requests.length, before);
});

test('a name is resolved once per connection, and TLS and Host use the name', async () => {
  receiver.replyWith(200);
  // The second answer would be rejected: the client must connect to the address that was checked.
  const guarded = open({ timeoutMs: patientMs, ...resolving(['127.0.0.1'], ['10.0.0.1']) });
  const result = await send(receiver.url.replace('127.0.0.1', 'receiver.test'), guarded);
  assert.equal(result.kind, 'answer');
  assert.match(receiver.requests.at(-1)!.headers.host!, /^receiver\.test:\d+$/);
});

test('an unresolvable name can be saved, but sending to it fails', async () => {
  for (const code of ['ENOTFOUND', 'ENODATA', 'ETIMEOUT', 'ESERVFAIL']) {
    const options = { allowNetworks: [], ...resolving(code) };
    assert.equal(await findTargetUrlProblem('https://nowhere.test/', options), undefined);
    assert.equal((await send('https://nowhere.test/', open(options))).kind, 'failure');
  }
});

test('the service does not send requests to itself', async () => {
  const options = {
    allowNetworks: ['127.0.0.0/8'],
    ownUrls: ['http://127.0.0.1:3000', 'https://forms.test'],
    ...resolving(['127.0.0.1']),
  };
  for (const url of ['https://127.0.0.1:3000/', 'https://forms.test/f/1', 'https://localhost:3000/']) {
    assert.equal(await findTargetUrlProblem(url, options), blocked, url);
    assert.equal((await send(url, open(options))).kind, 'refusal', url);
  }
});

const final = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';
const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';
for (const [what, interim] of [
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['100 without a reason', 'HTTP/1.1 100 \r\n\r\n'],
  ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103 Early Hints', early],
  [
    'several kinds',
    `HTTP/1.1 100 Continue\r\nX: y\r\n\r\n${early}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 Own\r\n\r\n`,
  ],
  ['a thousand', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)],
] as const)
  test(`interim responses are skipped and the final one counts: ${what}`, async () => {
    const url = await serve((socket) => void socket.on('data', () => socket.write(interim + final)));
    for (let time = 0; time < 2; time += 1) {
      const result = await send(url, patient);
      assert.deepEqual(result.kind === 'answer' && [result.status, result.bodyHead], [200, 'fine']);
    }
  });

async function writeByBytes(socket: Socket, text: string): Promise<void> {
  for (const byte of text) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
}

test('an interim response is skipped wherever packets end', async () => {
  const url = await serve((socket) =>
    socket.once('data', () => void writeByBytes(socket, `HTTP/1.1 100 Continue\r\n\r\n${early}${final}`)),
  );
  const result = await send(url, patient);
  assert.deepEqual(result.kind === 'answer' && [result.status, result.bodyHead], [200, 'fine']);
});

test('an interim response followed by the end of the connection is a failure', async () => {
  const url = await serve((socket) => socket.once('data', () => socket.end('HTTP/1.1 100 Continue\r\n\r\n')));
  const result = await send(url, patient);
  assert.equal(result.kind, 'failure');
});

test('endless interim responses are cut off at the deadline', async () => {
  const url = await serve((socket) => {
    const flood = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 5);
    socket.once('close', () => clearInterval(flood));
  });
  const result = await send(url);
  assert.match(result.kind === 'failure' ? result.reason : '', /No complete response within/);
});

test('an unrequested 101 Switching Protocols is a failure', async () => {
  const url = await serve(
    answerWith('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
  );
  assert.equal((await send(url, patient)).kind, 'failure');
});
