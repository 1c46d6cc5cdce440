import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the instance's key is used for. Each purpose has a derived key of its own, so none can stand in for another. */
type Purpose =
  | 'webhook secrets'
  | 'webhook headers'
  | 'file links'
  | 'sessions'
  | 'second factors'
  | 'held uploads'
  | 'submission keys'
  | 'submission links'
  | 'invitations'
  | 'unsubscribe links'
  | 'form passwords'
  | 'mails'
  | 'member invitations'
  | 'sender addresses'
  | 'answers'
  | 'told answers'
  | 'fingerprint';

/** Encrypts, signs and derives with the instance's key. */
export type Vault = {
  /** AES-256-GCM: 12 bytes of nonce, 16 of tag, then the ciphertext. */
  seal(purpose: Purpose, plain: string): Buffer;
  /** @throws when the bytes were not sealed with this key for this purpose. */
  unseal(purpose: Purpose, sealed: Buffer): string;
  /** HMAC-SHA256 in base64url. */
  sign(purpose: Purpose, text: string): string;
  /** Compares in constant time. */
  verify(purpose: Purpose, text: string, signature: string): boolean;
  /** 32 bytes in hexadecimal, for a library that wants a secret of its own. */
  derive(purpose: Purpose): string;
};

export function openVault(keyHex: string): Vault {
  const master = Buffer.from(keyHex, 'hex');
  // As the library keeps it: it would make one of the bytes for each signature, which takes five times as long as signing.
  const keys = new Map<Purpose, KeyObject>();
  const keyFor = (purpose: Purpose): KeyObject => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `formloom ${purpose}`, 32)));
    keys.set(purpose, key);
    return key;
  };
  const sign = (purpose: Purpose, text: string): string =>
    createHmac('sha256', keyFor(purpose)).update(text).digest('base64url');
  return {
    seal(purpose, plain) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce);
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    unseal(purpose, sealed) {
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), sealed.subarray(0, 12), {
        authTagLength: 16,
      });
      decipher.setAuthTag(sealed.subarray(12, 28));
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
    },
    sign,
    verify(purpose, text, signature) {
      const expected = Buffer.from(sign(purpose, text));
      const given = Buffer.from(signature);
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
    derive: (purpose) => keyFor(purpose).export().toString('hex'),
  };
}

/** The instance's key: SECRET_KEY, or the one in `<dataDir>/secret.key`; undefined when there is neither. */
export async function findInstanceKey(
  dataDir: string,
  secretKey: string | undefined,
): Promise<string | undefined> {
  if (secretKey) return secretKey.toLowerCase();
  const path = join(dataDir, 'secret.key');
  const key = await readKey(path);
  if (key === undefined || /^[0-9a-f]{64}$/.test(key)) return key;
  throw new Error(`${path} does not hold a key of 64 hexadecimal digits. Restore it from a backup.`);
}

async function readKey(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Makes the key in `<dataDir>/secret.key` (mode 0600), or reads the one of a process that was faster.
 * @param key one that a backup brings; else a new one.
 */
export async function makeInstanceKey(
  dataDir: string,
  key = randomBytes(32).toString('hex'),
): Promise<string> {
  const path = join(dataDir, 'secret.key');
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${key}\n`, { mode: 0o600, flush: true });
  try {
    // A link is made whole or not at all, so two processes that start at once agree on the first one's key.
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  return (await readFile(path, 'utf8')).trim();
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
