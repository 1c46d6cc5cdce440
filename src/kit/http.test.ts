import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from './log.ts';
import { openServer } from './open-server.ts';

for (const [what, isSecure, expected] of [
  ['a service that is reached by https says that it always is', true, 'max-age=31536000'],
  ['one that is reached by http does not', false, undefined],
] as const) {
  test(what, async () => {
    const server = openServer({ log: openLog('silent'), trustProxy: false, isSecure });
    const answers = [
      await server.inject('/nothing'),
      await server.inject({ method: 'POST', url: '/nothing' }),
    ];
    await server.close();
    for (const { headers } of answers) assert.equal(headers['strict-transport-security'], expected);
  });
}

test('by default a response may load nothing, cannot be framed, and is not sniffed', async () => {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  server.get('/own', (_request, reply) => reply.header('Content-Security-Policy', 'sandbox').send(''));
  const [none, own] = [await server.inject('/nothing'), await server.inject('/own')];
  await server.close();
  assert.equal(none.headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
  assert.equal(none.headers['x-content-type-options'], 'nosniff');
  assert.equal(own.headers['content-security-policy'], 'sandbox');
});

test('a compressed request body returns 415 with a remedy, on every path and for every coding', async () => {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  server.post('/own', async () => 'taken');
  const send = (coding: string) =>
    server.inject({ method: 'POST', url: '/own', headers: { 'Content-Encoding': coding } });
  for (const coding of ['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'identity, gzip', 'x-unknown']) {
    const answer = await send(coding);
    assert.equal(answer.statusCode, 415, coding);
    assert.match(answer.body, /Send the body without Content-Encoding\./);
  }
  for (const coding of ['identity', 'Identity', ''])
    assert.equal((await send(coding)).statusCode, 200, coding);
  await server.close();
});
