import { readMailAddress } from '#kit/outbox/address.ts';
import { command, flag, PartlyDone, required } from './command.ts';
import { readTextFile, text, UsageError, type Value } from './values.ts';

const address: Value<{ address: string; name?: string }> = {
  shows: '<address>',
  mustBe: 'an email address such as ada@example.org',
  read: readMailAddress,
};

export const mailCommands = [
  command({
    name: 'announce',
    summary:
      'Mails the owners of API keys, once each, however often it is run; --dry-run lists those who would get it.',
    options: { subject: required(text('<text>')), 'text-file': required(text('<file>')), 'dry-run': flag },
    note: 'The mails leave while a server runs.',
    async run({ config, database, vault }, { subject, 'text-file': path, 'dry-run': isDry }) {
      const announcement = { subject: readLine(subject), text: readText(path) };
      const { announce, findAudience } = await import('#mail/announcements/announce.ts');
      if (isDry) {
        const audience = await findAudience(database, announcement);
        const data = audience.map(({ email, name, workspace_id }) => ({ email, name, workspace_id }));
        return { dry_run: true, recipients: data.length, data };
      }
      if (!config.smtp) throw new UsageError('Set SMTP_URL and MAIL_FROM first: no mail can be sent.');
      const data = await announce({ database, vault, publicUrl: config.publicUrl }, announcement);
      return { dry_run: false, recipients: data.length, data };
    },
  }),
  command({
    name: 'mail send-test',
    summary: 'Sends one mail at once and shows what the mail server said.',
    options: { to: required(address) },
    async run({ config }, { to }) {
      const { sendTestMail } = await import('#mail/sending/send-test-mail.ts');
      const tried = await sendTestMail(config.smtp, to);
      if (!tried.sent) throw new PartlyDone(tried.result, tried);
      return tried;
    },
  }),
];

function readLine(subject: string): string {
  const line = subject.trim();
  if (line === '' || /\p{Cc}/u.test(line)) throw new UsageError('--subject must be one line of text.');
  return line;
}

function readText(path: string): string {
  const read = readTextFile(path).trim();
  if (read === '') throw new UsageError(`${path} is empty.`);
  return read;
}
