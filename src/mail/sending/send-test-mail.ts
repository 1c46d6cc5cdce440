import { newId, now } from '#kit/clock.ts';
import type { MailAddress } from '#kit/outbox/address.ts';
import { type SmtpConfig, sendMessage } from '#kit/smtp.ts';
import { composeMessage, mailNotConfigured } from './send-mail.ts';
import { renderEmail } from './template.ts';

/** The result of a test, and its SMTP dialogue line by line, without credentials. */
type TestResult = { sent: boolean; result: string; dialogue: string[] };

/** Sends one email immediately, without the outbox, to test the mail server. */
export async function sendTestMail(smtp: SmtpConfig | undefined, to: MailAddress): Promise<TestResult> {
  if (!smtp) return { sent: false, result: `${mailNotConfigured} Set SMTP_URL and MAIL_FROM.`, dialogue: [] };
  const dialogue: string[] = [];
  const letter = {
    heading: 'Email works',
    blocks: [{ kind: 'text', text: 'This is a test. It shows that this Formloom server can send email.' }],
    reason: "You're receiving this email because someone requested a test email to this address.",
  } as const;
  const raw = await composeMessage({
    id: newId(),
    from: smtp.from,
    to,
    subject: 'Formloom test email',
    date: now(),
    letter: renderEmail(letter, String),
  });
  const outcome = await sendMessage(
    smtp,
    { recipient: to.address, raw },
    { onLine: (line) => void dialogue.push(line) },
  );
  if (outcome.kind !== 'sent') return { sent: false, result: outcome.reason, dialogue };
  return { sent: true, result: `The mail server accepted the email: ${outcome.response}`, dialogue };
}
