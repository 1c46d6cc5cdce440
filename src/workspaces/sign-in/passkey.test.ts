import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAuthenticator } from '#test/authenticator.ts';
import {
  passkeyOriginOf,
  readPasskeyRegistration,
  verifyPasskeyAssertion,
  verifySignedChallenge,
} from './passkey.ts';

const place = passkeyOriginOf('https://forms.example.org');

for (const algorithm of ['-7', '-8', '-257'] as const) {
  test(`a passkey with algorithm ${algorithm} can be read, and its signature is valid`, () => {
    const authenticator = openAuthenticator(place, algorithm);
    const registration = authenticator.make('first');
    assert.equal(verifySignedChallenge(registration.client_data, 'webauthn.create', place), 'first');
    const key = readPasskeyRegistration(registration, place)!;
    authenticator.count = 6;
    const shown = authenticator.show('second');
    assert.equal(verifySignedChallenge(shown.client_data, 'webauthn.get', place), 'second');
    assert.deepEqual([shown.id, verifyPasskeyAssertion(shown, key, place)], [key.id, 7]);
  });
}

const authenticator = openAuthenticator(place);
const key = readPasskeyRegistration(authenticator.make('c'), place)!;

test('client data of another page, for another purpose or in a frame gives no challenge', () => {
  for (const otherwise of [
    { origin: 'https://forms.example.org.evil.example' },
    { origin: 'http://forms.example.org' },
    { type: 'webauthn.create' },
    { crossOrigin: true },
  ])
    assert.equal(
      verifySignedChallenge(authenticator.show('c', otherwise).client_data, 'webauthn.get', place),
      undefined,
    );
  for (const nonsense of ['', 'AAAA', Buffer.from('null').toString('base64url')])
    assert.equal(verifySignedChallenge(nonsense, 'webauthn.get', place), undefined);
});

test('a passkey counts only if it is bound to this service, a person was present and was verified', () => {
  for (const otherwise of [{ host: 'evil.example' }, { flags: 0 }, { flags: 1 }, { flags: 4 }]) {
    assert.equal(verifyPasskeyAssertion(authenticator.show('c', otherwise), key, place), undefined);
    const flags = 'flags' in otherwise ? { flags: otherwise.flags | 64 } : otherwise;
    assert.equal(readPasskeyRegistration(openAuthenticator(place).make('c', flags), place), undefined);
  }
  assert.equal(readPasskeyRegistration(openAuthenticator(place).make('c', { flags: 5 }), place), undefined);
});

test('a signature of another key, other data or another challenge is invalid', () => {
  const shown = authenticator.show('c');
  const other = openAuthenticator(place);
  const otherKey = readPasskeyRegistration(other.make('c'), place)!;
  assert.equal(verifyPasskeyAssertion(shown, otherKey, place), undefined);
  assert.equal(verifyPasskeyAssertion({ ...shown, signature: 'AAAA' }, key, place), undefined);
  const elsewhere = authenticator.show('d');
  assert.equal(
    verifyPasskeyAssertion({ ...shown, client_data: elsewhere.client_data }, key, place),
    undefined,
  );
  authenticator.count = 40;
  const later = authenticator.show('c');
  assert.equal(
    verifyPasskeyAssertion({ ...shown, authenticator_data: later.authenticator_data }, key, place),
    undefined,
  );
});

test('a key of the wrong algorithm, or one that is cut off, is not a passkey', () => {
  const registration = openAuthenticator(place).make('c');
  assert.equal(readPasskeyRegistration({ ...registration, algorithm: -257 }, place), undefined);
  assert.equal(readPasskeyRegistration({ ...registration, algorithm: 0 }, place), undefined);
  assert.equal(readPasskeyRegistration({ ...registration, public_key: 'AAAA' }, place), undefined);
  for (const length of [0, 36, 54, 55, 86]) {
    const authenticator_data = Buffer.from(registration.authenticator_data, 'base64url')
      .subarray(0, length)
      .toString('base64url');
    assert.equal(
      readPasskeyRegistration({ ...registration, authenticator_data }, place),
      undefined,
      `${length} bytes`,
    );
  }
});

test('the ID of a passkey has 1 to 1023 bytes', () => {
  const registration = openAuthenticator(place).make('c');
  const read = (length: number): number | undefined => {
    const bytes = Buffer.concat([
      Buffer.from(registration.authenticator_data, 'base64url').subarray(0, 55),
      Buffer.alloc(length, 7),
    ]);
    bytes.writeUInt16BE(length, 53);
    const passkey = readPasskeyRegistration(
      { ...registration, authenticator_data: bytes.toString('base64url') },
      place,
    );
    return passkey && Buffer.from(passkey.id, 'base64url').length;
  };
  assert.deepEqual([0, 1, 1023, 1024].map(read), [undefined, 1, 1023, undefined]);
});
