const longest = 40;

/**
 * A name as a mail to a stranger says it: short, and with nothing in it that a mail program makes a link or a number to
 * call of. Names are free text of whoever invites, and such a mail is sent in ours.
 */
export function plainName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/\d{5,}/g, ' ')
    .replace(/[^\p{L}\p{M}\p{Nd}'’&()-]+/gu, ' ')
    .trim();
  return Array.from(plain).slice(0, longest).join('').trim() || '…';
}
