import { type MailAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import type { DrawnLetter } from '../template.ts';

type MessageParts = {
  /** The mail's id: the Message-ID is made of it, so whoever gets it twice has the same message twice. */
  id: string;
  from: MailAddress;
  to: MailAddress;
  subject: string;
  /** When the mail was written; the same in each attempt. */
  date: Date;
  letter: DrawnLetter;
  replyTo?: string | undefined;
  unsubscribeUrl?: string | undefined;
};

/**
 * The message as it goes over the wire (RFC 5322, MIME): text and HTML alternatives. Names and subjects are encoded by
 * the library, and nothing in them can begin a header (send-mail.test.ts holds it). It may not read files or addresses.
 */
export async function composeMessage(parts: MessageParts): Promise<Buffer> {
  const { id, from, to, subject, date, letter, replyTo, unsubscribeUrl } = parts;
  // Loaded when there is something to send: an instance without mail does without it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    messageId: messageIdOf(id, from),
    from: named(from),
    to: named(to),
    subject,
    date,
    text: letter.text,
    html: letter.html,
    headers: {
      // RFC 3834: no holiday notices, please.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': { prepared: true, value: `<${new URL(unsubscribeUrl).href}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

const messageIdOf = (id: string, from: MailAddress): string =>
  `<${id}@${toAsciiDomain(from.address).replace(/^.*@/s, '')}>`;

/** As an object, so that the library reads no commas and brackets out of a name. */
const named = ({ address, name = '' }: MailAddress): { name: string; address: string } => ({ name, address });
