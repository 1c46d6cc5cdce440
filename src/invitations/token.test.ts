import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { openVault } from '#kit/vault.ts';
import { invitationToken } from './token.ts';

const vault = openVault('3c'.repeat(32));

test('of 10,000 tokens of invitations made one after the other no two are equal, and none shows a pattern', () => {
  const tokens = Array.from({ length: 10_000 }, () => invitationToken(vault, newId()));
  assert.equal(new Set(tokens).size, tokens.length);
  const bytes = tokens.map((token) => Buffer.from(token, 'base64url'));
  assert.ok(bytes.every((token) => token.length === 32));
  // Each of the 256 bits is set in about half of them: 50 is the standard deviation, and 6 of those never happen.
  for (let bit = 0; bit < 256; bit += 1) {
    const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
    assert.ok(Math.abs(set - 5_000) < 300, `bit ${bit} is set ${set} times`);
  }
});

test('a token is of one invitation and one instance, and is no token of a submission', () => {
  const id = newId();
  assert.equal(invitationToken(vault, id), invitationToken(vault, id));
  assert.notEqual(invitationToken(vault, id), invitationToken(openVault('4d'.repeat(32)), id));
  assert.notEqual(invitationToken(vault, id), vault.sign('submission links', id));
});
