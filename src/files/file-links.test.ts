import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openVault } from '#kit/vault.ts';
import { linkSeconds, openFileLinks } from './stored-files.ts';

const vault = openVault('ab'.repeat(32));
const start = Date.parse('2026-01-31T12:00:00.700Z');
let clock = start;
const links = openFileLinks({ vault, publicUrl: 'https://forms.example', now: () => new Date(clock) });
const [workspaceId, formId, id, other] = [
  '0199e5b0-0000-7000-8000-000000000001',
  '0199e5b0-0000-7000-8000-000000000002',
  '0199e5b0-0000-7000-8000-000000000003',
  '0199e5b0-0000-7000-8000-000000000004',
] as const;
const file = { workspaceId, formId, id };

const signed = (() => {
  const { pathname, searchParams } = new URL(links.sign(file));
  return { pathname, expires: searchParams.get('expires')!, signature: searchParams.get('signature')! };
})();

const at = (ms: number): boolean => {
  clock = ms;
  const isValid = links.verify(file, signed.expires, signed.signature);
  clock = start;
  return isValid;
};

test('a link contains the file, its expiry and a signature of 256 bits', () => {
  assert.equal(signed.pathname, `/files/${workspaceId}/${formId}/${id}`);
  assert.match(signed.signature, /^[\w-]{43}$/);
  assert.ok(links.sign(file).startsWith('https://forms.example/files/'));
});

test('a link is valid for exactly one hour', () => {
  assert.equal(linkSeconds, 3_600);
  assert.equal(at(start), true);
  assert.equal(at(start + 3_599_000), true);
  assert.equal(at(start + 3_600_000), false);
  assert.equal(at(start + 86_400_000), false);
});

const changed: Record<string, Parameters<typeof links.verify>> = {
  'another file': [{ ...file, id: other }, signed.expires, signed.signature],
  'another workspace': [{ ...file, workspaceId: other }, signed.expires, signed.signature],
  'another form': [{ ...file, formId: other }, signed.expires, signed.signature],
  'workspace and file swapped': [
    { ...file, workspaceId: id, id: workspaceId },
    signed.expires,
    signed.signature,
  ],
  'a later end': [file, String(Number(signed.expires) + 1), signed.signature],
  'the same end in another notation': [file, `${signed.expires}.0`, signed.signature],
  'an end in words': [file, 'Infinity', signed.signature],
  'no end': [file, '', signed.signature],
  'no signature': [file, signed.expires, ''],
  'a signature cut short': [file, signed.expires, signed.signature.slice(0, -1)],
  'a signature with more behind it': [file, signed.expires, `${signed.signature}=`],
  'another first letter': [
    file,
    signed.expires,
    (signed.signature[0] === 'A' ? 'B' : 'A') + signed.signature.slice(1),
  ],
  'a signature of letters beyond ASCII': [file, signed.expires, 'é'.repeat(22)],
  'a signature for another purpose': [
    file,
    signed.expires,
    vault.sign('held uploads', [workspaceId, formId, id, signed.expires]),
  ],
};
for (const [name, values] of Object.entries(changed)) {
  test(`${name}: not valid`, () => {
    assert.equal(links.verify(...values), false);
  });
}

test('another instance with another key rejects the link', () => {
  const elsewhere = openFileLinks({
    vault: openVault('cd'.repeat(32)),
    publicUrl: 'https://forms.example',
    now: () => new Date(start),
  });
  assert.equal(elsewhere.verify(file, signed.expires, signed.signature), false);
});
