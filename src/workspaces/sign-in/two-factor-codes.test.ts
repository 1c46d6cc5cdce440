import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  computeTotpCode,
  encodeBase32,
  findStepOfCode,
  newTotpSecret,
  totpSetupUrl,
  totpStepAt,
} from './two-factor-codes.ts';

const at = (seconds: number): Date => new Date(seconds * 1_000);
const secret = encodeBase32(Buffer.from('12345678901234567890'));

test('codes match RFC 6238, Appendix B: the last six of its eight digits', () => {
  const vectors: readonly [seconds: number, code: string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of vectors)
    assert.equal(computeTotpCode(secret, totpStepAt(at(seconds))), code.slice(2));
});

test('base32 follows RFC 4648 without padding, and a secret has 160 bits', () => {
  for (const [text, written] of [
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const)
    assert.equal(encodeBase32(Buffer.from(text)), written);
  assert.match(newTotpSecret(), /^[A-Z2-7]{32}$/);
});

test('the previous and the next code are valid, and no other', () => {
  const now = at(1_000_000_000);
  const step = totpStepAt(now);
  for (const beside of [-1, 0, 1])
    assert.equal(findStepOfCode(secret, computeTotpCode(secret, step + beside), now), step + beside);
  for (const beside of [-2, 2])
    assert.equal(findStepOfCode(secret, computeTotpCode(secret, step + beside), now), undefined);
  for (const nonsense of ['', '12345', '1234567', 'ａｂｃｄｅｆ'])
    assert.equal(findStepOfCode(secret, nonsense, now), undefined);
});

test('the setup URI names the service and the person as authenticator apps expect', () => {
  assert.equal(
    totpSetupUrl('ABC', { service: 'Formloom (forms.example.org)', email: 'a+b@example.org' }),
    'otpauth://totp/Formloom%20(forms.example.org):a%2Bb%40example.org?secret=ABC&issuer=Formloom%20(forms.example.org)',
  );
});
