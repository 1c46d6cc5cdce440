import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { hashApiKey, hashKeyFromHeader, makeApiKey, parseAuthorization, prefixOfApiKey } from './api-key.ts';

const key = makeApiKey(Buffer.alloc(32, 0xfb));

test('a key is `fl_` and 32 bytes in base64url, and its first 11 characters identify it', () => {
  assert.equal(key, 'fl_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s');
  assert.equal(prefixOfApiKey(key), 'fl_-_v7-_v7');
  assert.notEqual(makeApiKey(Buffer.alloc(32, 1)), makeApiKey(Buffer.alloc(32, 2)));
});

test('a key made from fewer than 32 bytes is refused', () => {
  assert.throws(() => makeApiKey(Buffer.alloc(31)), RangeError);
});

test('a key is stored as its SHA-256 hash', () => {
  assert.equal(hashApiKey(key).toString('hex'), createHash('sha256').update(key, 'ascii').digest('hex'));
});

test('successive requests with one Authorization header hash its key once', () => {
  const [header, other] = [[`Bearer ${key}`], [`Bearer ${makeApiKey(Buffer.alloc(32, 1))}`]];
  const hash = hashKeyFromHeader(header);
  assert.deepEqual(hash, hashApiKey(key));
  assert.equal(hashKeyFromHeader(header), hash);
  assert.notDeepEqual(hashKeyFromHeader(other), hash);
  assert.equal(hashKeyFromHeader([]), undefined);
  assert.deepEqual(hashKeyFromHeader(header), hash);
});

test('the key is read from a single header `Bearer <key>`', () => {
  assert.equal(parseAuthorization(`Bearer ${key}`), key);
  assert.equal(parseAuthorization([`Bearer ${key}`]), key);
});

const malformed: Record<string, string | string[] | undefined> = {
  'no header': undefined,
  'an empty header': '',
  'the scheme alone': 'Bearer',
  'the scheme and a blank': 'Bearer ',
  'a token that is no key': 'Bearer x',
  'the key alone': key,
  'the Basic scheme': `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
  'another scheme with the key': `Token ${key}`,
  'two headers': [`Bearer ${key}`, `Bearer ${key}`],
  'two keys in one header': `Bearer ${key}, Bearer ${key}`,
  'a parameter after the key': `Bearer ${key} realm=x`,
  'a key that is cut off': `Bearer ${key.slice(0, -1)}`,
  'a key with one character more': `Bearer ${key}A`,
  'a character that base64url does not have': `Bearer ${key.slice(0, -1)}+`,
  'a line break after the key': `Bearer ${key}\n`,
  'a megabyte': `Bearer fl_${'A'.repeat(1_000_000)}`,
};

for (const [what, header] of Object.entries(malformed)) {
  test(`a malformed Authorization header contains no key: ${what}`, () => {
    assert.equal(parseAuthorization(header), undefined);
  });
}
