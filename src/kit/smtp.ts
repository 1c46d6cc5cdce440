import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type MailAddress, readMailAddress, toAsciiDomain } from './outbox/address.ts';

/** The mail server and the sender of emails. */
export type SmtpConfig = {
  host: string;
  port: number;
  /**
   * `implicit`: TLS from the first byte. `required`: STARTTLS, or no email is sent. `offered`: STARTTLS if
   * the server offers it. `off`: never. Certificates are always verified with TLS.
   */
  tls: 'implicit' | 'required' | 'offered' | 'off';
  credentials: { user: string; password: string } | undefined;
  from: MailAddress;
};

const expected =
  'SMTP_URL must look like smtp://user:password@mail.example.org:587 or smtps://mail.example.org, with special characters in the password percent-encoded. An smtp:// URL may end with ?tls=required, ?tls=offered or ?tls=off.';

/**
 * Reads SMTP_URL and MAIL_FROM. A password is not sent unencrypted to another machine unless `?tls=` allows
 * it. Messages do not contain the values, because one is a password.
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
    problems.push(
      'MAIL_FROM must be an email address, such as forms@example.org or "Forms <forms@example.org>".',
    );
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

/** Why an email was not accepted. `deferred`: a retry may succeed; `refused`: it never will. */
type SmtpFailure = {
  kind: 'deferred' | 'refused';
  reason: string;
  /** Whether the failure is not about this email: the server would reject any other email too. */
  isOfServer?: boolean;
};

type SmtpError = Error & { code?: unknown; command?: unknown; response?: unknown; responseCode?: unknown };

const longestReason = 500;

/** The SMTP commands whose rejection is about the email itself. */
const aboutMessage: Readonly<Record<string, string>> = {
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipient',
  DATA: 'the message',
};

/** Messages for errors without a reply. */
const causes: Readonly<Record<string, string>> = {
  ECONNECTION: 'The connection to the mail server was lost',
  ETIMEDOUT: 'The mail server did not respond in time',
  ESOCKET: 'The mail server cannot be reached',
  EDNS: 'The host name of the mail server does not exist',
  ETLS: 'An encrypted connection to the mail server could not be established',
  EAUTH: 'The mail server rejected the credentials of SMTP_URL',
  EPROTOCOL: 'The mail server does not follow the SMTP protocol',
};

/**
 * Classifies a failure. A 5xx about the sender, the recipient or the email is final (RFC 5321, 4.2.1). Other
 * failures can be retried: a 4xx, a lost connection, and a 5xx to the greeting or the credentials, which an
 * operator can fix.
 */
function classifyFailure(error: unknown): SmtpFailure {
  const { code, command, response, responseCode, message } = (
    error instanceof Error ? error : new Error(String(error))
  ) as SmtpError;
  const answer = typeof response === 'string' ? tidy(response) : undefined;
  const subject = typeof command === 'string' ? aboutMessage[command] : undefined;
  if (subject !== undefined && typeof responseCode === 'number') {
    if (responseCode >= 500)
      return { kind: 'refused', reason: `The mail server rejected ${subject}: ${answer}` };
    return { kind: 'deferred', reason: `The mail server deferred ${subject}: ${answer}` };
  }
  // Found before sending: an address that the server does not support, or an email above its size limit.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { kind: 'refused', reason: tidy(message) };
  const cause =
    (typeof code === 'string' && causes[code]) || 'The email could not be sent to the mail server';
  return { kind: 'deferred', reason: `${cause}: ${answer ?? tidy(message)}`, isOfServer: true };
}

/** Formats a reply, which may have several lines, as one line of limited length. */
const tidy = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestReason);

/** The result of an SMTP session: the server accepted the email, or the reason why it did not. */
export type SmtpOutcome = { kind: 'sent'; response: string } | SmtpFailure;

/** The bytes of an email, and its recipient. */
type SmtpMessage = { recipient: string; raw: Buffer; replyTo?: string | undefined };

type Options = { signal?: AbortSignal; onLine?: (line: string) => void };

/**
 * The timeout of an SMTP session. A timeout counts as deferred, though the server may have accepted the
 * email.
 */
const deadlineMs = 12_000;
const longestResponse = 500;

/**
 * Sends an email to the mail server over its own connection. Never throws because of the server.
 * @param signal cancels immediately, and throws its reason.
 * @param onLine receives each line of the session, without credentials and without the email.
 */
export const sendMessage = (
  config: SmtpConfig,
  message: SmtpMessage,
  options: Options = {},
): Promise<SmtpOutcome> => converse(config, message, options);

/** Checks the mail server with an SMTP session up to the credentials, without an email. */
export async function checkMailServer(config: SmtpConfig, limitMs: number): Promise<SmtpFailure | undefined> {
  const outcome = await converse(config, undefined, { limitMs });
  return outcome.kind === 'sent' ? undefined : outcome;
}

async function converse(
  config: SmtpConfig,
  message: SmtpMessage | undefined,
  { signal, onLine, limitMs = deadlineMs }: Options & { limitMs?: number },
): Promise<SmtpOutcome> {
  // Loaded on first use, so that an instance without email does not need it.
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  signal?.throwIfAborted();
  const connection = new Connection(optionsOf(config, onLine));
  const { promise: ended, resolve, reject } = Promise.withResolvers<string>();
  const giveUp = (): void => reject(new Error(`No reply within ${limitMs / 1_000} s.`));
  const deadline = setTimeout(giveUp, limitMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  connection.on('error', reject);
  try {
    talk(connection, config, message, { resolve, reject });
    return { kind: 'sent', response: (await ended).slice(0, longestResponse) };
  } catch (error) {
    signal?.throwIfAborted();
    return classifyFailure(error);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', giveUp);
    connection.close();
  }
}

/** Runs an SMTP session step by step with the library's callbacks. */
function talk(
  connection: SMTPConnection,
  { credentials, from }: SmtpConfig,
  message: SmtpMessage | undefined,
  { resolve, reject }: { resolve: (response: string) => void; reject: (error: unknown) => void },
): void {
  const end = (response: string): void => {
    // The server has accepted the email, so the reply to QUIT does not matter.
    connection.quit();
    resolve(response);
  };
  const send = (): void => {
    if (!message) return end('');
    const envelope = { from: toAsciiDomain(from.address), to: [toAsciiDomain(message.recipient)] };
    // The library would send such an address anyway. Servers then reply unpredictably, or deliver it
    // elsewhere. A header with such an address also needs SMTPUTF8 (RFC 6531).
    const replyTo = message.replyTo === undefined ? [] : [toAsciiDomain(message.replyTo)];
    const needed = [envelope.from, ...envelope.to, ...replyTo].find((address) => /\P{ASCII}/u.test(address));
    if (needed !== undefined && !takesUtf8(connection)) return reject(new Utf8AddressError(needed));
    connection.send(envelope, message.raw, (error, info) => (error ? reject(error) : end(info.response)));
  };
  connection.connect((error) => {
    if (error) return reject(error);
    if (!credentials) return send();
    const { user, password: pass } = credentials;
    connection.login({ user, pass, credentials: { user, pass } }, (failure) =>
      failure ? reject(failure) : send(),
    );
  });
}

/** The library does not expose the server's extensions. */
function takesUtf8(connection: SMTPConnection): boolean {
  const { _supportedExtensions } = connection as unknown as { _supportedExtensions: string[] };
  return _supportedExtensions.includes('SMTPUTF8');
}

/** Final, like the library's own address errors: this server will never accept the address. */
class Utf8AddressError extends Error {
  readonly code = 'EENVELOPE';
  constructor(address: string) {
    super(
      `The mail server does not support SMTPUTF8, which ${address} requires because the part before the @ is not ASCII. Use an ASCII address or another mail server.`,
    );
  }
}

function optionsOf(
  { host, port, tls }: SmtpConfig,
  onLine?: (line: string) => void,
): ConstructorParameters<typeof SMTPConnection>[0] {
  const listen = (entry: { tnx?: unknown }, text: unknown, ...more: unknown[]): void => {
    if (entry.tnx === 'client') onLine?.(`> ${formatLine(text, more)}`);
    if (entry.tnx === 'server') onLine?.(`< ${formatLine(text, more)}`);
  };
  const log = {
    level: () => undefined,
    trace: listen,
    debug: listen,
    info: listen,
    warn: listen,
    error: listen,
    fatal: listen,
  };
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    socketTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
    ...(onLine && { logger: log, transactionLog: true }),
  };
}

const formatLine = (text: unknown, more: readonly unknown[]): string =>
  [text, ...more].map(String).join(' ').slice(0, longestResponse);
