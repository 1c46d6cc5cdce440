import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { streamOf, testStorage } from '#test/kit/test-storage.ts';
import { openS3Server } from '#test/s3-server.ts';
import { ApiError } from '../errors.ts';
import { s3Storage } from './open-storage.ts';

const { directory, settings } = await openS3Server();
const spool = join(directory, 'spool');
const storage = s3Storage(settings, spool, 0);

/** Lists the objects in the bucket and the files in the spool. */
const left = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter(
      (entry) => entry.isFile() && !entry.name.includes('._S3rver_metadata') && !entry.name.includes('md5'),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    // This server cannot discard parts.
    .filter((path) => !path.includes('._S3rver_uploads'))
    .sort();

testStorage(storage, left);

test('nothing remains in the spool', async () => {
  await storage.put('ws/ff/spooled', streamOf('x'), 10);
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});

test('a file that a crash left in the spool is removed with its key', async () => {
  await mkdir(join(spool, 'ws', 'ff'), { recursive: true });
  await writeFile(join(spool, 'ws', 'ff', 'crashed'), 'whole');
  await storage.remove('ws/ff/crashed');
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});

test('a file that is sent in parts is read back as one', { skip: isSlice }, async () => {
  const bytes = Buffer.alloc(9 * 1024 * 1024, 'part');
  await storage.put('ws/ff/parts', streamOf(bytes), bytes.length);
  assert.ok((await buffer((await storage.open('ws/ff/parts'))!)).equals(bytes));
});

test('a store that rejects requests causes an error, and nothing remains', async () => {
  const stranger = s3Storage({ ...settings, accessKeyId: 'STRANGER' }, spool, 0);
  const before = await left();
  await assert.rejects(stranger.put('ws/ff/refused', streamOf('x'), 10));
  await assert.rejects(stranger.open('ws/ff/spooled'));
  assert.deepEqual(await left(), before);
});

test('an unavailable store causes an error, and nothing remains', async () => {
  const away = s3Storage({ ...settings, endpoint: 'http://127.0.0.1:1/uploads' }, spool, 0);
  await assert.rejects(away.put('ws/ff/away', streamOf('x'), 10));
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});

/**
 * Opens the storage through a server that answers some requests itself.
 * @param answer returns the status and text for a request, or undefined to forward it
 */
async function storageBehind(answer: (request: IncomingMessage) => [number, string] | undefined) {
  const { port } = new URL(settings.endpoint);
  const server = createServer((request, response) => {
    const [status, text] = answer(request) ?? [];
    if (status !== undefined) {
      request.resume().on('end', () => response.writeHead(status).end(text));
      return;
    }
    const { method, url: path, headers } = request;
    const passed = send({ port, method, path, headers }, (given) => {
      response.writeHead(given.statusCode!, given.headers);
      given.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/uploads`;
  return s3Storage({ ...settings, endpoint }, spool, 0);
}

test('a request with a 503 response is retried; if this continues, the store is unavailable and the error names it', async () => {
  let refusals = 0;
  const moody = await storageBehind(() => (refusals-- > 0 ? [503, 'SlowDown'] : undefined));
  refusals = 2;
  await moody.put('ws/ff/moody', streamOf('x'), 10);
  refusals = 2;
  assert.equal((await buffer((await moody.open('ws/ff/moody'))!)).toString(), 'x');
  refusals = 2;
  await moody.remove('ws/ff/moody');
  assert.equal(await moody.open('ws/ff/moody'), undefined);
  refusals = Number.POSITIVE_INFINITY;
  await assert.rejects(moody.open('ws/ff/moody'), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.retryAfter], [503, 60]);
    assert.match(
      (error.cause as Error).message,
      /^A request to the bucket at 127\.0\.0\.1:\d+\/uploads failed: S3 returned 503/,
    );
    return true;
  });
});

test('the parts of an upload that is removed are discarded', async () => {
  const discarded: string[] = [];
  const strict = await storageBehind(({ method, url }) => {
    const [, id] = /uploadId=([^&]+)/.exec(url ?? '') ?? [];
    if (method !== 'DELETE' || id === undefined) return undefined;
    discarded.push(id);
    return [204, ''];
  });
  const begun = await strict.append('ws/ff/begun', { size: 0 }, streamOf('x'));
  await strict.remove('ws/ff/begun', begun);
  assert.deepEqual(discarded, [begun.id]);
});

test('a store that accepts all parts but reports in a 200 that it could not combine them does not have the file', {
  skip: isSlice,
}, async () => {
  const failing = await storageBehind(({ method, url }) =>
    method === 'POST' && url?.includes('uploadId')
      ? [200, '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>Try again</Message></Error>']
      : undefined,
  );
  const bytes = Buffer.alloc(9 * 1024 * 1024, 'part');
  await assert.rejects(failing.put('ws/ff/unmade', streamOf(bytes), bytes.length), /Files cannot be stored/);
  assert.equal(await storage.open('ws/ff/unmade'), undefined);
});
