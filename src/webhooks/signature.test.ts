import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { signBody, verifySignature } from './signature.ts';

const secret = 'whsec_a secret of some length';

// RFC 4231, test case 2.
test('the signature is `sha256=` and the lowercase hexadecimal HMAC-SHA256 of the body', () => {
  assert.equal(
    signBody('Jefe', 'what do ya want for nothing?'),
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

const bodies: Record<string, string> = {
  'an emoji': '{"text":"👋🏽"}',
  'a line separator': '{"text":"\u2028"}',
  'a large number': JSON.stringify({ number: 1e21 }),
  '500 KB': JSON.stringify({ text: 'ä'.repeat(250_000) }),
  nothing: '',
};
for (const [what, body] of Object.entries(bodies)) {
  test(`the signature of a body with ${what} matches what another implementation computes over its bytes`, async () => {
    const bytes = Buffer.from(body);
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await webcrypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['sign']);
    const expected = Buffer.from(await webcrypto.subtle.sign('HMAC', key, bytes)).toString('hex');
    assert.equal(signBody(secret, bytes), `sha256=${expected}`);
  });
}

test('a receiver accepts the signature, and rejects a missing one, one without prefix and any other', () => {
  const signature = signBody(secret, 'body');
  assert.equal(verifySignature(secret, 'body', signature), true);
  const wrong: Record<string, string | undefined> = {
    missing: undefined,
    empty: '',
    'without prefix': signature.replace('sha256=', ''),
    'in capitals': signature.toUpperCase(),
    'of another body': signBody(secret, 'another'),
    'of another secret': signBody('another', 'body'),
    'cut short': signature.slice(0, -1),
  };
  for (const [what, header] of Object.entries(wrong))
    assert.equal(verifySignature(secret, 'body', header), false, what);
});
