import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from './clock.ts';
import { hashOfToken, type LinkPurpose, type LinkTarget, openVault, signLink, verifyLink } from './vault.ts';

const vault = openVault('3c'.repeat(32));
const target: LinkTarget = { workspaceId: newId(), formId: newId(), id: newId() };
const purposes: readonly LinkPurpose[] = [
  'invitations',
  'unsubscribe links',
  'edit links',
  'resume links',
  'pdf links',
  'file links',
  'held uploads',
  'submission keys',
];

test('10,000 tokens of consecutive rows are all different and show no pattern', () => {
  const tokens = Array.from({ length: 10_000 }, () =>
    signLink(vault, 'edit links', { ...target, id: newId() }),
  );
  assert.equal(new Set(tokens).size, tokens.length);
  const bytes = tokens.map((token) => Buffer.from(token, 'base64url'));
  assert.ok(bytes.every((token) => token.length === 32));
  // Each of the 256 bits is set in about half of the tokens. The standard deviation is 50; a deviation of 6
  // times that never occurs.
  for (let bit = 0; bit < 256; bit += 1) {
    const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
    assert.ok(Math.abs(set - 5_000) < 300, `bit ${bit} is set ${set} times`);
  }
  // Neighboring tokens differ in about half of their bits, although their IDs differ in few.
  const distances = bytes.slice(1).map((token, index) => distance(token, bytes[index]!));
  assert.ok(Math.min(...distances) > 70 && Math.max(...distances) < 186);
});

const distance = (a: Buffer, b: Buffer): number =>
  a.reduce((sum, byte, index) => sum + (byte ^ b[index]!).toString(2).replaceAll('0', '').length, 0);

test('a token belongs to one purpose, workspace, form, ID and instance, and is always the same', () => {
  const { workspaceId, formId, id } = target;
  const token = signLink(vault, 'edit links', target);
  assert.equal(signLink(vault, 'edit links', target), token);
  assert.ok(verifyLink(vault, 'edit links', token, target));
  for (const other of [
    { ...target, workspaceId: newId() },
    { ...target, formId: newId() },
    { ...target, id: newId() },
    { workspaceId: formId, formId: workspaceId, id },
    { workspaceId, formId: id, id: formId },
    { workspaceId: `${workspaceId}${formId}`, formId: '', id },
  ])
    assert.equal(verifyLink(vault, 'edit links', token, other), false, JSON.stringify(other));
  assert.equal(new Set(purposes.map((purpose) => signLink(vault, purpose, target))).size, purposes.length);
  assert.equal(verifyLink(openVault('4d'.repeat(32)), 'edit links', token, target), false);
  assert.equal(verifyLink(vault, 'edit links', token, target, ''), false);
  assert.notEqual(hashOfToken(token).toString('base64url'), token);
});

test('characters cannot be moved between the parts of a token', () => {
  const token = signLink(vault, 'held uploads', target, 'a/b', 'c');
  for (const parts of [['a', 'b/c'], ['a/b/c'], ['a/b', 'c', ''], ['c', 'a/b'], ['a/b","c']])
    assert.equal(verifyLink(vault, 'held uploads', token, target, ...parts), false, parts.join(' | '));
});

test('a token is valid for its ID in any spelling', () => {
  const { workspaceId, formId, id } = target;
  const upper = {
    workspaceId: workspaceId.toUpperCase(),
    formId: formId.toUpperCase(),
    id: id.toUpperCase(),
  };
  assert.ok(verifyLink(vault, 'edit links', signLink(vault, 'edit links', upper), target));
});
