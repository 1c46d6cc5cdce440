import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Server } from '#kit/http.ts';
import { openLog } from '#kit/log.ts';
import { openServer } from '#kit/open-server.ts';
import { staticRoutes } from './static.ts';

const directory = await mkdtemp(join(tmpdir(), 'formloom-static-'));
await mkdir(join(directory, 'assets'));
await writeFile(join(directory, 'index.html'), '<meta property="csp-nonce" nonce="__NONCE__"><p>The console');
await writeFile(join(directory, 'theme.js'), 'theme();');
await writeFile(join(directory, 'assets', 'index-4f3a.js'), 'const text = "packed";'.repeat(100));

async function open(from: string): Promise<Server> {
  const server = openServer({ log: openLog('silent'), trustProxy: false });
  await server.register((scope) =>
    staticRoutes(scope, { directory: from, base: '/app', name: 'The console' }),
  );
  return server;
}
const server = await open(directory);
after(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

for (const path of ['/app/', '/app/sign-in', '/app/forms/x/submissions?q=a', '/app/index.html']) {
  test(`${path} is the page, which is not cached, framed or extended with scripts`, async () => {
    const answer = await server.inject(path);
    assert.equal(answer.statusCode, 200);
    assert.match(answer.body, /The console/);
    assert.equal(answer.headers['cache-control'], 'no-store');
    const policy = String(answer.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[^']+'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.equal(answer.headers['cross-origin-opener-policy'], 'same-origin');
  });
}

test('each page has a new style nonce, equal to the one in its policy', async () => {
  const nonceOf = async (): Promise<string> => {
    const { body, headers } = await server.inject('/app/');
    const nonce = /nonce="([^"]+)"/.exec(body)![1]!;
    assert.ok(String(headers['content-security-policy']).includes(`'nonce-${nonce}'`));
    return nonce;
  };
  assert.notEqual(await nonceOf(), await nonceOf());
});

test('a file with a hash in its name is cached permanently, and compressed for clients that support it', async () => {
  const packed = await server.inject({
    url: '/app/assets/index-4f3a.js',
    headers: { 'Accept-Encoding': 'gzip, br' },
  });
  assert.equal(packed.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.match(String(packed.headers['content-type']), /javascript/);
  const plain = await server.inject('/app/assets/index-4f3a.js');
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.ok(packed.rawPayload.length < plain.rawPayload.length / 5);
});

test('a file without a hash is revalidated, and not sent again if unchanged', async () => {
  const first = await server.inject('/app/theme.js');
  assert.equal(first.headers['cache-control'], 'no-cache');
  const again = await server.inject({
    url: '/app/theme.js',
    headers: { 'If-None-Match': String(first.headers.etag) },
  });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
});

for (const path of [
  '/app/assets/index-old.js',
  '/app/assets/../../package.json',
  '/app/assets/%2e%2e/%2e%2e/package.json',
  '/app/assets//etc/passwd',
]) {
  test(`${path} is not a file of the console`, async () => {
    const answer = await server.inject(path);
    assert.notEqual(answer.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.doesNotMatch(answer.body, /dependencies|root:/);
  });
}

test('/app redirects to /app/', async () => {
  const answer = await server.inject('/app');
  assert.deepEqual([answer.statusCode, answer.headers.location], [308, '/app/']);
});

test('a service whose console was not built says so', async () => {
  const unbuilt = await open(join(directory, 'nowhere'));
  const answer = await unbuilt.inject('/app/');
  assert.equal(answer.statusCode, 503);
  assert.match(answer.body, /npm start/);
  await unbuilt.close();
});
