import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { chown, link, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories, syncDirectory } from './directories.ts';

/** The purposes of the instance key. Each has its own derived key, so none can replace another. */
type Purpose =
  | 'webhook secrets'
  | 'webhook headers'
  | 'file links'
  | 'sessions'
  | 'second factors'
  | 'held uploads'
  | 'submission keys'
  | 'edit links'
  | 'resume links'
  | 'pdf links'
  | 'result links'
  | 'invitations'
  | 'unsubscribe links'
  | 'form passwords'
  | 'email codes'
  | 'respondents'
  | 'mails'
  | 'member invitations'
  | 'sender addresses'
  | 'domains'
  | 'answers'
  | 'told answers'
  | 'erasures'
  | 'fingerprint';

/**
 * Encrypts, signs and derives with the instance key, the first of the given keys. Data that a previous key
 * sealed or signed stays valid until that key is removed (docs/decisions/0076-instance-key-rotation.md).
 */
export type Vault = {
  /** Encrypts with AES-256-GCM: 4 bytes of key id (keyId), 12 of nonce, 16 of tag, then the ciphertext. */
  seal(purpose: Purpose, plain: string): Buffer;
  /** @throws if the bytes were not sealed with one of these keys for this purpose. */
  unseal(purpose: Purpose, sealed: Buffer): string;
  /**
   * Returns the HMAC-SHA256 of a list of strings in base64url. The list is signed as JSON, so different lists
   * have different signatures.
   */
  sign(purpose: Purpose, parts: readonly string[]): string;
  /** Returns the signature made with each key, the current key first, to look up a stored signature. */
  signatures(purpose: Purpose, parts: readonly string[]): string[];
  /** Compares in constant time. */
  verify(purpose: Purpose, parts: readonly string[], signature: string): boolean;
  /** Returns 32 bytes in hexadecimal per key, the current key first, for libraries that need a secret. */
  derive(purpose: Purpose): [now: string, ...former: string[]];
  /** The prefix of all data that the current key seals. */
  readonly keyId: Buffer;
};

const keyIdBytes = 4;
/** The text form of an instance's keys: 64 hexadecimal digits each, the current key first. */
export const keysPattern = /^[0-9a-f]{64}(?:,[0-9a-f]{64}){0,3}$/i;

/** @param keys one or more keys, in the format of `keysPattern`. */
export function openVault(keys: string): Vault {
  const [current, ...former] = keys.split(',').map(openKey) as [Key, ...Key[]];
  const all = [current, ...former] as const;
  return {
    keyId: current.id,
    seal: (purpose, plain) => Buffer.concat([current.id, current.seal(purpose, plain)]),
    unseal(purpose, sealed) {
      // Data that was sealed before keys had ids begins with its nonce, which may look like an id.
      const named = all.filter(({ id }) => id.equals(sealed.subarray(0, keyIdBytes)));
      const attempts = [
        ...named.map((key) => () => key.unseal(purpose, sealed.subarray(keyIdBytes))),
        ...all.map((key) => () => key.unseal(purpose, sealed)),
      ];
      return firstThatOpens(attempts);
    },
    sign: (purpose, parts) => current.sign(purpose, parts),
    signatures: (purpose, parts) => all.map((key) => key.sign(purpose, parts)),
    verify(purpose, parts, signature) {
      const given = Buffer.from(signature);
      return all.some((key) => {
        const expected = Buffer.from(key.sign(purpose, parts));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
    },
    derive: (purpose) => [current.derive(purpose), ...former.map((key) => key.derive(purpose))],
  };
}

function firstThatOpens(attempts: readonly (() => string)[]): string {
  const failures: unknown[] = [];
  for (const attempt of attempts)
    try {
      return attempt();
    } catch (failure) {
      failures.push(failure);
    }
  throw new AggregateError(failures, 'None of the keys of this instance can decrypt the data.');
}

type Key = ReturnType<typeof openKey>;

function openKey(hex: string) {
  const master = Buffer.from(hex, 'hex');
  // KeyObjects, because creating one from bytes takes five times as long as signing.
  const keys = new Map<Purpose, KeyObject>();
  const keyFor = (purpose: Purpose): KeyObject => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `formloom ${purpose}`, 32)));
    keys.set(purpose, key);
    return key;
  };
  return {
    id: Buffer.from(hkdfSync('sha256', master, '', 'formloom key id', keyIdBytes)),
    seal(purpose: Purpose, plain: string): Buffer {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce);
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    unseal(purpose: Purpose, sealed: Buffer): string {
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), sealed.subarray(0, 12), {
        authTagLength: 16,
      });
      decipher.setAuthTag(sealed.subarray(12, 28));
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
    },
    sign: (purpose: Purpose, parts: readonly string[]): string =>
      createHmac('sha256', keyFor(purpose)).update(JSON.stringify(parts)).digest('base64url'),
    derive: (purpose: Purpose): string => keyFor(purpose).export().toString('hex'),
  };
}

/** Thrown if this process must not use a database, because its key is missing or not the database's. */
export class InstanceKeyError extends Error {}

/**
 * Returns the keys (keysPattern) from SECRET_KEY or `<dataDir>/secret.key`, or undefined if neither exists.
 */
export async function findInstanceKey(
  dataDir: string,
  secretKey: string | undefined,
): Promise<string | undefined> {
  if (secretKey) return secretKey.toLowerCase();
  const path = join(dataDir, 'secret.key');
  const key = await readKey(path);
  if (key === undefined || keysPattern.test(key)) return key;
  throw new InstanceKeyError(
    `${path} does not contain a key of 64 hexadecimal digits. Restore it from a backup. If the key cannot be recovered, delete the file and run \`npm run -s formloom -- instance-key replace\`.`,
  );
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
 * Creates the key in `<dataDir>/secret.key` (mode 0600), or reads the key that a faster process created.
 * @param key the key from a backup. Default: a new one.
 */
export async function makeInstanceKey(dataDir: string, key = generateInstanceKey()): Promise<string> {
  const path = join(dataDir, 'secret.key');
  await makeDirectories(dataDir);
  const draft = await writeDraft(path, key);
  try {
    // Creating a link is atomic, so two processes that start at the same time use the first one's key.
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  await syncDirectory(dataDir);
  return (await readFile(path, 'utf8')).trim();
}

export const generateInstanceKey = (): string => randomBytes(32).toString('hex');

/** Replaces the keys in `<dataDir>/secret.key` atomically, and removes the files of interrupted attempts. */
export async function replaceInstanceKeys(dataDir: string, keys: string): Promise<void> {
  const path = join(dataDir, 'secret.key');
  const { uid, gid } = await stat(path);
  const draft = await writeDraft(path, keys);
  // Keeps the owner if root runs the command, so that the service can still read the file.
  await chown(draft, uid, gid);
  await rename(draft, path);
  for (const name of await readdir(dataDir))
    if (/^secret\.key\.[0-9a-f]{12}$/.test(name)) await rm(join(dataDir, name), { force: true });
  await syncDirectory(dataDir);
}

async function writeDraft(path: string, keys: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${keys}\n`, { mode: 0o600, flush: true });
  return draft;
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** The row that a personal link opens. */
export type LinkTarget = { workspaceId: string; formId: string; id: string };

/** The kinds of personal links. Each has its own derived key. */
export type LinkPurpose =
  | 'invitations'
  | 'unsubscribe links'
  | 'edit links'
  | 'resume links'
  | 'pdf links'
  | 'result links'
  | 'file links'
  | 'held uploads'
  | 'submission keys';

/** PostgreSQL writes a UUID in lowercase; a path may contain it in uppercase. */
const partsOf = ({ workspaceId, formId, id }: LinkTarget, more: readonly string[]): string[] => [
  ...[workspaceId, formId, id].map((each) => each.toLowerCase()),
  ...more,
];

/**
 * Signs a personal link: its purpose, workspace, form and id together, as 32 bytes in base64url. Two
 * workspaces can have rows with the same id, so a signature of the id alone would open both (docs/rules.md
 * T3).
 * @param more further values to sign, such as an expiry time.
 */
export const signLink = (vault: Vault, purpose: LinkPurpose, target: LinkTarget, ...more: string[]): string =>
  vault.sign(purpose, partsOf(target, more));

/** Checks a signature of signLink in constant time. */
export const verifyLink = (
  vault: Vault,
  purpose: LinkPurpose,
  signature: string,
  target: LinkTarget,
  ...more: string[]
): boolean => vault.verify(purpose, partsOf(target, more), signature);

/** Returns the SHA-256 hash under which a link is stored and found. The token itself is not stored. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
