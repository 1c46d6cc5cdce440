import { newId, now } from '#kit/clock.ts';
import type { MailAddress } from '#kit/outbox/address.ts';
import { type SmtpConfig, sendMessage } from '#kit/smtp.ts';
import { composeMessage, mailIsOff } from './send-mail.ts';
import { drawLetter } from './template.ts';

/** How a test fared: in words, and line by line as it was spoken, without credentials. */
type TestResult = { sent: boolean; result: string; dialogue: string[] };

/** Sends one mail at once, past the outbox, to see whether the mail server takes it. */
export async function sendTestMail(smtp: SmtpConfig | undefined, to: MailAddress): Promise<TestResult> {
  if (!smtp) return { sent: false, result: mailIsOff, dialogue: [] };
  const dialogue: string[] = [];
  const letter = {
    heading: 'Mail works',
    blocks: [{ kind: 'text', text: 'This is a test. The mail server of this Formloom took it.' }],
    reason: 'You get this mail because somebody asked for a test to this address.',
  } as const;
  const raw = await composeMessage({
    id: newId(),
    from: smtp.from,
    to,
    subject: 'A test from Formloom',
    date: now(),
    letter: drawLetter(letter, String),
  });
  const outcome = await sendMessage(
    smtp,
    { recipient: to.address, raw },
    { hear: (line) => void dialogue.push(line) },
  );
  if (outcome.kind !== 'sent') return { sent: false, result: outcome.reason, dialogue };
  return { sent: true, result: `The mail server took the mail: ${outcome.response}`, dialogue };
}
