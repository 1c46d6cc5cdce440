import { type MailAddress, readMailAddress } from '../outbox/address.ts';

/** How the mail server is reached, and who mails come from. */
export type SmtpConfig = {
  host: string;
  port: number;
  /**
   * `implicit`: TLS from the first byte. `required`: STARTTLS, or nothing is sent. `offered`: STARTTLS where the server
   * offers it. `off`: never. Certificates are checked wherever there is TLS.
   */
  tls: 'implicit' | 'required' | 'offered' | 'off';
  credentials: { user: string; password: string } | undefined;
  from: MailAddress;
};

const expected =
  'SMTP_URL must look like smtp://user:password@mail.example.org:587 or smtps://mail.example.org (special characters of the password percent-encoded), with ?tls=required, offered or off at most.';

/**
 * Reads SMTP_URL and MAIL_FROM. A password does not travel unencrypted to another machine unless `?tls=` says so.
 * Values stay out of the messages, for a password is among them.
 */
export function readSmtp(
  given: { url: string | undefined; from: string | undefined },
  problems: string[],
): SmtpConfig | undefined {
  if (given.url === undefined && given.from === undefined) return undefined;
  if (given.url === undefined || given.from === undefined) {
    problems.push('SMTP_URL and MAIL_FROM must be set together.');
    return undefined;
  }
  const from = readMailAddress(given.from);
  if (!from)
    problems.push('MAIL_FROM must be an address, such as forms@example.org or "Forms <forms@example.org>".');
  const server = readServer(given.url);
  if (!server) problems.push(expected);
  return from && server && { ...server, from };
}

function readServer(text: string): Omit<SmtpConfig, 'from'> | undefined {
  const url = URL.parse(text);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || !url.hostname) return undefined;
  const [user, password] = [decode(url.username), decode(url.password)];
  if (user === undefined || password === undefined || url.hash || !/^\/?$/.test(url.pathname))
    return undefined;
  const credentials = user === '' ? undefined : { user, password };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = readTls(url, credentials !== undefined && !isThisMachine(host));
  if (!tls) return undefined;
  return { host, port: Number(url.port) || (tls === 'implicit' ? 465 : 587), tls, credentials };
}

function readTls(url: URL, hasSecret: boolean): SmtpConfig['tls'] | undefined {
  const wishes = [...url.searchParams];
  if (url.protocol === 'smtps:') return wishes.length === 0 ? 'implicit' : undefined;
  if (wishes.length === 0) return hasSecret ? 'required' : 'offered';
  const [name, value] = wishes[0]!;
  const known = (['required', 'offered', 'off'] as const).find((mode) => mode === value);
  return name === 'tls' && wishes.length === 1 ? known : undefined;
}

const isThisMachine = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
