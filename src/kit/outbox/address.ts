import { createHash } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { isEmail } from '#ast/rules/text-formats.ts';

export type MailAddress = { address: string; name?: string };

/** The maximum length of an address in octets (RFC 5321, 4.5.3.1). */
export const longestMailAddress = 254;

/** The maximum lengths of the part before the @, the address and the name. */
const longest = { local: 64, address: longestMailAddress, name: 200 } as const;

/** RFC 5322 atoms with letters and digits of any script (RFC 6531). Quoted local parts are not supported. */
const localPattern = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** Control and format characters, line and paragraph separators, which could break or disguise a header. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * Parses `ada@example.org`, `Ada <ada@example.org>` or `"Lovelace, Ada" <ada@example.org>`. The domain is
 * normalized to lowercase Unicode, so that texts can be compared. The part before the @ keeps its case.
 * @returns undefined if the text is not a single address or contains characters that are unsafe in a header.
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

/** The message for a person who enters an address that `readEnteredAddress` refuses. */
export const wrongAddressMessage = 'Enter a valid email address with a full domain, such as ada@example.org.';

/**
 * Parses an address that a person enters. Its domain must have a dot (`isEmail`). Stored and configured
 * addresses do not need one, because of internal networks.
 */
export function readEnteredAddress(text: string): MailAddress | undefined {
  const read = readMailAddress(text);
  return read && isEmail(read.address) ? read : undefined;
}

/** Whether a normalized text (`normalizeMailAddress`) is an address without a display name. */
export const isBareAddress = (text: string): boolean => readMailAddress(text)?.address === text;

/** Returns the domain of an address in Punycode, as DNS uses it. */
export function asciiDomainOf(address: string): string {
  const { domain } = splitAddress(address);
  return domainToASCII(domain) || domain;
}

/** Returns the address with its domain in Punycode. */
export const toAsciiDomain = (address: string): string =>
  `${splitAddress(address).local}@${asciiDomainOf(address)}`;

/** Returns the form in which account addresses are stored and compared: lowercase, with a Unicode domain. */
export function normalizeMailAddress(text: string): string {
  const { local, domain } = splitAddress(text.trim());
  return domain === '' ? text.trim().toLowerCase() : `${local}@${toUnicode(domain)}`.toLowerCase();
}

/** Returns the SHA-256 by which limits count an address, ignoring case (counted_emails.recipient). */
export const hashMailAddress = (address: string): Buffer =>
  createHash('sha256').update(toAsciiDomain(address).toLowerCase()).digest();

function splitAddress(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf('@');
  return { local: address.slice(0, Math.max(at, 0)).normalize('NFC'), domain: address.slice(at + 1) };
}

/**
 * Returns one spelling for `MÜNCHEN.example` and `xn--mnchen-3ya.example`. Invalid domains stay unchanged.
 */
function toUnicode(domain: string): string {
  const ascii = domainToASCII(domain);
  const unicode = domainToUnicode(ascii);
  return domainToASCII(unicode) === ascii ? unicode || domain : ascii;
}

function readBare(text: string): string | undefined {
  const { local, domain } = splitAddress(text);
  const ascii = domainToASCII(domain);
  const length = Buffer.byteLength(`${local}@${ascii}`);
  const fits = Buffer.byteLength(local) <= longest.local && length <= longest.address;
  return fits && localPattern.test(local) && domainPattern.test(ascii)
    ? `${local}@${toUnicode(ascii)}`
    : undefined;
}

/** Returns a display name without its quotes, or undefined if it is invalid, such as a second address. */
function readName(text: string): string | undefined {
  if (text.length > longest.name) return undefined;
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(text);
  if (quoted) return quoted[1]!.replaceAll(/\\(.)/g, '$1').trim();
  return /[<>,;:@"\\()[\]]/.test(text) ? undefined : text;
}
