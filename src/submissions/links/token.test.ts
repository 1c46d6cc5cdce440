import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { openVault } from '#kit/vault.ts';
import { hashOfToken, linkToken } from './token.ts';

const vault = openVault('3c'.repeat(32));

test('of 10,000 tokens of submissions made one after the other no two are equal, and none shows a pattern', () => {
  const tokens = Array.from({ length: 10_000 }, () => linkToken(vault, 'edit', newId()));
  assert.equal(new Set(tokens).size, tokens.length);
  const bytes = tokens.map((token) => Buffer.from(token, 'base64url'));
  assert.ok(bytes.every((token) => token.length === 32));
  // Each of the 256 bits is set in about half of them: 50 is the standard deviation, and 6 of those never happen.
  for (let bit = 0; bit < 256; bit += 1) {
    const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
    assert.ok(Math.abs(set - 5_000) < 300, `bit ${bit} is set ${set} times`);
  }
  // Neighbours differ in about half of their bits, though their ids differ in few.
  const distances = bytes.slice(1).map((token, index) => distance(token, bytes[index]!));
  assert.ok(Math.min(...distances) > 70 && Math.max(...distances) < 186);
});

const distance = (a: Buffer, b: Buffer): number =>
  a.reduce((sum, byte, index) => sum + (byte ^ b[index]!).toString(2).replaceAll('0', '').length, 0);

test('a token is of one submission, one purpose and one instance, and the same whenever it is made', () => {
  const id = newId();
  const token = linkToken(vault, 'edit', id);
  assert.equal(linkToken(vault, 'edit', id), token);
  assert.notEqual(linkToken(vault, 'resume', id), token);
  assert.notEqual(linkToken(openVault('4d'.repeat(32)), 'edit', id), token);
  assert.notEqual(hashOfToken(token).toString('base64url'), token);
});
