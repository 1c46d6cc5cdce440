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
import { makeDirectories } from './make-directories.ts';
import { syncDirectory } from './sync-directory.ts';

/** What the instance's key is used for. Each purpose has a derived key of its own, so none can stand in for another. */
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
  | 'invitations'
  | 'unsubscribe links'
  | 'form passwords'
  | 'mails'
  | 'member invitations'
  | 'sender addresses'
  | 'answers'
  | 'told answers'
  | 'erasures'
  | 'fingerprint';

/**
 * Encrypts, signs and derives with the instance's key: the first of those that it is opened with. What a former one sealed
 * or signed is still opened and believed, until that one is taken away (docs/decisions/0076-instance-key-rotation.md).
 */
export type Vault = {
  /** AES-256-GCM: 4 bytes that say by which key (keyId), 12 of nonce, 16 of tag, then the ciphertext. */
  seal(purpose: Purpose, plain: string): Buffer;
  /** @throws when the bytes were not sealed with one of these keys for this purpose. */
  unseal(purpose: Purpose, sealed: Buffer): string;
  /** HMAC-SHA256 of a list of texts in base64url. The list is signed as JSON, so no two lists have one signature. */
  sign(purpose: Purpose, parts: readonly string[]): string;
  /** The signature by each key, the current key first: for a signature that is looked up. */
  signatures(purpose: Purpose, parts: readonly string[]): string[];
  /** Compares in constant time. */
  verify(purpose: Purpose, parts: readonly string[], signature: string): boolean;
  /** 32 bytes in hexadecimal of each key, the key of now first: for a library that wants a secret of its own. */
  derive(purpose: Purpose): [now: string, ...former: string[]];
  /** What stands in front of all that the key of now seals. */
  readonly keyId: Buffer;
};

const keyIdBytes = 4;
/** An instance's keys as they are written down: 64 hexadecimal digits each, the key of now first. */
export const keysPattern = /^[0-9a-f]{64}(?:,[0-9a-f]{64}){0,3}$/i;

/** @param keys one or several, as `keysPattern` has them. */
export function openVault(keys: string): Vault {
  const [current, ...former] = keys.split(',').map(openKey) as [Key, ...Key[]];
  const all = [current, ...former] as const;
  return {
    keyId: current.id,
    seal: (purpose, plain) => Buffer.concat([current.id, current.seal(purpose, plain)]),
    unseal(purpose, sealed) {
      // What was sealed before keys had ids begins with its nonce, which may look like an id.
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
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (failure) {
      failures.push(failure);
    }
  }
  throw new AggregateError(failures, 'None of the keys of this instance opens it.');
}

type Key = ReturnType<typeof openKey>;

function openKey(hex: string) {
  const master = Buffer.from(hex, 'hex');
  // As the library keeps it: it would make one of the bytes for each signature, which takes five times as long as signing.
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

/** Why this process must not work on a database: its key is not the one that the database is used with, or none at all. */
export class InstanceKeyError extends Error {}

/** The instance's keys (keysPattern): SECRET_KEY, or those in `<dataDir>/secret.key`; undefined when there is neither. */
export async function findInstanceKey(
  dataDir: string,
  secretKey: string | undefined,
): Promise<string | undefined> {
  if (secretKey) return secretKey.toLowerCase();
  const path = join(dataDir, 'secret.key');
  const key = await readKey(path);
  if (key === undefined || keysPattern.test(key)) return key;
  throw new InstanceKeyError(
    `${path} does not hold a key of 64 hexadecimal digits. Restore it from a backup; where it is lost for good, ` +
      'take the file away: `npm run -s formloom -- instance-key replace` goes on without it.',
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
 * Makes the key in `<dataDir>/secret.key` (mode 0600), or reads the one of a process that was faster.
 * @param key one that a backup brings; else a new one.
 */
export async function makeInstanceKey(dataDir: string, key = newKey()): Promise<string> {
  const path = join(dataDir, 'secret.key');
  await makeDirectories(dataDir);
  const draft = await writeDraft(path, key);
  try {
    // A link is made whole or not at all, so two processes that start at once agree on the first one's key.
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  await syncDirectory(dataDir);
  return (await readFile(path, 'utf8')).trim();
}

export const newKey = (): string => randomBytes(32).toString('hex');

/** Writes other keys into `<dataDir>/secret.key`, whole or not at all, and takes away what was left of who was killed at it. */
export async function replaceInstanceKeys(dataDir: string, keys: string): Promise<void> {
  const path = join(dataDir, 'secret.key');
  const { uid, gid } = await stat(path);
  const draft = await writeDraft(path, keys);
  // It stays its owner's when root runs the command: else the service could not read it at its next start.
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

/** Each purpose has a derived key of its own (vault.ts). */
export type LinkPurpose =
  | 'invitations'
  | 'unsubscribe links'
  | 'edit links'
  | 'resume links'
  | 'file links'
  | 'held uploads'
  | 'submission keys';

/** PostgreSQL writes a UUID in lower case; a path may spell it in upper case. */
const partsOf = ({ workspaceId, formId, id }: LinkTarget, more: readonly string[]): string[] => [
  ...[workspaceId, formId, id].map((each) => each.toLowerCase()),
  ...more,
];

/**
 * Signs a personal link: its purpose, workspace, form and id together, 32 bytes in base64url. Two workspaces can have a
 * row of one id, so a signature of the id alone would open both (docs/rules.md T3).
 * @param more what else the link is bound to, its end for example.
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

/** The SHA-256 under which a link is stored and found. The token itself is not stored. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
