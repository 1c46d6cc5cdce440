import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion, PasskeyRegistration } from '#workspaces/sign-in/passkey.ts';

/** Faults that a test can put into a response. */
type Otherwise = {
  challenge?: string;
  origin?: string;
  host?: string;
  type?: string;
  crossOrigin?: boolean;
  flags?: number;
};

/** A software authenticator with its browser, for the origin and host of one service. */
export type Authenticator = {
  make(challenge: string, otherwise?: Otherwise): PasskeyRegistration;
  /** Signs with the passkey that it made last. */
  show(challenge: string, otherwise?: Otherwise): PasskeyAssertion;
  /** The signature counter. It grows with each signature unless it is 0. */
  count: number;
};

const keyKinds = {
  '-7': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  '-8': () => generateKeyPairSync('ed25519'),
  '-257': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const;

/** The flags for "user present" and "user verified". */
const presentAndVerified = 1 | 4;
const withCredential = 64;

export function openAuthenticator(
  place: { origin: string; host: string },
  algorithm: keyof typeof keyKinds = '-7',
): Authenticator {
  let passkey: { id: Buffer; privateKey: KeyObject } | undefined;
  const clientData = (type: string, challenge: string, otherwise: Otherwise): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: otherwise.type ?? type,
        challenge: Buffer.from(otherwise.challenge ?? challenge).toString('base64url'),
        origin: otherwise.origin ?? place.origin,
        crossOrigin: otherwise.crossOrigin ?? false,
      }),
    );
  const head = (flags: number, { host = place.host }: Otherwise, count: number): Buffer => {
    const bytes = Buffer.alloc(37);
    createHash('sha256').update(host).digest().copy(bytes);
    bytes[32] = flags;
    bytes.writeUInt32BE(count, 33);
    return bytes;
  };
  const opened: Authenticator = {
    count: 0,
    make(challenge, otherwise = {}) {
      const { publicKey, privateKey } = keyKinds[algorithm]();
      const id = randomBytes(32);
      passkey = { id, privateKey };
      const length = Buffer.from([0, id.length]);
      const flags = otherwise.flags ?? presentAndVerified | withCredential;
      const data = Buffer.concat([head(flags, otherwise, opened.count), Buffer.alloc(16), length, id]);
      return {
        client_data: clientData('webauthn.create', challenge, otherwise).toString('base64url'),
        authenticator_data: data.toString('base64url'),
        public_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
        algorithm: Number(algorithm),
      };
    },
    show(challenge, otherwise = {}) {
      if (opened.count > 0) opened.count += 1;
      const said = clientData('webauthn.get', challenge, otherwise);
      const data = head(otherwise.flags ?? presentAndVerified, otherwise, opened.count);
      const signed = Buffer.concat([data, createHash('sha256').update(said).digest()]);
      const digest = algorithm === '-8' ? null : 'sha256';
      return {
        id: passkey!.id.toString('base64url'),
        client_data: said.toString('base64url'),
        authenticator_data: data.toString('base64url'),
        signature: sign(digest, signed, passkey!.privateKey).toString('base64url'),
      };
    },
  };
  return opened;
}
