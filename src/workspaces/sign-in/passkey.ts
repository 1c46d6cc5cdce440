import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/*
 * Checks passkey data from a browser (WebAuthn, level 3) without a library. No attestation is requested, so
 * only a fixed layout must be parsed. The browser sends the public key as `SubjectPublicKeyInfo`.
 */

/** The accepted COSE algorithms, which browsers may use, with the key type of each. */
const algorithms = {
  '-7': { type: 'ec', digest: 'sha256' },
  '-8': { type: 'ed25519', digest: null },
  '-257': { type: 'rsa', digest: 'sha256' },
} as const;

/** The accepted algorithms in order of preference. */
export const passkeyAlgorithms: readonly number[] = [-7, -8, -257];

/** The data from the browser for a new passkey; all but the algorithm is base64url. */
export type PasskeyRegistration = {
  client_data: string;
  authenticator_data: string;
  public_key: string;
  algorithm: number;
};

/** The data from the browser for a sign-in with a passkey, as base64url. */
export type PasskeyAssertion = {
  id: string;
  client_data: string;
  authenticator_data: string;
  signature: string;
};

/** Where passkeys work: the origin of the server, and the host that they are bound to. */
export type PasskeyOrigin = { origin: string; host: string };

export type PasskeyPublicKey = { public_key: Buffer; algorithm: number };

const read = (text: string): Buffer => Buffer.from(text, 'base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** Returns the origin and host for passkeys. They need a host name: an IP address can't be owned. */
export const passkeyOriginOf = (publicUrl: string): PasskeyOrigin => {
  const { origin, hostname } = new URL(publicUrl);
  return { origin, host: hostname };
};

/**
 * Returns the challenge that a browser signed for this purpose, on one of our pages and outside a frame;
 * undefined otherwise (7.1 and 7.2, steps 7 to 10). The caller checks whether the challenge is ours.
 */
export function verifySignedChallenge(
  clientData: string,
  type: 'webauthn.create' | 'webauthn.get',
  { origin }: PasskeyOrigin,
): string | undefined {
  try {
    const data = JSON.parse(read(clientData).toString('utf8')) as Record<string, unknown>;
    const isOurs = data['type'] === type && data['origin'] === origin && data['crossOrigin'] !== true;
    return isOurs && typeof data['challenge'] === 'string'
      ? read(data['challenge']).toString('utf8')
      : undefined;
  } catch {
    return undefined;
  }
}

const flags = { present: 1, verified: 4, withCredential: 64 } as const;

/**
 * Parses authenticator data (6.1): 32 bytes that identify our host, a byte of flags, and a count. Undefined
 * unless the authenticator verified the person by finger, face or PIN, which makes a passkey two factors.
 */
function readAuthenticatorData(
  bytes: Buffer,
  { host }: PasskeyOrigin,
): { flags: number; count: number } | undefined {
  if (bytes.length < 37 || !bytes.subarray(0, 32).equals(sha256(host))) return undefined;
  const byte = bytes[32]!;
  const isVerified = (byte & flags.present) !== 0 && (byte & flags.verified) !== 0;
  return isVerified ? { flags: byte, count: bytes.readUInt32BE(33) } : undefined;
}

/** Longer ids are rejected (7.1, step 25). */
const longestId = 1023;

/**
 * Parses a new passkey whose challenge is verified.
 * @returns what to store; undefined if it is invalid.
 */
export function readPasskeyRegistration(
  registration: PasskeyRegistration,
  place: PasskeyOrigin,
): (PasskeyPublicKey & { id: string; count: number }) | undefined {
  const bytes = read(registration.authenticator_data);
  const data = readAuthenticatorData(bytes, place);
  if (!data || (data.flags & flags.withCredential) === 0 || bytes.length < 55) return undefined;
  const length = bytes.readUInt16BE(53);
  const id = bytes.subarray(55, 55 + length);
  const key = { public_key: read(registration.public_key), algorithm: registration.algorithm };
  if (length === 0 || length > longestId || id.length < length || !openKey(key)) return undefined;
  return { ...key, id: id.toString('base64url'), count: data.count };
}

/**
 * Verifies the signature of a passkey whose challenge is verified (7.2, steps 11 to 21).
 * @returns the passkey's own count of signatures; undefined if the signature is invalid.
 */
export function verifyPasskeyAssertion(
  shown: PasskeyAssertion,
  key: PasskeyPublicKey,
  place: PasskeyOrigin,
): number | undefined {
  const bytes = read(shown.authenticator_data);
  const data = readAuthenticatorData(bytes, place);
  const opened = openKey(key);
  if (!data || !opened) return undefined;
  const signed = Buffer.concat([bytes, sha256(read(shown.client_data))]);
  return verify(opened.digest, signed, opened.key, read(shown.signature)) ? data.count : undefined;
}

/** Returns undefined if the key is invalid or does not fit its algorithm. */
function openKey({
  public_key,
  algorithm,
}: PasskeyPublicKey): { key: KeyObject; digest: string | null } | undefined {
  const known = Object.entries(algorithms).find(([number]) => Number(number) === algorithm)?.[1];
  if (!known) return undefined;
  try {
    const key = createPublicKey({ key: public_key, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === known.type ? { key, digest: known.digest } : undefined;
  } catch {
    return undefined;
  }
}
