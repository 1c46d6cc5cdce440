import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/*
 * What a browser says of a passkey (WebAuthn, level 3), checked by hand: what is asked for is no attestation, so nothing has
 * to be read but a fixed layout, and the browser hands the public key over as `SubjectPublicKeyInfo`.
 */

/** The algorithms of COSE that are taken, and what a key of each is: those that browsers are asked to offer. */
const algorithms = {
  '-7': { type: 'ec', digest: 'sha256' },
  '-8': { type: 'ed25519', digest: null },
  '-257': { type: 'rsa', digest: 'sha256' },
} as const;

/** In the order in which they are liked. */
export const passkeyAlgorithms: readonly number[] = [-7, -8, -257];

/** What a browser answers when a passkey is made; all but the algorithm is base64url. */
export type MadePasskey = {
  client_data: string;
  authenticator_data: string;
  public_key: string;
  algorithm: number;
};

/** What a browser answers when a passkey is shown; base64url. */
export type ShownPasskey = {
  id: string;
  client_data: string;
  authenticator_data: string;
  signature: string;
};

/** Where passkeys of this service work: its origin, and the name that they are bound to. */
export type PasskeyPlace = { origin: string; host: string };

/** A public key as it is stored. */
export type PasskeyKey = { public_key: Buffer; algorithm: number };

const read = (text: string): Buffer => Buffer.from(text, 'base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** A passkey works where there is a name: not at an address of numbers, which nobody can own. */
export const placeOf = (publicUrl: string): PasskeyPlace => {
  const { origin, hostname } = new URL(publicUrl);
  return { origin, host: hostname };
};

/**
 * The challenge that a browser signed, when it did so for this purpose, on a page of ours that nothing framed (7.1 and 7.2,
 * steps 7 to 10); undefined otherwise. Whether it is one that we gave is for the caller to see.
 */
export function challengeIn(
  clientData: string,
  type: 'webauthn.create' | 'webauthn.get',
  { origin }: PasskeyPlace,
): string | undefined {
  try {
    const said = JSON.parse(read(clientData).toString('utf8')) as Record<string, unknown>;
    const isOurs = said['type'] === type && said['origin'] === origin && said['crossOrigin'] !== true;
    return isOurs && typeof said['challenge'] === 'string'
      ? read(said['challenge']).toString('utf8')
      : undefined;
  } catch {
    return undefined;
  }
}

const flags = { present: 1, verified: 4, withCredential: 64 } as const;

/**
 * What an authenticator says (6.1): 32 bytes that name us, a byte of flags, its count. Undefined unless somebody was there, and
 * was known to it (by finger, face or PIN), which makes of a passkey two factors.
 */
function readAuthenticatorData(
  bytes: Buffer,
  { host }: PasskeyPlace,
): { flags: number; count: number } | undefined {
  if (bytes.length < 37 || !bytes.subarray(0, 32).equals(sha256(host))) return undefined;
  const said = bytes[32]!;
  const isVerified = (said & flags.present) !== 0 && (said & flags.verified) !== 0;
  return isVerified ? { flags: said, count: bytes.readUInt32BE(33) } : undefined;
}

/** Longer ids are refused (7.1, step 25). */
const longestId = 1023;

/**
 * A passkey that was made, whose challenge was found to be ours.
 * @returns what to store; undefined for what is none.
 */
export function readMadePasskey(
  made: MadePasskey,
  place: PasskeyPlace,
): (PasskeyKey & { id: string; count: number }) | undefined {
  const bytes = read(made.authenticator_data);
  const said = readAuthenticatorData(bytes, place);
  if (!said || (said.flags & flags.withCredential) === 0 || bytes.length < 55) return undefined;
  const length = bytes.readUInt16BE(53);
  const id = bytes.subarray(55, 55 + length);
  const key = { public_key: read(made.public_key), algorithm: made.algorithm };
  if (length === 0 || length > longestId || id.length < length || !openKey(key)) return undefined;
  return { ...key, id: id.toString('base64url'), count: said.count };
}

/**
 * Whether a passkey that was shown signed what it says (7.2, steps 11 to 21), its challenge being ours.
 * @returns how often it has signed, by its own count; undefined when it did not.
 */
export function readShownPasskey(
  shown: ShownPasskey,
  key: PasskeyKey,
  place: PasskeyPlace,
): number | undefined {
  const bytes = read(shown.authenticator_data);
  const said = readAuthenticatorData(bytes, place);
  const opened = openKey(key);
  if (!said || !opened) return undefined;
  const signed = Buffer.concat([bytes, sha256(read(shown.client_data))]);
  return verify(opened.digest, signed, opened.key, read(shown.signature)) ? said.count : undefined;
}

/** Undefined for a key that is none, or none of its algorithm. */
function openKey({
  public_key,
  algorithm,
}: PasskeyKey): { key: KeyObject; digest: string | null } | undefined {
  const known = Object.entries(algorithms).find(([number]) => Number(number) === algorithm)?.[1];
  if (!known) return undefined;
  try {
    const key = createPublicKey({ key: public_key, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === known.type ? { key, digest: known.digest } : undefined;
  } catch {
    return undefined;
  }
}
