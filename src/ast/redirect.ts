import { isOrigin } from './origins.ts';

/** Characters of an address that browsers and servers take everywhere. */
const addressLimit = 2_000;

const ownMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/**
 * Whether visitors may be sent to an address after they submitted: https, or http on one's own machine to try it out,
 * without a name and password in it. Its origin is written into a header, so it has to be a plain one:
 * docs/rules.md T30.
 */
export function isRedirect(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > addressLimit || !URL.canParse(text)) return false;
  const { protocol, hostname, origin, username, password } = new URL(text);
  const isSecure = protocol === 'https:' || (protocol === 'http:' && ownMachine.has(hostname));
  return isSecure && username === '' && password === '' && isOrigin(origin) && !origin.includes('*');
}
