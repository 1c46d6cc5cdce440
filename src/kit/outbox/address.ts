import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';

/** Where a mail goes: an address, and the name that is shown with it. */
export type MailAddress = { address: string; name?: string };

/** RFC 5321, 4.5.3.1: octets of the whole. */
export const longestAddress = 254;

/** The same of the part before the @, and of the whole. */
const longest = { local: 64, address: longestAddress, name: 200 } as const;

/** RFC 5322 atoms with letters and digits of any script (RFC 6531); quoted local parts are not taken. */
const localPattern = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** Control and format characters, line and paragraph separators: whatever could break or disguise a header. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * Reads `ada@example.org`, `Ada <ada@example.org>` or `"Lovelace, Ada" <ada@example.org>`. A domain of another script
 * is written as DNS has it; the case of the part before the @ stays.
 * @returns undefined for what is no single address, or holds anything that could reach into a header.
 */
export function readMailAddress(text: string): MailAddress | undefined {
  if (text.length > longest.address + longest.name + 10 || unprintable.test(text)) return undefined;
  const named = /^(.*)<([^<>]*)>$/s.exec(text.trim());
  const address = readBare((named ? named[2]! : text).trim());
  if (address === undefined) return undefined;
  if (!named) return { address };
  const name = readName(named[1]!.trim());
  if (name === undefined) return undefined;
  return name === '' ? { address } : { address, name };
}

/** What the limits count an address by, in upper or lower case: its SHA-256 (counted_emails.recipient). */
export const countedAddress = (address: string): Buffer =>
  createHash('sha256').update(address.toLowerCase()).digest();

function readBare(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0)).normalize('NFC');
  const domain = domainToASCII(text.slice(at + 1));
  const address = `${local}@${domain}`;
  const fits = Buffer.byteLength(local) <= longest.local && Buffer.byteLength(address) <= longest.address;
  return fits && localPattern.test(local) && domainPattern.test(domain) ? address : undefined;
}

/** A display name without its quotes; undefined when it is none, as a second address would be. */
function readName(text: string): string | undefined {
  if (text.length > longest.name) return undefined;
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(text);
  if (quoted) return quoted[1]!.replaceAll(/\\(.)/g, '$1').trim();
  return /[<>,;:@"\\()[\]]/.test(text) ? undefined : text;
}
