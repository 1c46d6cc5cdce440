import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type MailAddress, readMailAddress, toAsciiDomain } from './outbox/address.ts';

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

/** Why a message was not taken. `deferred`: it may be taken later; `refused`: the same message never will be. */
type SmtpFailure = {
  kind: 'deferred' | 'refused';
  reason: string;
  /** It was not about this message: no other one would have been taken. */
  isOfServer?: boolean;
};

type SmtpError = Error & { code?: unknown; command?: unknown; response?: unknown; responseCode?: unknown };

const longestReason = 500;

/** What was being said when the server answered no. Only these are about the message itself. */
const aboutMessage: Readonly<Record<string, string>> = {
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipient',
  DATA: 'the message',
};

/** Errors before any answer, in words. */
const causes: Readonly<Record<string, string>> = {
  ECONNECTION: 'The connection to the mail server was lost',
  ETIMEDOUT: 'The mail server did not answer in time',
  ESOCKET: 'The mail server cannot be reached',
  EDNS: "The mail server's name cannot be found",
  ETLS: 'No encrypted connection to the mail server could be made',
  EAUTH: 'The mail server does not accept the credentials of SMTP_URL',
  EPROTOCOL: 'The mail server does not speak SMTP as it should',
};

/**
 * A 5xx about the sender, the recipient or the message is final (RFC 5321, 4.2.1). All else may pass: a 4xx, a lost
 * connection, and also a 5xx to the greeting or to the credentials, which an operator can put right.
 */
function judgeFailure(error: unknown): SmtpFailure {
  const { code, command, response, responseCode, message } = (
    error instanceof Error ? error : new Error(String(error))
  ) as SmtpError;
  const answer = typeof response === 'string' ? tidy(response) : undefined;
  const subject = typeof command === 'string' ? aboutMessage[command] : undefined;
  if (subject !== undefined && typeof responseCode === 'number') {
    if (responseCode >= 500)
      return { kind: 'refused', reason: `The mail server refused ${subject}: ${answer}` };
    return { kind: 'deferred', reason: `The mail server put off ${subject}: ${answer}` };
  }
  // Found before it was sent: an address that this server cannot take, a message above its size.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { kind: 'refused', reason: tidy(message) };
  const cause =
    (typeof code === 'string' && causes[code]) || 'The mail could not be handed to the mail server';
  return { kind: 'deferred', reason: `${cause}: ${answer ?? tidy(message)}`, isOfServer: true };
}

/** One line of bounded length: servers answer in several. */
const tidy = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestReason);

/** How a dialogue ended: the server took the message, or the reason in words why it did not. */
export type SmtpOutcome = { kind: 'sent'; response: string } | SmtpFailure;

/** A message as it goes over the wire, and for whom. */
type SmtpMessage = { recipient: string; raw: Buffer; replyTo?: string | undefined };

type Options = { signal?: AbortSignal; hear?: (line: string) => void };

/** A dialogue that takes longer is given up; it counts as put off, though the server may have taken the message. */
const deadlineMs = 12_000;
const longestResponse = 500;

/**
 * Hands one message to the mail server, over a connection of its own. Never throws for what the server does.
 * @param signal gives up at once, and throws its reason.
 * @param hear is told each line of the dialogue, without credentials and without the message.
 */
export const sendMessage = (
  config: SmtpConfig,
  message: SmtpMessage,
  options: Options = {},
): Promise<SmtpOutcome> => converse(config, message, options);

/** Whether the mail server would talk to us: a dialogue up to the credentials, without a message. */
export async function greetMailServer(config: SmtpConfig, limitMs: number): Promise<SmtpFailure | undefined> {
  const outcome = await converse(config, undefined, { limitMs });
  return outcome.kind === 'sent' ? undefined : outcome;
}

async function converse(
  config: SmtpConfig,
  message: SmtpMessage | undefined,
  { signal, hear, limitMs = deadlineMs }: Options & { limitMs?: number },
): Promise<SmtpOutcome> {
  // Loaded on first use, so that an instance without email does not need it.
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  signal?.throwIfAborted();
  const connection = new Connection(optionsOf(config, hear));
  const { promise: ended, resolve, reject } = Promise.withResolvers<string>();
  const giveUp = (): void => reject(new Error(`It did not answer within ${limitMs / 1_000} s.`));
  const deadline = setTimeout(giveUp, limitMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  connection.on('error', reject);
  try {
    talk(connection, config, message, { resolve, reject });
    return { kind: 'sent', response: (await ended).slice(0, longestResponse) };
  } catch (error) {
    signal?.throwIfAborted();
    return judgeFailure(error);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', giveUp);
    connection.close();
  }
}

/** The dialogue, step by step; the library calls back. */
function talk(
  connection: SMTPConnection,
  { credentials, from }: SmtpConfig,
  message: SmtpMessage | undefined,
  { resolve, reject }: { resolve: (response: string) => void; reject: (error: unknown) => void },
): void {
  const end = (response: string): void => {
    // The message is the server's now; the answer to QUIT is of no interest.
    connection.quit();
    resolve(response);
  };
  const send = (): void => {
    if (!message) return end('');
    const envelope = { from: toAsciiDomain(from.address), to: [toAsciiDomain(message.recipient)] };
    // The library would send the bytes all the same, and servers answer this with anything, or deliver it elsewhere. A header
    // with such an address needs SMTPUTF8 as much as the envelope does (RFC 6531).
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

/** The library keeps to itself what the server offers. */
function takesUtf8(connection: SMTPConnection): boolean {
  const { _supportedExtensions } = connection as unknown as { _supportedExtensions: string[] };
  return _supportedExtensions.includes('SMTPUTF8');
}

/** Final, as the library's own errors about an address: the same server never takes it. */
class Utf8AddressError extends Error {
  readonly code = 'EENVELOPE';
  constructor(address: string) {
    super(
      `The mail server does not offer SMTPUTF8, which ${address} needs: the part before the @ is not ASCII. Use an ASCII address, or another mail server.`,
    );
  }
}

function optionsOf(
  { host, port, tls }: SmtpConfig,
  hear?: (line: string) => void,
): ConstructorParameters<typeof SMTPConnection>[0] {
  const listen = (entry: { tnx?: unknown }, text: unknown, ...more: unknown[]): void => {
    if (entry.tnx === 'client') hear?.(`> ${formatLine(text, more)}`);
    if (entry.tnx === 'server') hear?.(`< ${formatLine(text, more)}`);
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
    ...(hear && { logger: log, transactionLog: true }),
  };
}

const formatLine = (text: unknown, more: readonly unknown[]): string =>
  [text, ...more].map(String).join(' ').slice(0, longestResponse);
