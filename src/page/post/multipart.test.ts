import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { partLimits, readMultipartParts } from './multipart.ts';

const field = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n';

/** Returns a request with these chunks as its body. */
function requestOf(chunks: Iterable<Buffer>): IncomingMessage {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return Object.assign(Readable.from(chunks, { objectMode: false }), {
    headers,
  }) as unknown as IncomingMessage;
}

/**
 * Reads all parts. Returns their number, and the number of event loop turns that other work had meanwhile.
 */
async function readAll(request: IncomingMessage): Promise<{ parts: number; turns: number; error: unknown }> {
  let [parts, turns, isOver] = [0, 0, false];
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    for await (const part of readMultipartParts(request, 10 * 1024 * 1024)) if (part.name === 'a') parts += 1;
    return { parts, turns, error: undefined };
  } catch (error) {
    return { parts, turns, error };
  } finally {
    isOver = true;
  }
}

test('a body with endless fields is rejected at the limit, long before its end', async () => {
  let sent = 0;
  function* endless(): Generator<Buffer> {
    for (; sent < 100_000; sent += 1_000) yield Buffer.from(field.repeat(1_000));
  }
  const { parts, error } = await readAll(requestOf(endless()));
  assert.equal((error as { code?: string }).code, 'payload_too_large');
  assert.ok(parts <= partLimits.fields);
  assert.ok(sent < 3 * partLimits.fields, `${sent} fields were taken`);
});

test('other requests run between the fields of one chunk, at least once every 300 fields', async () => {
  const fields = 4_500;
  const body = Buffer.from(`${field.repeat(fields)}--b--\r\n`);
  const { parts, turns, error } = await readAll(requestOf([body]));
  assert.equal(error, undefined);
  assert.equal(parts, fields);
  assert.ok(turns >= fields / 300, `${turns} turns`);
});
