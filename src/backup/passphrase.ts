import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Identity, Recipient } from 'age-encryption';

/*
 * How age seals a file by a passphrase (its specification, "The scrypt recipient type"), with the scrypt of Node, which works beside
 * the event loop. That of age's package is JavaScript: for 1.2 s a service that sealed its backup answered nobody.
 */

/** age's own default: half a second for each passphrase that somebody tries. */
const usualWork = 18;
/** As much as age takes of a file: a gigabyte of memory, which whoever wrote the file asks for. */
const mostWork = 20;

const type = 'scrypt';
const label = 'age-encryption.org/v1/scrypt';
const cipher = 'chacha20-poly1305';
const options = { authTagLength: 16 };
/** A key seals one file, so nothing has to tell its messages apart. */
const nonce = Buffer.alloc(12);
const asText = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

const derive = promisify<string, Buffer, number, { N: number; r: number; maxmem: number }, Buffer>(scrypt);

function keyOf(passphrase: string, salt: Buffer, work: number): Promise<Buffer> {
  const [N, r] = [2 ** work, 8];
  return derive(passphrase, Buffer.concat([Buffer.from(label), salt]), 32, { N, r, maxmem: 129 * N * r });
}

/** Seals a file by a passphrase. @param work the binary logarithm of scrypt's N. */
export const sealedWith = (passphrase: string, work = usualWork): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(16);
    const sealer = createCipheriv(cipher, await keyOf(passphrase, salt, work), nonce, options);
    const body = Buffer.concat([sealer.update(fileKey), sealer.final(), sealer.getAuthTag()]);
    return [{ args: [type, asText(salt), String(work)], body }];
  },
});

/** Opens a file that was sealed by a passphrase. What no passphrase sealed, and what another one did, it does not open. */
export const openedWith = (passphrase: string): Identity => ({
  async unwrapFileKey([stanza, ...more]) {
    const [kind, salt = '', asked = ''] = stanza?.args ?? [];
    const work = /^[1-9]\d?$/.test(asked) ? Number(asked) : Infinity;
    if (!stanza || kind !== type || more.length > 0 || work > mostWork) return null;
    const key = await keyOf(passphrase, Buffer.from(salt, 'base64'), work);
    const opener = createDecipheriv(cipher, key, nonce, options);
    const body = Buffer.from(stanza.body);
    opener.setAuthTag(body.subarray(-options.authTagLength));
    try {
      return Buffer.concat([opener.update(body.subarray(0, -options.authTagLength)), opener.final()]);
    } catch {
      return null;
    }
  },
});
